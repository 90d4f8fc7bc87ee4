#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <vector>

namespace surefoot::certify {

class ClaimKind;
struct Certificate;
struct Series;

/// P(phi_step < tolerance) >= lower_bound.
struct SuccessClaim {
  std::size_t variant = 0;
  Index step = 0;
  double tolerance = 0;
  bounds::RiskMethod method = bounds::RiskMethod::exact;
  Index samples = 0;  ///< runs counted: the variant's samples, or the runs of its calibration
  Index failures = 0;
  double delta = 0;
  double empirical = 0;    ///< 1 - failures / samples
  double lower_bound = 0;  ///< 0: says nothing
};

/// From failures F among N runs: 1 - the upper bound of the risk by the method (bounds/risk.hpp).
const ClaimKind& success_rates();

std::vector<Series> success_series(const Certificate& certificate);

}  // namespace surefoot::certify
