#include "surefoot/certify/rollouts.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
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
    const Certificate certificate = certify_rollouts(values, limits, two_shares(), {});
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
  const Certificate certificate = certify_rollouts(values, {5, 10, 20}, two_shares(), {});
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
    const Certificate certificate = certify_rollouts(values, limits, options, {});
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

TEST(Rollouts, RefuseWhatTheyCannotCount) {
  EXPECT_INPUT_ERROR(certify_rollouts(Table(0, 2), {1, 2}, two_shares(), {}), "rollouts: there are none");
  EXPECT_INPUT_ERROR(certify_rollouts(Table::Zero(3, 2), {1}, two_shares(), {}),
                     "have 2 columns for 1 limits");
  Options options = two_shares();
  options.tolerances = {infinity};
  EXPECT_INPUT_ERROR(certify_rollouts(Table::Zero(3, 1), {1}, options, {}), "tolerances: inf is not finite");
}

}  // namespace
}  // namespace surefoot::certify
