#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace surefoot::io {

/// A text file that several processes add lines to and nobody changes otherwise. While an object lives, its
/// process alone has the file (an advisory lock, flock(2)): what was read is still all there is when lines
/// are added. A file that is not there is made; a symbolic link is followed. InputError names the path and
/// the system's reason.
class SharedLines {
 public:
  explicit SharedLines(const std::filesystem::path& path);
  ~SharedLines();
  SharedLines(const SharedLines&) = delete;
  SharedLines& operator=(const SharedLines&) = delete;

  /// All complete lines. What follows the last end of line was left by an append that was cut off: it is no
  /// line, and the next append takes its place.
  [[nodiscard]] const std::string& lines() const { return lines_; }

  /// Adds lines, each with its end, and returns when they are on the disk. All or nothing: if the disk is
  /// full the file is as before.
  void append(std::string_view more);

 private:
  std::string name_;
  int descriptor_ = -1;
  std::string lines_;
};

/// The complete lines of a file that SharedLines adds to, read without a lock; "" if there is no file.
std::string read_shared_lines(const std::filesystem::path& path);

}  // namespace surefoot::io
