#include "surefoot/experiments/planning.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::experiments {
namespace {

TEST(Plan, SaysHowManyRunsEachNumberOfFailuresNeeds) {
  const Plan found = plan({});
  ASSERT_EQ(found.rows.size(), 6U);
  EXPECT_EQ(found.rows[0].samples, 459);
  EXPECT_EQ(found.rows[0].looking, 556);
  EXPECT_EQ(found.rows[1].samples, 662);
  for (const PlanRow& row : found.rows) {
    EXPECT_LE(bounds::clopper_pearson_upper(row.failures, row.samples, 0.01), 0.01);
    EXPECT_GT(bounds::clopper_pearson_upper(row.failures, row.samples - 1, 0.01), 0.01);
    EXPECT_GT(bounds::anytime_upper(row.failures, row.looking - 1, 0.01), 0.01);
    EXPECT_FALSE(row.chance);
  }
}

TEST(Plan, FindsTheFewestRunsWithTheChanceThatIsWanted) {
  PlanOptions options;
  options.expected = 0.002;
  const Plan found = plan(options);
  EXPECT_NEAR(*found.rows[0].chance, std::pow(0.998, 459), 1e-9);
  ASSERT_TRUE(found.wanted);
  EXPECT_GE(*found.wanted->chance, 0.9);
  const Index fewer = found.wanted->failures - 1;
  EXPECT_LT(*found.rows[static_cast<std::size_t>(fewer)].chance, 0.9);
  EXPECT_NE(plan_sentence(options, found).find("At a failure rate of 0.2 %"), std::string::npos);
}

TEST(Plan, SaysWhereThereIsNoChance) {
  PlanOptions options;
  options.expected = 0.02;
  const Plan found = plan(options);
  EXPECT_FALSE(found.wanted);
  EXPECT_NE(plan_sentence(options, found).find("no chance"), std::string::npos);
}

TEST(Plan, CountsTimeAtAMeasuredSpeed) {
  PlanOptions options;
  options.seconds_per_run = 2;
  EXPECT_EQ(plan_table(options, plan(options)).rows.front().back(), "15.3 min");  // 918 s
}

TEST(Plan, RefusesWhatIsNoShare) {
  PlanOptions options;
  options.share = 1;
  EXPECT_INPUT_ERROR(plan(options), "share: 1");
  options = {};
  options.expected = -0.1;
  EXPECT_INPUT_ERROR(plan(options), "expected: -0.1");
  options = {};
  options.seconds_per_run = 0;
  EXPECT_INPUT_ERROR(plan(options), "seconds per run: 0");
}

}  // namespace
}  // namespace surefoot::experiments
