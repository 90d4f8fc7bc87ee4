#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::io {

class ByteSource;

/// Gives the lines of a text one by one, without their LF or CRLF, for formats that are read line by line.
class LineReader {
 public:
  explicit LineReader(ByteSource& source, std::size_t max_line_bytes = std::size_t{1} << 20U);

  /// The next line, valid until the next call; false at the end. A longer line than allowed throws
  /// InputError.
  bool next(std::string_view& line);

  /// 1-based number of the line last given.
  [[nodiscard]] Index number() const { return number_; }

 private:
  bool refill();

  ByteSource& source_;
  std::size_t max_line_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
  bool ended_ = false;
  Index number_ = 0;
};

}  // namespace surefoot::io
