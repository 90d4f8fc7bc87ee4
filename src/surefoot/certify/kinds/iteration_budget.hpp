#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace surefoot::certify {

class ClaimKind;
struct Certificate;

/// A fraction `quantile` of the instances is below `tolerance` after `steps` steps (settling: each of them
/// from then on, to the last recorded step; every-step: such a fraction at each step from then on).
struct BudgetClaim {
  std::size_t variant = 0;
  double tolerance = 0;
  double quantile = 0;
  bounds::BudgetMethod method = bounds::BudgetMethod::settling;
  Index samples = 0;
  Index rank = 0;  ///< order statistic used, 0 if none exists (method paper: 0)
  /// Settled (or hit) by `steps`; every-step: fewest successes from there on; paper: successes.
  Index reached = 0;
  Index reached_before = 0;  ///< the same one recorded step earlier
  double delta = 0;
  std::optional<Index> empirical = std::nullopt;  ///< none: not reached within the recorded steps
  std::optional<Index> steps = std::nullopt;      ///< none: says nothing
};

/// From the times at which runs reach the tolerance: an order statistic of them
/// (bounds/iteration_budget.hpp).
const ClaimKind& iteration_budgets();

/// One budget as a sentence that stands alone, with its confidence; says so if there is no guarantee.
std::string quotable(const Certificate& certificate, const BudgetClaim& claim);

/// What "stay" means in budgets of method settling; empty if there are none.
std::string note_on_settling(const Certificate& certificate);
/// That budgets of method paper are outside the confidence; empty if there are none.
std::string note_on_paper_budgets(const Certificate& certificate);
/// What a table of budgets counts iterations until: "below the tolerance and stays below it (up to iteration
/// 400)".
std::string budget_meaning(const Certificate& certificate);

}  // namespace surefoot::certify
