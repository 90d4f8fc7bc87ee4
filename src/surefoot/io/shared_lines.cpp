#include "surefoot/io/shared_lines.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace surefoot::io {

namespace {

constexpr std::size_t largest_shared_file = std::size_t{256} << 20;

// Calls again what a signal has ended.
template <class Call>
auto unbroken(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::string complete_lines(std::string content) {
  const std::size_t end = content.rfind('\n');
  content.resize(end == std::string::npos ? 0 : end + 1);
  return content;
}

}  // namespace

SharedLines::SharedLines(const std::filesystem::path& path) : name_(printable(path.string())) {
  constexpr mode_t new_file_mode = 0666;  // less the umask
  descriptor_ = unbroken(
      [&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, new_file_mode); });
  require(descriptor_ >= 0, "{}: cannot be opened to add to it: {}", name_, reason(errno));
  try {
    struct stat status {};
    require(::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode), "{}: is not a regular file",
            name_);
    require(unbroken([&] { return ::flock(descriptor_, LOCK_EX); }) == 0, "{}: cannot be locked: {}", name_,
            reason(errno));
    require(::fstat(descriptor_, &status) == 0 && status.st_nlink > 0, "{}: was removed meanwhile", name_);
    lines_ = read_shared_lines(path);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SharedLines::~SharedLines() {
  ::close(descriptor_);  // and with it the lock is gone
}

void SharedLines::append(std::string_view more) {
  require(more.ends_with('\n'), "{}: lines to add have no end", name_);
  const auto end = static_cast<off_t>(lines_.size());
  int failure = ::ftruncate(descriptor_, end) == 0 ? 0 : errno;
  off_t written = 0;
  while (failure == 0 && written < static_cast<off_t>(more.size())) {
    const std::string_view rest = more.substr(static_cast<std::size_t>(written));
    const ssize_t step =
        unbroken([&] { return ::pwrite(descriptor_, rest.data(), rest.size(), end + written); });
    if (step < 0) failure = errno;
    if (step > 0) written += step;
  }
  if (failure == 0 && ::fsync(descriptor_) != 0) failure = errno;
  if (failure != 0 && ::ftruncate(descriptor_, end) != 0)
    throw InputError(
        fmt::format("{}: cannot be written ({}), and its last line is damaged", name_, reason(failure)));
  require(failure == 0, "{}: cannot be written: {}", name_, reason(failure));
  lines_ += more;
}

std::string read_shared_lines(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return "";
  return complete_lines(read_file(path, largest_shared_file));
}

}  // namespace surefoot::io
