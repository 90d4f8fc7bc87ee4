#include "surefoot/algorithms/detail/equilibration.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

using problems::SparseMatrix;
using problems::Vector;

namespace {

double limited(double norm) {
  return norm < 1e-4 ? 1.0 : std::min(norm, 1e4);
}

}  // namespace

Equilibration equilibrate(const SparseMatrix& P, const SparseMatrix& A, const double* q, Index passes) {
  const Index n = P.rows();
  const Index m = A.rows();
  Equilibration scaling{Vector::Ones(n), Vector::Ones(m), 1.0};
  Vector& D = scaling.D;
  Vector& E = scaling.E;
  const auto column_norms_of_P = [&](double factor) {
    Vector norms = Vector::Zero(n);
    for (Index column = 0; column < n; ++column) {
      for (SparseMatrix::InnerIterator entry(P, column); entry && entry.row() <= column; ++entry) {
        norms[column] =
            std::max(norms[column], std::abs(factor * entry.value() * D[entry.row()] * D[column]));
      }
    }
    return norms;
  };
  for (Index pass = 0; pass < passes; ++pass) {
    Vector columns = column_norms_of_P(scaling.cost);
    Vector rows = Vector::Zero(m);
    for (Index column = 0; column < n; ++column) {
      for (SparseMatrix::InnerIterator entry(A, column); entry; ++entry) {
        const double size = std::abs(entry.value() * E[entry.row()] * D[column]);
        columns[column] = std::max(columns[column], size);
        rows[entry.row()] = std::max(rows[entry.row()], size);
      }
    }
    for (Index i = 0; i < n; ++i) D[i] /= std::sqrt(limited(columns[i]));
    for (Index i = 0; i < m; ++i) E[i] /= std::sqrt(limited(rows[i]));
    const double mean = column_norms_of_P(scaling.cost).sum() / static_cast<double>(n);
    double largest = 0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(scaling.cost * D[i] * q[i]));
    scaling.cost /= limited(std::max(mean, limited(largest)));
  }
  return scaling;
}

}  // namespace surefoot::algorithms
