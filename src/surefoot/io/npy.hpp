#pragma once

#include "surefoot/core/types.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace surefoot::io {

class ByteSource;

/// The head of a NumPy .npy file (format versions 1 to 3; numpy.lib.format). Elements are real numbers of 16,
/// 32 or 64 bits, or integers of 8 to 64 bits, of either byte order; other types are refused.
struct NpyHeader {
  std::string descr;  ///< NumPy's name of the element type, such as <f8
  bool fortran_order = false;
  std::vector<Index> shape;

  Index elements = 0;       ///< product of the shape
  Index element_bytes = 0;  ///< of one element; elements * 8 and elements * element_bytes fit an Index
  /// Converts `count` elements at `raw` into out[0], out[stride], ...
  void (*convert)(const char* raw, Index count, double* out, Index stride) = nullptr;

  [[nodiscard]] Index data_bytes() const { return elements * element_bytes; }
};

/// Reads the head and checks it against the bytes that follow, where their number is known. Throws InputError
/// for a wrong magic string, a damaged head, a type other than the above, or data of another length.
NpyHeader read_npy_header(ByteSource& source);

/// Throws InputError unless exactly the claimed data came: `bytes` of them, and then the end.
void check_npy_end(ByteSource& source, const NpyHeader& header, Index bytes);

/// An array of any rank in C order: element (i, j, k) is values[(i * shape[1] + j) * shape[2] + k].
struct NpyArray {
  std::vector<Index> shape;
  std::vector<double> values;
};

/// The default limit on what a reader loads whole: half of the machine's memory.
std::size_t default_memory_bytes();

/// Reads a whole array; refuses one that needs more than `memory_bytes` (0: the default limit).
NpyArray read_npy(ByteSource& source, std::size_t memory_bytes = 0);
NpyArray read_npy(const std::string& path, std::size_t memory_bytes = 0);

/// Reads a matrix; one dimension gives one column.
Eigen::MatrixXd read_npy_matrix(const std::string& path, std::size_t memory_bytes = 0);

/// The bytes of a .npy file (version 1, <f8, C order) holding the matrix.
std::string npy_bytes(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

/// Writes it, atomically.
void write_npy(const std::filesystem::path& path, const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace surefoot::io
