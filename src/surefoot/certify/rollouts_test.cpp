#include "surefoot/certify/rollouts.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace surefoot::certify {
namespace {

using problems::Table;

Options two_shares() {
  Options options;
  options.delta = 0.05;
  options.tolerances = {0.5};
  options.quantiles = {0.8, 0.9};
  options.metric = "violation";
  return options;
}

/// Rollout i fails under limit k with these probabilities, independently.
Table rollouts_of(std::uint64_t index, Index rollouts, const std::vector<double>& failing) {
  RandomStream random(17, "rollouts of a test", index);
  Table values(rollouts, static_cast<Index>(failing.size()));
  for (Index i = 0; i < rollouts; ++i)
    for (Index k = 0; k < values.cols(); ++k)
      values(i, k) = random.uniform() < failing[static_cast<std::size_t>(k)] ? 1.0 : 0.0;
  return values;
}

/// By hand: from the largest limit down, each at the whole delta, to the first that fails.
std::optional<Index> smallest(const Table& values, const std::vector<Index>& limits, double share,
                              double delta) {
  std::optional<Index> found;
  for (Index k = values.cols() - 1; k >= 0; --k) {
    const Index failures = (values.col(k).array() >= 0.5).count();
    if (bounds::clopper_pearson_upper(failures, values.rows(), delta) > 1 - share) break;
    found = limits[static_cast<std::size_t>(k)];
  }
  return found;
}

TEST(Rollouts, TheSmallestLimitIsFoundFromTheLargestDown) {
  const std::vector<Index> limits{3, 7, 20, 50};
  const std::vector<std::vector<double>> cases{
      {0.5, 0.1, 0.05, 0.0}, {0.0, 0.0, 0.0, 0.0}, {0.0, 0.9, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.9}};
  std::uint64_t index = 0;
  for (const std::vector<double>& failing : cases) {
    const Table values = rollouts_of(index++, 200, failing);
    const Certificate certificate = certify_rollouts(values, limits, 10, two_shares(), {});
    EXPECT_TRUE(verify(parse_certificate(to_json(certificate))).holds());
    ASSERT_EQ(certificate.budget.size(), 2U);
    for (const BudgetClaim& claim : certificate.budget)
      EXPECT_EQ(claim.steps, smallest(values, limits, claim.quantile, claim.delta)) << index;
  }
}

TEST(Rollouts, ARolloutThatIsLostUnderOneLimitIsNotLostUnderLargerOnes) {
  Table values = Table::Zero(200, 3);
  values.col(0).setConstant(infinity);
  values(0, 1) = std::nan("");
  const Certificate certificate = certify_rollouts(values, {5, 10, 20}, 10, two_shares(), {});
  ASSERT_EQ(certificate.success.size(), 3U);
  EXPECT_EQ(certificate.success[0].failures, 200);
  EXPECT_EQ(certificate.success[1].failures, 1);
  EXPECT_EQ(certificate.success[2].failures, 0);
  EXPECT_EQ(certificate.budget[0].steps, 10);
  EXPECT_TRUE(certificate.quantile.empty());
}

// The limit is chosen after the rollouts are seen, and still wrong in at most delta of all certificates. The
// share is just missed by all limits but the largest, where a choice has the most chances to be wrong.
TEST(Rollouts, TheChoiceAmongLimitsIsPaidFor) {
  const std::vector<Index> limits{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> failing(limits.size(), 0.2 + 1e-9);
  failing.back() = 0.0;
  Options options = two_shares();
  options.quantiles = {0.8};
  constexpr int certificates = 2000;
  int wrong = 0;
  int picked_wrong = 0;
  for (int i = 0; i < certificates; ++i) {
    const Table values = rollouts_of(1000 + static_cast<std::uint64_t>(i), 100, failing);
    const Certificate certificate = certify_rollouts(values, limits, 10, options, {});
    const BudgetClaim& claim = certificate.budget.front();
    wrong += claim.steps && *claim.steps < limits.back() ? 1 : 0;
    // What a reader does who takes the smallest limit whose own test passes.
    for (Index k = 0; k + 1 < values.cols(); ++k) {
      const Index failures = (values.col(k).array() >= 0.5).count();
      if (bounds::clopper_pearson_upper(failures, values.rows(), claim.delta) > 0.2) continue;
      ++picked_wrong;
      break;
    }
  }
  const double delta = 0.05 / 2;  // of the budgets: the other half is that of the success rates
  EXPECT_LE(wrong, certificates * (delta + 3 * std::sqrt(delta / certificates)));
  EXPECT_GT(picked_wrong, 2 * certificates * delta) << "the simulation must be able to fail";
}

// What a person will quote speaks of rollouts, and of limits.
TEST(Rollouts, AreCalledRollouts) {
  const Certificate certificate = certify_rollouts(Table::Zero(400, 3), {5, 10, 20}, 100, two_shares(), {});
  const std::vector<std::string> said = statements_of(certificate);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(
      said.front(),
      "With confidence 0.95, the violation of at least 90 % of new rollouts of 100 ticks is below 0.5 with a "
      "limit of 5 iterations a tick and with each larger limit that was run (up to 20).");
  for (const std::string& sentence : said) {
    EXPECT_EQ(sentence.find("problem"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("after"), std::string::npos) << sentence;
  }
  EXPECT_NE(certificate.assumptions.front().find("plant, as they were simulated"), std::string::npos);
  for (const std::string& sentence : certificate.assumptions)
    EXPECT_EQ(sentence.find("problem"), std::string::npos) << sentence;
}

TEST(Rollouts, ATubeIsOfEveryStateAndTick) {
  constexpr Index rollouts = 1000;
  constexpr Index states = 2;
  constexpr Index ticks = 3;
  RandomStream random(21, "tube of a test", 0);
  Table courses(rollouts, states * (ticks + 1));
  for (Index i = 0; i < courses.size(); ++i) courses.data()[i] = random.normal() - 5;
  courses(7, 5) = infinity;  // state 2 after tick 2
  courses(7, 7) = std::nan("");
  constexpr double delta = 0.01;
  const Certificate tube = certify_tube(courses, states, 9, 0.9, delta, {});
  EXPECT_TRUE(verify(parse_certificate(to_json(tube))).holds());
  ASSERT_EQ(tube.quantile.size(), 2U * states * ticks);
  const Index rank = bounds::order_statistic_rank(rollouts, 0.9, delta / (2 * states * ticks));
  for (const QuantileClaim& claim : tube.quantile) {
    const auto state = static_cast<Index>(claim.variant / 2);
    const double sign = claim.variant % 2 == 0 ? 1 : -1;
    std::vector<double> values;
    for (Index i = 0; i < rollouts; ++i) {
      const double value = courses(i, claim.step * states + state);
      values.push_back(std::isfinite(value) ? sign * value : infinity);  // beyond both ends
    }
    std::ranges::sort(values);
    EXPECT_EQ(claim.upper_bound, values[static_cast<std::size_t>(rank - 1)])
        << claim.variant << " " << claim.step;
  }
  EXPECT_EQ(statements_of(tube).front().find(
                "With confidence 0.99, for state 1: after 3 ticks of at most 9 iterations, "
                "the state of the plant of at least 90 % of new rollouts of 3 ticks is at "
                "or below "),
            0U)
      << statements_of(tube).front();
  EXPECT_INPUT_ERROR(certify_tube(courses, 3, 9, 0.9, delta, {}), "states: have 8 columns");
}

TEST(Rollouts, ACertificateThatHidesThemIsFound) {
  Certificate certificate = certify_rollouts(Table::Zero(400, 2), {5, 20}, 100, two_shares(), {});
  certificate.run = R"({"loop": {"ticks": 100, "rollouts": 400}})";
  EXPECT_TRUE(verify(parse_certificate(to_json(certificate))).holds());
  const auto found_in = [](Certificate changed) {
    changed.assumptions = assumptions_of(changed);
    const std::vector<std::string> findings = verify(parse_certificate(to_json(changed))).findings;
    return findings.empty() ? std::string() : findings.front();
  };
  Certificate hidden = certificate;
  hidden.loop.reset();
  EXPECT_NE(found_in(hidden).find("the run is of rollouts"), std::string::npos) << found_in(hidden);
  Certificate longer = certificate;
  longer.loop->ticks = 101;
  EXPECT_NE(found_in(longer).find("not those of the run"), std::string::npos) << found_in(longer);
  Certificate of_ticks = certificate;
  of_ticks.loop->limit = 20;
  EXPECT_NE(found_in(of_ticks).find("smallest limit is found among limits"), std::string::npos)
      << found_in(of_ticks);
  Certificate more = certificate;
  more.run = R"({"loop": {"ticks": 100, "rollouts": 4000}})";
  EXPECT_NE(found_in(more).find("as many rollouts were not run"), std::string::npos) << found_in(more);
}

TEST(Rollouts, WhoseRowsRepeatAreNotIndependent) {
  RandomStream random(22, "rows of a test", 0);
  Table rows(200 * 3, 2);
  for (Index i = 0; i < rows.size(); ++i) rows.data()[i] = random.normal();
  EXPECT_TRUE(independence_of_rollouts(rows, 200).findings().empty());
  rows.bottomRows(100 * 3) = Table(rows.topRows(100 * 3));
  EXPECT_FALSE(independence_of_rollouts(rows, 200).findings().empty());
  EXPECT_INPUT_ERROR(independence_of_rollouts(rows, 7), "600 of them are not those of 7 rollouts");
}

TEST(Rollouts, RefuseWhatTheyCannotCount) {
  EXPECT_INPUT_ERROR(certify_rollouts(Table(0, 2), {1, 2}, 10, two_shares(), {}), "rollouts: there are none");
  EXPECT_INPUT_ERROR(certify_rollouts(Table::Zero(3, 2), {1}, 10, two_shares(), {}),
                     "have 2 columns for 1 limits");
  Options options = two_shares();
  options.tolerances = {infinity};
  EXPECT_INPUT_ERROR(certify_rollouts(Table::Zero(3, 1), {1}, 10, options, {}),
                     "tolerances: inf is not finite");
  options = two_shares();
  options.risk_method = bounds::RiskMethod::anytime;
  EXPECT_INPUT_ERROR(certify_rollouts(Table::Zero(3, 1), {1}, 10, options, {}),
                     "anytime: claims of rollouts are for a number of rollouts that was fixed beforehand");
  options = two_shares();
  options.range = 10;
  EXPECT_INPUT_ERROR(certify_rollouts(Table::Zero(3, 1), {1}, 10, options, {}),
                     "range: means and CVaR are not claimed of rollouts");
}

}  // namespace
}  // namespace surefoot::certify
