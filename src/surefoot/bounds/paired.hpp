#pragma once

#include "surefoot/core/types.hpp"

namespace surefoot::bounds {

/// Two optimizers on the same independent and identically distributed problems: D = 1 where the second alone
/// succeeds, -1 where the first alone does, 0 where they agree. E[D] is the difference of their success
/// rates.
struct PairedCounts {
  Index more = 0;  ///< D = 1
  Index less = 0;  ///< D = -1
  Index ties = 0;

  [[nodiscard]] Index pairs() const { return more + less + ties; }
};

/// The exact sign (McNemar) test of E[D] <= 0: given the pairs that disagree, `more` is binomial with
/// probability at most 1/2, so P(Bin(more + less, 1/2) >= more) is a p-value, whatever the share of ties.
/// Rounded up. (Q. McNemar, Psychometrika 12, 1947.)
double sign_test(Index more, Index less);

/// A lower bound of E[D] by betting, rounded down, at all numbers of pairs at once: Y = (1 - D)/2 in {0, 1/2,
/// 1} has mean (1 - E[D])/2, which group_average_betting bounds from above, with a fixed number of bets.
/// Pairs may be added until it says what is wanted.
double difference_lower(const PairedCounts& counts, double delta);
/// The same from above.
double difference_upper(const PairedCounts& counts, double delta);

}  // namespace surefoot::bounds
