#include "surefoot/problems/matrix.hpp"

#include "surefoot/core/error.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>

namespace surefoot::problems {

void require_finite(const SparseMatrix& matrix, std::string_view name) {
  for (Index column = 0; column < matrix.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry) {
      require(std::isfinite(entry.value()), "{}: entry ({}, {}) is {}, must be finite", name, entry.row(),
              entry.col(), entry.value());
    }
  }
}

void require_finite(const Table& table, std::string_view name, bool bounds) {
  for (Index row = 0; row < table.rows(); ++row) {
    for (Index column = 0; column < table.cols(); ++column) {
      const double value = table(row, column);
      require(bounds ? !std::isnan(value) : std::isfinite(value), "{}: entry {} of instance {} is {}, {}",
              name, column, row, value, bounds ? "must not be NaN" : "must be finite");
    }
  }
}

void require_shape(const SparseMatrix& matrix, Index rows, Index columns, std::string_view name) {
  require(matrix.rows() == rows && matrix.cols() == columns, "{}: is {} x {}, must be {} x {}", name,
          matrix.rows(), matrix.cols(), rows, columns);
}

void require_shape(const Table& table, Index instances, Index columns, std::string_view name) {
  require(table.cols() == columns, "{}: has {} entries per instance, must have {}", name, table.cols(),
          columns);
  require(table.rows() == instances || table.rows() == 1, "{}: has {} rows, must have {} (instances) or 1",
          name, table.rows(), instances);
}

void require_symmetric(const SparseMatrix& matrix, std::string_view name) {
  require(matrix.rows() == matrix.cols(), "{}: is {} x {}, must be square", name, matrix.rows(),
          matrix.cols());
  const SparseMatrix transposed = matrix.transpose();
  const SparseMatrix difference = matrix - transposed;
  double largest = 0;
  for (Index k = 0; k < matrix.nonZeros(); ++k) {
    largest = std::max(largest, std::abs(matrix.valuePtr()[k]));
  }
  for (Index column = 0; column < difference.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator entry(difference, column); entry; ++entry) {
      require(std::abs(entry.value()) <= 1e-12 * largest,
              "{}: entry ({}, {}) is {} but entry ({}, {}) is {}, must be symmetric", name, entry.row(),
              entry.col(), matrix.coeff(entry.row(), entry.col()), entry.col(), entry.row(),
              matrix.coeff(entry.col(), entry.row()));
    }
  }
}

void require_positive_semidefinite(const SparseMatrix& matrix, std::string_view name) {
  require_symmetric(matrix, name);
  double largest = 0;
  for (Index k = 0; k < matrix.nonZeros(); ++k) {
    largest = std::max(largest, std::abs(matrix.valuePtr()[k]));
  }
  if (largest == 0) return;
  SparseMatrix identity(matrix.rows(), matrix.cols());
  identity.setIdentity();
  const double shift = 1e-12 * largest * static_cast<double>(matrix.rows());
  const SparseMatrix shifted = matrix + shift * identity;
  Eigen::SimplicialLDLT<SparseMatrix> factor;
  factor.compute(shifted);
  const bool factored = factor.info() == Eigen::Success;
  Index place = 0;
  const double smallest = factored ? factor.vectorD().minCoeff(&place) : -infinity;
  const auto& order = factor.permutationPinv().indices();
  require(factored && smallest > 0,
          "{}: is not positive semidefinite (smallest pivot {} of the LDL' factor, in row {})", name,
          smallest, order.size() > 0 ? order[place] : place);
}

double largest_eigenvalue(const Matrix& symmetric) {
  if (symmetric.rows() == 0) return 0;
  return Eigen::SelfAdjointEigenSolver<Matrix>(symmetric, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

}  // namespace surefoot::problems
