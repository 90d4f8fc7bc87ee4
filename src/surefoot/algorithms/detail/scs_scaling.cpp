#include "surefoot/algorithms/detail/scs_scaling.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

using problems::SparseMatrix;
using problems::Vector;

namespace {

constexpr Index largest_entry_passes = 25;
constexpr double negligible_norm = 1e-4;
constexpr double enormous_norm = 1e4;

double inverse_root(double norm) {
  return 1 / std::sqrt(norm < negligible_norm ? 1.0 : std::min(norm, enormous_norm));
}

/// The running data, and norms of its rows, columns and last row.
struct ScalingPass {
  SparseMatrix P, A;
  Vector b, c;
  Vector rows, columns;
  double last = 0;

  void largest_entries() {
    rows = b.cwiseAbs();
    columns = c.cwiseAbs();
    last = std::max(rows.size() > 0 ? rows.maxCoeff() : 0.0, columns.maxCoeff());
    each_entry([&](double& row, double& column, double value) {
      row = std::max(row, std::abs(value));
      column = std::max(column, std::abs(value));
    });
  }
  void mean_squares() {
    const auto mean = [](const Vector& v) {
      return v.size() > 0 ? v.norm() / std::sqrt(static_cast<double>(v.size())) : 0.0;
    };
    last = std::max(mean(b), mean(c));
    rows = b.cwiseAbs2();
    columns = c.cwiseAbs2();
    Vector in_rows = Vector::Ones(b.size());
    Vector in_columns = Vector::Ones(c.size());
    each_entry([&](double& row, double& column, double value) {
      row += value * value;
      column += value * value;
    });
    for (Index j = 0; j < A.outerSize(); ++j) {
      for (SparseMatrix::InnerIterator entry(A, j); entry; ++entry) {
        in_rows[entry.row()] += 1;
        in_columns[j] += 1;
      }
      for (SparseMatrix::InnerIterator entry(P, j); entry; ++entry) in_columns[j] += 1;
    }
    rows = rows.cwiseQuotient(in_rows).cwiseSqrt();
    columns = columns.cwiseQuotient(in_columns).cwiseSqrt();
  }
  template <class Call>
  void each_entry(const Call& call) {
    double none = 0;
    for (Index j = 0; j < A.outerSize(); ++j) {
      for (SparseMatrix::InnerIterator entry(A, j); entry; ++entry)
        call(rows[entry.row()], columns[j], entry.value());
      for (SparseMatrix::InnerIterator entry(P, j); entry; ++entry) call(none, columns[j], entry.value());
    }
  }
  void scale(ScsScaling& total) {
    rows = rows.unaryExpr([](double norm) { return inverse_root(norm); });
    columns = columns.unaryExpr([](double norm) { return inverse_root(norm); });
    const double by_last = inverse_root(last);
    for (Index j = 0; j < A.outerSize(); ++j) {
      for (SparseMatrix::InnerIterator entry(A, j); entry; ++entry)
        entry.valueRef() *= rows[entry.row()] * columns[j];
      for (SparseMatrix::InnerIterator entry(P, j); entry; ++entry)
        entry.valueRef() *= columns[entry.row()] * columns[j];
    }
    b = b.cwiseProduct(rows) * by_last;
    c = c.cwiseProduct(columns) * by_last;
    total.D = total.D.cwiseProduct(rows);
    total.E = total.E.cwiseProduct(columns);
    total.sigma *= by_last;
  }
};

}  // namespace

ScsScaling scs_scaling(const SparseMatrix& P, const SparseMatrix& A, const double* b, const double* c,
                       const problems::Cones& cones) {
  ScsScaling total{Vector::Ones(A.rows()), Vector::Ones(A.cols()), 1.0};
  ScalingPass pass{P,  A, Eigen::Map<const Vector>(b, A.rows()), Eigen::Map<const Vector>(c, A.cols()),
                   {}, {}};
  for (Index done = 0; done <= largest_entry_passes; ++done) {
    const bool mean = done == largest_entry_passes;
    if (mean) {
      pass.mean_squares();
    } else {
      pass.largest_entries();
    }
    cones.each_block([&](Index first, Index size, Index /*order*/) {
      auto block = pass.rows.segment(first, size);
      const double norm = mean ? block.mean() : block.maxCoeff();
      block.setConstant(norm);
    });
    pass.scale(total);
  }
  return total;
}

void fit_semidefinite_weights(Index order, double smallest, double largest, double* weights, double* d) {
  const Index rows = order * (order + 1) / 2;
  const double top = std::max(0.0, *std::max_element(weights, weights + rows));
  const double floor = std::max(1e-3 * top, 1e-12);
  std::fill_n(d, order, 0.0);
  Index row = 0;
  for (Index j = 0; j < order; ++j) {
    for (Index i = j; i < order; ++i, ++row) {
      const double logarithm = std::log(std::max(weights[row], floor));
      d[i] += logarithm;
      d[j] += logarithm;
    }
  }
  // Normal equations: ((order + 2) I + 1 1') log d = sums.
  double sum = 0;
  for (Index i = 0; i < order; ++i) sum += d[i];
  const auto diagonal = static_cast<double>(order + 2);
  const double shared = sum / (diagonal * (diagonal + static_cast<double>(order)));
  for (Index i = 0; i < order; ++i)
    d[i] = std::clamp(std::exp(d[i] / diagonal - shared), std::sqrt(smallest), std::sqrt(largest));
  row = 0;
  for (Index j = 0; j < order; ++j) {
    for (Index i = j; i < order; ++i, ++row) weights[row] = d[i] * d[j];
  }
}

}  // namespace surefoot::algorithms
