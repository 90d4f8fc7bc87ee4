#include "surefoot/certify/implied.hpp"

#include "surefoot/certify/kinds/success_rate.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/series.hpp"

#include "support/contains.hpp"
#include "support/kind_check.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::certify {
namespace {

// 90 % settle, yet the rates at single steps, which are many and share the confidence, are lower.
Certificate settled_certificate(Choice choose) {
  Options options;
  options.choose = choose;
  options.tolerances = {0.1, 1.0};
  options.quantiles = {0.5, 0.9};
  std::vector<Index> steps;
  for (Index k = 1; k <= 40; ++k) steps.push_back(k);
  options = resolved(options, {steps});
  runs::Tally tally(tally_spec(options, steps));
  for (Index i = 0; i < 200; ++i) {
    RandomStream random(3, "implied", static_cast<std::uint64_t>(i));
    const double scale = random.uniform(1, 2);
    std::vector<double> run;
    for (Index k = 1; k <= 40; ++k)
      run.push_back(i < 6 ? 1.0 : scale * std::pow(0.7, static_cast<double>(k)));
    tally.add_run(run.data());
  }
  Variant variant;
  variant.name = "a";
  variant.sha256 = std::string(64, 'a');
  return certify(options, {{variant, tally}});
}

TEST(ImpliedShares, ARateIsNeverBelowTheShareThatSettledBefore) {
  for (const Choice choose : {Choice::before, Choice::both}) {
    const Certificate certificate = settled_certificate(choose);
    const ImpliedShares implied(certificate);
    int raised = 0;
    for (const SuccessClaim& claim : certificate.success) {
      double slow = claim.lower_bound;
      for (const BudgetClaim& budget : certificate.budget)
        if (budget.steps && *budget.steps <= claim.step && budget.tolerance <= claim.tolerance)
          slow = std::max(slow, budget.quantile);
      EXPECT_GE(implied.at(claim), slow);
      if (choose == Choice::before) {
        EXPECT_EQ(implied.at(claim), slow);
      }
      raised += implied.at(claim) > claim.lower_bound ? 1 : 0;
    }
    EXPECT_GT(raised, 0);
    for (const Series& series : success_series(certificate)) {
      for (const Series::Point& point : series.points) {
        const auto claim = std::ranges::find_if(certificate.success, [&](const SuccessClaim& one) {
          return one.step == point.step && one.tolerance == series.parameter;
        });
        EXPECT_EQ(point.certified, implied.at(*claim));
      }
    }
    EXPECT_TRUE(verify(parse_certificate(to_json(certificate))).holds());
  }
}

TEST(ImpliedShares, SentencesOfOlderWordingsStayAsTheyWere) {
  Certificate certificate = settled_certificate(Choice::before);
  const std::vector<std::string> now = statements_of(certificate, 3);
  certificate.wording = 2;
  const std::vector<std::string> before = statements_of(certificate, 2);
  EXPECT_NE(now, before);
  const auto says = [](const std::vector<std::string>& all, const char* part) {
    return std::ranges::any_of(all, [&](const std::string& one) { return test::contains(one, part); });
  };
  EXPECT_TRUE(says(now, "after 40 iterations, the metric of at least 90.0 %"));
  EXPECT_FALSE(says(before, "after 40 iterations, the metric of at least 90.0 %"));
}

}  // namespace
}  // namespace surefoot::certify
