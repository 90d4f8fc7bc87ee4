#include "surefoot/report/comparison.hpp"

#include "support/contains.hpp"
#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

#include <string>

namespace surefoot::report {
namespace {

using test::contains;
using test::synthetic_certificate;

/// A budget that A is shown to reach earlier, by method and with horizons of the variants.
struct BudgetCase {
  BudgetCase(bounds::BudgetMethod method, Index horizon_a, Index horizon_b) {
    a.certificate.variants[0].last_step = horizon_a;
    b.certificate.variants[0].last_step = horizon_b;
    pair.budget = {{1e-3, 0.9, method, {std::nullopt, 20}, {50, 60}, certify::Verdict::a_is_better}};
  }
  [[nodiscard]] std::string sentence() const { return verdict_sentences(a, b, pair).at(0); }

  Compared a{"a.json", "", synthetic_certificate({.variants = 1})};
  Compared b{"b.json", "", synthetic_certificate({.variants = 1})};
  certify::VariantComparison pair;
};

TEST(ComparisonWords, SayUpToWhichIterationBudgetsLast) {
  using bounds::BudgetMethod;
  EXPECT_EQ(BudgetCase(BudgetMethod::settling, 100, 100).sentence(),
            "A needs fewer iterations than B until 90 % of problems are below 1e-3 and stay below it (up to "
            "iteration 100): at most 20 against more than 50");
  EXPECT_TRUE(contains(BudgetCase(BudgetMethod::settling, 100, 300).sentence(),
                       "(A: up to iteration 100, B: up to 300)"));
  EXPECT_TRUE(contains(BudgetCase(BudgetMethod::every_step, 100, 100).sentence(),
                       "at each later recorded iteration (up to iteration 100)"));
  EXPECT_FALSE(contains(BudgetCase(BudgetMethod::first_hit, 100, 100).sentence(), "stay"));
  const BudgetCase settled(BudgetMethod::settling, 100, 100);
  EXPECT_TRUE(contains(to_latex(compared_budget_table(settled.a, settled.b, settled.pair)),
                       "stays below it (up to iteration 100)"));
}

TEST(ComparisonWords, AreConditionalWhereEitherCertificateIs) {
  for (const bool of_a : {true, false}) {
    BudgetCase compared(bounds::BudgetMethod::settling, 100, 100);
    EXPECT_TRUE(compared.sentence().starts_with("A needs"));
    certify::Independence& checks =
        (of_a ? compared.a : compared.b).certificate.variants[0].independence.emplace();
    checks.allowed = true;
    EXPECT_TRUE(compared.sentence().starts_with("if the rows were independent, ") ||
                compared.sentence().starts_with("If the rows were independent, "))
        << compared.sentence();
    certify::Comparison comparison;
    comparison.delta = 0.03;
    comparison.pairs = {compared.pair};
    EXPECT_TRUE(contains(terminal_text(compared.a, compared.b, comparison),
                         "If the rows were independent, with confidence 0.97, all of these hold together"));
  }
}

}  // namespace
}  // namespace surefoot::report
