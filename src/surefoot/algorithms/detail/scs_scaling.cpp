#include "surefoot/algorithms/detail/scs_scaling.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

namespace {

using ScalingLanes = Lanes<ScsScaling::W>;
constexpr Index largest_entry_passes = 25;
constexpr double negligible_norm = 1e-4;
constexpr double enormous_norm = 1e4;

[[gnu::always_inline]] inline ScalingLanes inverse_root(const ScalingLanes& norm) {
  using L = ScalingLanes;
  return L(1.0) / sqrt(where_greater(L(negligible_norm), norm, L(1.0), min(norm, L(enormous_norm))));
}

}  // namespace

ScsScaling::ScsScaling(Index variables, Index constraints)
    : D(make_buffer(constraints, W)),
      E(make_buffer(variables, W)),
      sigma(make_buffer(1, W)),
      rows(D),
      columns(E),
      in_rows(D),
      in_columns(E) {}

void normalise(const RowPattern& P, const RowPattern& A, const problems::Cones& cones, double* P_values,
               double* A_values, double* h, ScsScaling& scaling) {
  using L = ScalingLanes;
  constexpr int W = ScsScaling::W;
  const Index n = A.columns;
  const Index m = A.rows;
  double* rows = scaling.rows.data();
  double* columns = scaling.columns.data();
  const double* c = h;
  const double* b = h + n * W;
  const auto update = [](double* place, const auto& change) __attribute__((always_inline)) {
    change(L::load(place)).store(place);
  };
  std::fill(scaling.D.begin(), scaling.D.end(), 1.0);
  std::fill(scaling.E.begin(), scaling.E.end(), 1.0);
  std::fill(scaling.sigma.begin(), scaling.sigma.end(), 1.0);
  for (Index pass = 0; pass <= largest_entry_passes; ++pass) {
    const bool mean = pass == largest_entry_passes;
    const auto size = [&](const L& value) __attribute__((always_inline)) {
      return mean ? value * value : max(value, L(0.0) - value);
    };
    const auto joined = [&](const L& norm, const L& more) __attribute__((always_inline)) {
      return mean ? norm + more : max(norm, more);
    };
    L of_c(0.0);
    L of_b(0.0);
    for (Index j = 0; j < n; ++j) {
      const L norm = size(L::load(c + j * W));
      norm.store(columns + j * W);
      of_c = joined(of_c, norm);
    }
    for (Index i = 0; i < m; ++i) {
      L norm = size(L::load(b + i * W));
      of_b = joined(of_b, norm);
      for (int k = A.start[i]; k < A.start[i + 1]; ++k) {
        const L one = size(L::load(A_values + static_cast<Index>(k) * W));
        norm = joined(norm, one);
        update(columns + static_cast<Index>(A.index[k]) * W, [&](const L& sum) { return joined(sum, one); });
      }
      norm.store(rows + i * W);
    }
    for (Index j = 0; j < n; ++j) {
      for (int k = P.start[j]; k < P.start[j + 1]; ++k) {
        const L one = size(L::load(P_values + static_cast<Index>(k) * W));
        update(columns + j * W, [&](const L& sum) { return joined(sum, one); });
      }
    }
    if (mean) {
      const auto take_root = [&](double* norms, const Buffer& counts, Index size_of) {
        for (Index i = 0; i < size_of; ++i) {
          const L count = L::load(counts.data() + i * W) + L(1.0);
          update(norms + i * W, [&](const L& sum) { return sqrt(sum / count); });
        }
      };
      take_root(rows, scaling.in_rows, m);
      take_root(columns, scaling.in_columns, n);
      of_c = sqrt(of_c / L(static_cast<double>(n)));
      of_b = sqrt(of_b / L(static_cast<double>(std::max<Index>(m, 1))));
    }
    cones.each_block([&](Index first, Index count, Index /*order*/) {
      L norm = L::load(rows + first * W);
      for (Index i = first + 1; i < first + count; ++i) norm = joined(norm, L::load(rows + i * W));
      if (mean) norm = norm / L(static_cast<double>(count));
      for (Index i = first; i < first + count; ++i) norm.store(rows + i * W);
    });
    const L by_last = inverse_root(max(of_b, of_c));
    update(scaling.sigma.data(), [&](const L& all) { return all * by_last; });
    for (Index j = 0; j < n; ++j) {
      const L factor = inverse_root(L::load(columns + j * W));
      factor.store(columns + j * W);
      update(scaling.E.data() + j * W, [&](const L& all) { return all * factor; });
      update(h + j * W, [&](const L& value) { return value * factor * by_last; });
    }
    for (Index i = 0; i < m; ++i) {
      const L factor = inverse_root(L::load(rows + i * W));
      update(scaling.D.data() + i * W, [&](const L& all) { return all * factor; });
      update(h + (n + i) * W, [&](const L& value) { return value * factor * by_last; });
      for (int k = A.start[i]; k < A.start[i + 1]; ++k) {
        const L both = factor * L::load(columns + static_cast<Index>(A.index[k]) * W);
        update(A_values + static_cast<Index>(k) * W, [&](const L& value) { return value * both; });
      }
    }
    for (Index j = 0; j < n; ++j) {
      for (int k = P.start[j]; k < P.start[j + 1]; ++k) {
        const L both = L::load(columns + j * W) * L::load(columns + static_cast<Index>(P.index[k]) * W);
        update(P_values + static_cast<Index>(k) * W, [&](const L& value) { return value * both; });
      }
    }
  }
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
