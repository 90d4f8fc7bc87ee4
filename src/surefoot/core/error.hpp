#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <utility>

namespace surefoot {

/// Misuse by the caller or bad input: the message names the argument or file, the value and the constraint.
/// The program prints it as one line and exits with code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Memory or disk that is not there; the program exits with code 4.
class ResourceError : public InputError {
 public:
  using InputError::InputError;
};

/// Whether the system's error number says that a disk is full or broken, rather than that a name is wrong.
inline bool is_lack_of_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == ENOMEM ||
         error == EMFILE || error == ENFILE;
}

/// Throws InputError with a formatted message unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw InputError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace surefoot
