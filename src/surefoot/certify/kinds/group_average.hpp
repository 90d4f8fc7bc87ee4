#pragma once

#include "surefoot/bounds/group_average.hpp"
#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace surefoot::certify {

class ClaimKind;

/// E[Y] <= upper_bound, where Y is the share of the ticks of a new group whose phi_step is not below the
/// tolerance. Groups count equally, whatever their number of ticks.
struct AverageClaim {
  std::size_t variant = 0;
  Index step = 0;
  double tolerance = 0;
  bounds::MeanMethod method = bounds::MeanMethod::betting;
  Index samples = 0;  ///< groups
  /// "y:g y:g ...": g groups have a share of at most y, increasing; 0 only where no tick has failed. Where
  /// there are many different shares, they are rounded up to fewer digits.
  std::string shares;
  double delta = 0;
  double empirical = 0;    ///< the average of these shares over the groups
  double upper_bound = 1;  ///< 1: says nothing
};

/// From the shares of the groups by the declared method (bounds/group_average.hpp).
const ClaimKind& group_averages();

/// InputError if they are no shares.
std::vector<bounds::GroupShare> shares_of(const AverageClaim& claim);

}  // namespace surefoot::certify
