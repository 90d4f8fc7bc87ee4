#pragma once

#include "surefoot/core/types.hpp"

#include <Eigen/SparseCore>

#include <string>

namespace surefoot::io {

class ByteSource;

struct MatrixMarketLimits {
  Index dimension = 50'000'000;  ///< most rows, and most columns
  Index entries = 500'000'000;   ///< most entries in the file
};

/// Reads a Matrix Market file (R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats",
/// NISTIR 5935, 1996), plain or gzip: coordinate or array; real, integer or pattern (ones); general or
/// symmetric (lower triangle, mirrored). Entries given twice are summed. Throws InputError naming the file,
/// the line and the offending text.
Eigen::SparseMatrix<double> read_matrix_market(const std::string& path,
                                               const MatrixMarketLimits& limits = {});
Eigen::SparseMatrix<double> read_matrix_market(ByteSource& source, const MatrixMarketLimits& limits = {});

}  // namespace surefoot::io
