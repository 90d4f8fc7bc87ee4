#include "surefoot/io/live_lines.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace surefoot::io {
namespace {

constexpr int live_wait_milliseconds = 100;
constexpr std::size_t live_buffer_bytes = std::size_t{64} << 10U;

/// What is kept of a line, and one byte that says that there is more.
void append_cut(std::string& line, const char* from, std::size_t bytes) {
  line.append(from, std::min(bytes, LiveLines::longest + 1 - std::min(line.size(), LiveLines::longest + 1)));
}

}  // namespace

LiveLines::LiveLines(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)), buffer_(live_buffer_bytes) {}

bool LiveLines::take(std::string_view& line) {
  const char* from = buffer_.data() + begin_;
  const std::size_t left = size_ - begin_;
  const auto* end = left > 0 ? static_cast<const char*>(std::memchr(from, '\n', left)) : nullptr;
  const std::size_t bytes = end != nullptr ? static_cast<std::size_t>(end - from) : left;
  append_cut(pending_, from, bytes);
  begin_ += bytes + (end != nullptr ? 1 : 0);
  if (end == nullptr && !(ended_ && !pending_.empty())) return false;
  given_.swap(pending_);
  pending_.clear();
  if (given_.size() > longest) given_.replace(longest, std::string::npos, "...");
  line = given_;
  return true;
}

bool LiveLines::fetch() {
  pollfd input{descriptor_, POLLIN, 0};
  const int ready = ::poll(&input, 1, live_wait_milliseconds);
  require(ready >= 0 || errno == EINTR, "{}: cannot read: {}", name_, reason(errno));
  if (ready <= 0) return false;
  const ssize_t got = ::read(descriptor_, buffer_.data(), buffer_.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  require(got >= 0, "{}: cannot read: {}", name_, reason(errno));
  begin_ = 0;
  size_ = static_cast<std::size_t>(got);
  ended_ = got == 0;
  return true;
}

LiveLines::Next LiveLines::next(std::string_view& line) {
  while (true) {
    if (take(line)) return Next::line;
    if (ended_) return Next::end;
    if (!fetch()) return Next::nothing_yet;
  }
}

}  // namespace surefoot::io
