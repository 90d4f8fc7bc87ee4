#include "surefoot/bounds/quantile.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::bounds {

namespace {

// enough(rank) holds from some rank on; the first, or 0 if it does not hold for n.
Index first_rank(Index n, const auto& enough) {
  if (!enough(n)) return 0;
  Index not_enough = 0;
  Index found = n;
  while (found - not_enough > 1) {
    const Index middle = not_enough + (found - not_enough) / 2;
    (enough(middle) ? found : not_enough) = middle;
  }
  return found;
}

}  // namespace

Index order_statistic_rank(Index n, double quantile, double delta) {
  require(n >= 1 && n <= max_samples, "samples: {} is outside 1 .. {}", n, max_samples);
  require(quantile > 0.0 && quantile < 1.0, "quantile: {} is outside (0, 1)", quantile);
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  // P(Bin(n, quantile) >= r) <= delta; the tail falls with r, so bisect for its first r.
  return first_rank(n, [&](Index rank) { return binomial_tail_upper(rank, n, quantile) <= delta; });
}

Index rank_of_method(Index n, double quantile, double delta, RiskMethod method) {
  if (method != RiskMethod::anytime) return order_statistic_rank(n, quantile, delta);
  require(n >= 1, "samples: {} is outside 1 .. {}", n, max_samples);
  require(quantile > 0.0 && quantile < 1.0, "quantile: {} is outside (0, 1)", quantile);
  return first_rank(n, [&](Index rank) { return anytime_covers(n - rank, n, delta, quantile); });
}

bool covers(double risk, double quantile) {
  // 1 - quantile is exact from 1/2 on and otherwise off by at most half an ulp.
  return risk <= (quantile < 0.5 ? down(1.0 - quantile) : 1.0 - quantile);
}

double grid_share(double delta_total, std::size_t tolerances) {
  return down(delta_total / static_cast<double>(tolerances));
}

std::optional<std::size_t> grid_quantile(const std::vector<Index>& failures, Index n, double quantile,
                                         double delta_total, RiskMethod method) {
  require(!failures.empty(), "grid: there is no tolerance");
  require(quantile > 0.0 && quantile < 1.0, "quantile: {} is outside (0, 1)", quantile);
  const double delta_each = grid_share(delta_total, failures.size());
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (covers(risk_upper_bound(failures[i], n, delta_each, method), quantile)) return i;
  }
  return std::nullopt;
}

std::vector<double> linearly_spaced(double first, double last, std::size_t points) {
  require(points >= 2, "points: {} is below 2", points);
  std::vector<double> values(points);
  for (std::size_t i = 0; i < points; ++i) {
    values[i] = first + (last - first) * (static_cast<double>(i) / static_cast<double>(points - 1));
  }
  values.back() = last;
  return values;
}

std::vector<double> log_spaced(double first, double last, std::size_t points) {
  require(first > 0.0 && last > 0.0, "log spacing: {} .. {} is not positive", first, last);
  std::vector<double> values = linearly_spaced(std::log10(first), std::log10(last), points);
  for (double& value : values) value = std::pow(10.0, value);
  values.front() = first;
  values.back() = last;
  return values;
}

std::vector<double> residual_grid() {
  return log_spaced(1e-6, 1e2, 81);
}
std::vector<double> decibel_grid() {
  return linearly_spaced(-80.0, 0.0, 81);
}
std::vector<double> regression_grid() {
  return log_spaced(1e-3, 1e1, 81);
}

}  // namespace surefoot::bounds
