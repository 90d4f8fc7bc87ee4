#include "surefoot/bounds/iteration_budget.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::bounds {

IterationBudget time_quantile_budget(const std::vector<Index>& reached, Index n, double quantile,
                                     double delta, RiskMethod method) {
  IterationBudget budget{rank_of_method(n, quantile, delta, method), std::nullopt};
  if (budget.rank == 0) return budget;
  const auto found =
      std::find_if(reached.begin(), reached.end(), [&](Index count) { return count >= budget.rank; });
  if (found != reached.end()) budget.column = static_cast<std::size_t>(found - reached.begin());
  return budget;
}

std::vector<Index> fewest_from_here_on(std::vector<Index> successes) {
  for (std::size_t column = successes.size(); column-- > 1;)
    successes[column - 1] = std::min(successes[column - 1], successes[column]);
  return successes;
}

IterationBudget paper_budget(const std::vector<Index>& failures, Index n, double quantile, double delta,
                             RiskMethod method) {
  for (std::size_t column = 0; column < failures.size(); ++column) {
    if (covers(risk_upper_bound(failures[column], n, delta, method), quantile)) return {0, column};
  }
  return {};
}

Index empirical_rank(Index n, double quantile) {
  // The decimal 0.3 of 10 samples must be 3, although 0.3 * 10 may round above it.
  const double exact = quantile * static_cast<double>(n);
  return std::clamp<Index>(static_cast<Index>(std::ceil(exact * (1 - 4e-16))), 1, n);
}

}  // namespace surefoot::bounds
