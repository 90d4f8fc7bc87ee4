#include "surefoot/certify/kinds/iteration_budget.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/classical.hpp"

#include "support/contains.hpp"
#include "support/kind_check.hpp"

namespace surefoot::certify {
namespace {

Options with_method(bounds::BudgetMethod method) {
  Options options;
  options.budget_method = method;
  options.tolerances = {0.1, 1.0};
  options.quantiles = {0.5, 0.9};
  return options;
}

TEST(IterationBudgets, PassTheContractOfKindsByEveryMethod) {
  for (const bounds::BudgetMethod method :
       {bounds::BudgetMethod::settling, bounds::BudgetMethod::every_step, bounds::BudgetMethod::first_hit}) {
    SCOPED_TRACE(bounds::name(method));
    test::expect_kind_contract("budget", with_method(method));
  }
}

TEST(IterationBudgets, AreOrderStatisticsOfSettlingTimes) {
  const test::KindExample example = test::kind_example("budget", with_method(bounds::BudgetMethod::settling));
  for (const BudgetClaim& claim : example.certificate.budget) {
    const Index rank = bounds::order_statistic_rank(200, claim.quantile, example.certificate.delta / 8);
    EXPECT_EQ(claim.rank, rank);
    std::optional<Index> first;
    for (Index step = 1; step <= 8 && !first; ++step) {
      Index settled = 0;
      for (const std::vector<double>& run : example.runs) {
        bool stays = true;
        for (Index k = step; k <= 8; ++k)
          stays = stays && run[static_cast<std::size_t>(k - 1)] < claim.tolerance;
        if (stays) ++settled;
      }
      if (rank > 0 && settled >= rank) first = step;
    }
    EXPECT_EQ(claim.steps, first);
  }
}

TEST(IterationBudgets, OfMethodPaperAreSaidToBeOutsideTheConfidence) {
  const Certificate certificate =
      test::kind_example("budget", with_method(bounds::BudgetMethod::paper)).certificate;
  EXPECT_TRUE(test::contains(note_on_paper_budgets(certificate), "not covered by the confidence"));
  const BudgetClaim& claim = certificate.budget.back();
  ASSERT_TRUE(claim.steps.has_value());
  EXPECT_TRUE(quotable(certificate, claim).starts_with("Not covered by the confidence"));
}

}  // namespace
}  // namespace surefoot::certify
