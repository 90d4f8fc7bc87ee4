#pragma once

#include "surefoot/core/types.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <string_view>

namespace surefoot::problems {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
/// Vectors of a family: one row per instance.
using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Row of a table that has one row per instance, or a single row shared by all instances.
inline const double* table_row(const Table& table, Index instance) {
  return table.data() + (table.rows() == 1 ? 0 : instance) * table.cols();
}

// Checks of problem data. Each throws InputError naming the argument, the place and the value.

/// Finite entries only.
void require_finite(const SparseMatrix& matrix, std::string_view name);
/// Finite entries only; with `bounds`, +-infinity is allowed and NaN is not.
void require_finite(const Table& table, std::string_view name, bool bounds = false);
/// `rows` x `columns`.
void require_shape(const SparseMatrix& matrix, Index rows, Index columns, std::string_view name);
/// `columns` entries per row, and `instances` rows or one row shared by all.
void require_shape(const Table& table, Index instances, Index columns, std::string_view name);
/// Square, symmetric up to rounding (1e-12 of the largest entry).
void require_symmetric(const SparseMatrix& matrix, std::string_view name);
/// Symmetric positive semidefinite: the pivots of LDL' of the matrix, shifted by n * 1e-12 of its largest
/// entry, are positive.
void require_positive_semidefinite(const SparseMatrix& matrix, std::string_view name);

/// Largest eigenvalue of a symmetric positive semidefinite matrix (dense eigenvalues).
double largest_eigenvalue(const Matrix& symmetric);

}  // namespace surefoot::problems
