#pragma once

#include "surefoot/bounds/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::bounds {

/// The smallest double p in (0, 1] with enough(p), by bisection; `enough` is false up to some p, true beyond
/// it, and not asked at 0 and 1, where it counts as false and true.
template <class Enough>
double smallest_that(const Enough& enough) {
  double low = 0;
  double high = 1;
  // Halving reaches the scale of the root in as many rounds as it has zero bits, then 53 more fix its digits.
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high || middle < 1e-300) return high;
    (enough(middle) ? high : low) = middle;
  }
}

/// Where an increasing f becomes nonnegative in (low, 1], to about 13 digits and never below: f >= 0 there,
/// or it is
/// 1. f(low) < 0 is `f_low` or less; f may be infinite. By false position (Illinois) with few evaluations.
template <class F>
double root_from_above(const F& f, double low, double f_low) {
  constexpr double near = 1e-14;
  constexpr int most_rounds = 100;
  double high = 1;
  double f_high = infinity;
  double at = high;
  int side_before = 0;
  for (int round = 0; round < most_rounds && high - low > near * high; ++round) {
    const bool known = std::isfinite(f_low) && std::isfinite(f_high);
    at = known ? high - f_high * (high - low) / (f_high - f_low) : low + (high - low) / 2;
    if (!(at > low && at < high)) at = low + (high - low) / 2;
    const double value = f(at);
    const int side = value >= 0 ? 1 : -1;
    (side > 0 ? high : low) = at;
    (side > 0 ? f_high : f_low) = value;
    if (side == side_before) (side > 0 ? f_low : f_high) /= 2;  // the other end has stayed
    side_before = side;
    if (std::abs(value) < near) break;
  }
  for (double margin = near; at < 1 && !(f(at) >= 0); margin *= 4) at = std::min(1.0, at + margin * at);
  return at;
}

}  // namespace surefoot::bounds
