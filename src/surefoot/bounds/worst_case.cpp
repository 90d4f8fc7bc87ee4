#include "surefoot/bounds/worst_case.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::bounds {

namespace {

void check(Index k, double dist0) {
  require(k >= 0, "k: {} is negative", k);
  require(dist0 >= 0.0, "dist0: {} is negative or not a number", dist0);
}

// base^exponent for 0 <= base < 1, at least 1e-300: what underflows would round down.
double power(double base, double exponent) {
  return std::max(std::pow(base, exponent), 1e-300);
}

// Smallest k >= 0 with bound(k) < tolerance for a bound that falls with k, or none below 10^18.
template <class Bound>
std::optional<Index> first_below(double tolerance, Bound&& bound) {
  require(tolerance > 0.0, "tolerance: {} is not positive", tolerance);
  constexpr Index limit = 1'000'000'000'000'000'000;
  Index high = 1;
  if (bound(Index{0}) < tolerance) return 1;  // row 1 of the trace is ||z^1 - z^0||
  while (bound(high) >= tolerance) {
    if (high >= limit) return std::nullopt;
    high *= 2;
  }
  Index low = high / 2;
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (bound(middle) < tolerance ? high : low) = middle;
  }
  return high + 1;
}

}  // namespace

double linear_rate_residual(double beta, Index k, double dist0) {
  check(k, dist0);
  require(beta >= 0.0 && beta < 1.0, "beta: {} is outside [0, 1)", beta);
  return up((1.0 + beta) * power(beta, static_cast<double>(k)) * dist0, 8);
}

double averaged_rate_residual(double alpha, Index k, double dist0) {
  check(k, dist0);
  require(alpha > 0.0 && alpha < 1.0, "alpha: {} is outside (0, 1)", alpha);
  const double a = std::max(alpha, 0.5);
  const double steps = static_cast<double>(k);
  const double ratio = steps / (steps + 1.0);
  if (a <= 0.5 * (1.0 + std::sqrt(ratio))) {
    // (k/(k+1))^k by log1p: the plain power loses digits for large k.
    const double shrunk = k == 0 ? 1.0 : std::exp(steps * std::log1p(-1.0 / (steps + 1.0)));
    return up(dist0 * std::sqrt(shrunk * a / ((steps + 1.0) * (1.0 - a))), 16);
  }
  return up(dist0 * 2.0 * a * power(2.0 * a - 1.0, steps), 16);
}

std::optional<Index> linear_rate_steps(double beta, double dist0, double tolerance) {
  return first_below(tolerance, [&](Index k) { return linear_rate_residual(beta, k, dist0); });
}

std::optional<Index> averaged_rate_steps(double alpha, double dist0, double tolerance) {
  return first_below(tolerance, [&](Index k) { return averaged_rate_residual(alpha, k, dist0); });
}

double estimated_initial_distance(double largest_solution_norm) {
  return 1.1 * largest_solution_norm;
}

}  // namespace surefoot::bounds
