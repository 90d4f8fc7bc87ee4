#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <optional>
#include <vector>

namespace surefoot::bounds {

/// An iteration budget: after steps[column] a fraction `quantile` of the instances is below the tolerance.
struct IterationBudget {
  Index rank = 0;                     ///< the order statistic it rests on; 0: none exists, or method `paper`
  std::optional<std::size_t> column;  ///< none: nothing can be said within the recorded steps
};

/// Methods `settling` and `first-hit`: the settling time (first step after which the metric stays below the
/// tolerance to the horizon; infinite if never) or the first hit is one number per sample, so one exact
/// quantile bound on it is enough. reached[column] counts the samples whose time is at most steps[column].
/// With risk method `anytime` it holds at all n at once (rank_of_method).
IterationBudget time_quantile_budget(const std::vector<Index>& reached, Index n, double quantile,
                                     double delta, RiskMethod method = RiskMethod::exact);

/// Method `every-step`: the first column from which on, at every recorded step, a fraction `quantile` of the
/// instances is below the tolerance (not always the same ones: weaker than settling). Each step is a test of
/// its own at level delta, in an order fixed beforehand, the last step first, down to the first that fails:
/// all that passed hold together with 1 - delta, without a union (fixed-sequence testing; W. Maurer,
/// L. Hothorn, W. Lehmacher 1995), also at all n at once: what is false is wrong only if one test, that of
/// the last step at which the share is too small, passes at some n. That is time_quantile_budget() of this:
/// by column, the smallest number of successes there or later.
std::vector<Index> fewest_from_here_on(std::vector<Index> successes);

/// Method `paper`: the first column whose risk bound is at most 1 - quantile. The column is chosen after
/// seeing the bounds, which the confidence 1 - delta does not cover.
IterationBudget paper_budget(const std::vector<Index>& failures, Index n, double quantile, double delta,
                             RiskMethod method);

/// The smallest rank r with r >= quantile * n: the r-th smallest value is the empirical quantile.
Index empirical_rank(Index n, double quantile);

}  // namespace surefoot::bounds
