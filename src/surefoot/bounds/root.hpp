#pragma once

#include "surefoot/bounds/rounding.hpp"

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

}  // namespace surefoot::bounds
