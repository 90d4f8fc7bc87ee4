#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <optional>
#include <vector>

namespace surefoot::bounds {

/// The smallest rank r with P(Bin(n, quantile) <= r-1) >= 1 - delta, or 0 if there is none: with probability
/// at least 1 - delta the quantile of the distribution is at most the r-th smallest of n independent samples.
/// Holds for every distribution, also with atoms. (H. David, H. Nagaraja, "Order Statistics", section 7.1.)
Index order_statistic_rank(Index n, double quantile, double delta);

/// The rank of claims whose risks are bounded by `method`. Anytime: the smallest r with
/// anytime_upper(n - r, n, delta) <= 1 - quantile, or 0; then the quantile is at most the r-th smallest
/// sample at all n at once. Every other method: order_statistic_rank().
Index rank_of_method(Index n, double quantile, double delta, RiskMethod method);

/// Quantile bound `grid` (the paper): the index of the smallest tolerance of a fixed grid whose risk bound is
/// at most 1 - quantile, none if there is none. failures[i] counts the runs with value >= tolerance i.
/// `delta_total` covers the whole grid: each tolerance gets delta_total / failures.size().
std::optional<std::size_t> grid_quantile(const std::vector<Index>& failures, Index n, double quantile,
                                         double delta_total, RiskMethod method);

/// The delta of each tolerance of a grid that has `delta_total` together, rounded down.
double grid_share(double delta_total, std::size_t tolerances);

/// Whether a risk bound shows that a fraction `quantile` succeeds: risk <= 1 - quantile, without rounding 1 -
/// quantile up.
bool covers(double risk, double quantile);

/// `points` values from `first` to `last`, equally spaced in the logarithm; ends exact.
std::vector<double> log_spaced(double first, double last, std::size_t points);
/// The same, linear.
std::vector<double> linearly_spaced(double first, double last, std::size_t points);

/// The paper's 81 tolerances: 1e-6 .. 1e2 for residuals and distances, -80 .. 0 dB for NMSE, 1e-3 .. 1e1 for
/// the meta-learning metrics. Not rounded.
std::vector<double> residual_grid();
std::vector<double> decibel_grid();
std::vector<double> regression_grid();

}  // namespace surefoot::bounds
