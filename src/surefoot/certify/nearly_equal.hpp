#pragma once

#include <algorithm>
#include <cmath>

namespace surefoot::certify {

/// Equal, or finite and equal to 1e-12: numbers recomputed on another machine may differ in the last digits
/// of its mathematical library. Infinity is equal to itself alone, NaN to nothing.
inline bool nearly_equal(double a, double b) {
  return a == b || (std::isfinite(a) && std::isfinite(b) &&
                    std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)));
}

}  // namespace surefoot::certify
