#include "surefoot/io/line_reader.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/byte_source.hpp"

#include <algorithm>

namespace surefoot::io {

namespace {
constexpr std::size_t first_bytes = std::size_t{64} << 10U;
}

LineReader::LineReader(ByteSource& source, std::size_t max_line_bytes)
    : source_(source), max_line_bytes_(max_line_bytes), buffer_(std::min(max_line_bytes, first_bytes) + 2) {}

bool LineReader::refill() {
  if (ended_) return false;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(size_), buffer_.begin());
  size_ -= begin_;
  begin_ = 0;
  if (size_ == buffer_.size()) buffer_.resize(2 * size_);
  const std::size_t wanted = buffer_.size() - size_;
  const std::size_t got = source_.read(buffer_.data() + size_, wanted);
  size_ += got;
  ended_ = got < wanted;
  return true;
}

bool LineReader::next(std::string_view& line) {
  std::size_t length = 0;
  do {
    line = std::string_view(buffer_.data() + begin_, size_ - begin_);
    length = line.find('\n');
  } while (length == std::string_view::npos && line.size() <= max_line_bytes_ + 1 && refill());
  if (line.empty()) return false;
  ++number_;
  line = line.substr(0, length);
  begin_ += std::min(line.size() + 1, size_ - begin_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  require(line.size() <= max_line_bytes_, "{}:{}: the line is longer than {} bytes", source_.name(), number_,
          max_line_bytes_);
  return true;
}

}  // namespace surefoot::io
