#pragma once

#include "surefoot/core/types.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::bounds {

/// x moved up by `ulps` units in the last place.
inline double up(double x, int ulps = 1) {
  for (int i = 0; i < ulps; ++i) x = std::nextafter(x, infinity);
  return x;
}

inline double down(double x, int ulps = 1) {
  for (int i = 0; i < ulps; ++i) x = std::nextafter(x, -infinity);
  return x;
}

/// An upper bound on a probability that was computed with a relative error of a few ulps.
inline double probability_up(double p, int ulps) {
  return std::min(1.0, up(p, ulps));
}

}  // namespace surefoot::bounds
