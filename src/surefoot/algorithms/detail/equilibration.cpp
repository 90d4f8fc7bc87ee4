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
    double sum = 0;  // from the first on, as in lanes
    for (const double norm : column_norms_of_P(scaling.cost)) sum += norm;
    const double mean = sum / static_cast<double>(n);
    double largest = 0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(scaling.cost * D[i] * q[i]));
    scaling.cost /= limited(std::max(mean, limited(largest)));
  }
  return scaling;
}

namespace {

constexpr int equilibrated_lanes = 8;
using ProblemLanes = Lanes<equilibrated_lanes>;

[[gnu::always_inline]] inline ProblemLanes limited(const ProblemLanes& norm) {
  return where_greater(ProblemLanes(1e-4), norm, ProblemLanes(1.0), min(norm, ProblemLanes(1e4)));
}

[[gnu::always_inline]] inline ProblemLanes absolute(const ProblemLanes& value) {
  return max(value, ProblemLanes(0.0) - value);
}

[[gnu::always_inline]] inline ProblemLanes entry_at(const double* values, Index i) {
  return ProblemLanes::load(values + i * equilibrated_lanes);
}

[[gnu::always_inline]] inline void grow_entry(double* largest, Index i, const ProblemLanes& size) {
  max(size, entry_at(largest, i)).store(largest + i * equilibrated_lanes);
}

}  // namespace

LaneEquilibration::LaneEquilibration(Index n, Index m)
    : D(make_buffer(n, equilibrated_lanes)),
      E(make_buffer(m, equilibrated_lanes)),
      cost(make_buffer(1, equilibrated_lanes)),
      columns_(make_buffer(n, equilibrated_lanes)),
      rows_(make_buffer(m, equilibrated_lanes)) {}

void LaneEquilibration::equilibrate(const RowPattern& P, const double* P_values, const RowPattern& A,
                                    const double* A_values, const double* q, Index passes) {
  const Index n = P.rows;
  const Index m = A.rows;
  std::fill(D.begin(), D.end(), 1.0);
  std::fill(E.begin(), E.end(), 1.0);
  ProblemLanes factor(1.0);
  const auto norms_of_P = [&] {
    std::fill(columns_.begin(), columns_.end(), 0.0);
    for (Index row = 0; row < n; ++row) {
      const ProblemLanes left = entry_at(D.data(), row);
      for (int k = P.start[row]; k < P.start[row + 1]; ++k) {
        const Index column = P.index[k];
        if (column < row) continue;
        const ProblemLanes entry = factor * entry_at(P_values, k) * left * entry_at(D.data(), column);
        grow_entry(columns_.data(), column, absolute(entry));
      }
    }
  };
  for (Index pass = 0; pass < passes; ++pass) {
    norms_of_P();
    for (Index row = 0; row < m; ++row) {
      const ProblemLanes left = entry_at(E.data(), row);
      ProblemLanes largest(0.0);
      for (int k = A.start[row]; k < A.start[row + 1]; ++k) {
        const Index column = A.index[k];
        const ProblemLanes size = absolute(entry_at(A_values, k) * left * entry_at(D.data(), column));
        grow_entry(columns_.data(), column, size);
        largest = max(size, largest);
      }
      largest.store(rows_.data() + row * equilibrated_lanes);
    }
    for (Index i = 0; i < n; ++i) {
      (entry_at(D.data(), i) / sqrt(limited(entry_at(columns_.data(), i))))
          .store(D.data() + i * equilibrated_lanes);
    }
    for (Index i = 0; i < m; ++i) {
      (entry_at(E.data(), i) / sqrt(limited(entry_at(rows_.data(), i))))
          .store(E.data() + i * equilibrated_lanes);
    }
    norms_of_P();
    ProblemLanes sum(0.0);
    ProblemLanes largest(0.0);
    for (Index i = 0; i < n; ++i) {
      sum += entry_at(columns_.data(), i);
      largest = max(absolute(factor * entry_at(D.data(), i) * entry_at(q, i)), largest);
    }
    const ProblemLanes mean = sum / ProblemLanes(static_cast<double>(n));
    factor = factor / limited(max(limited(largest), mean));
  }
  factor.store(cost.data());
}

}  // namespace surefoot::algorithms
