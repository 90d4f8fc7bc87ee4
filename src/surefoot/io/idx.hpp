#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace surefoot::io {

class ByteSource;

/// An array of bytes in C order, as MNIST and EMNIST ship images (count x rows x columns) and labels (count).
struct IdxArray {
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> values;
};

/// Reads an IDX file of unsigned bytes, plain or gzip. Throws InputError for another element type, a damaged
/// header, truncated or trailing data, or more than `limit` bytes.
IdxArray read_idx(const std::string& path, std::size_t limit = std::size_t{4} << 30U);
IdxArray read_idx(ByteSource& source, std::size_t limit = std::size_t{4} << 30U);

}  // namespace surefoot::io
