#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>

namespace surefoot::certify {

class ClaimKind;

/// Of one log with any dependence between its ticks: the average of P(phi_step of tick t >= tolerance | ticks
/// before t) over the ticks t = 1 .. samples is at most upper_bound. It speaks of the past of this log, and
/// holds at every length of it at once.
struct SequenceClaim {
  std::size_t variant = 0;
  Index step = 0;
  double tolerance = 0;
  Index samples = 0;  ///< ticks
  Index failures = 0;
  double delta = 0;
  double empirical = 0;    ///< failures / samples
  double upper_bound = 1;  ///< 1: says nothing
};

/// From the number of failed ticks (bounds/anytime.hpp, sequence_upper).
const ClaimKind& sequences();

}  // namespace surefoot::certify
