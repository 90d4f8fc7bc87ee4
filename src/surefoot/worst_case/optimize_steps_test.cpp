#include "surefoot/worst_case/optimize_steps.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::worst_case {
namespace {

using test_support::input_error;

Question gradient(Index steps) {
  Question question;
  question.method = "gradient";
  question.steps = steps;
  question.metric = "gap";
  return question;
}

// One step of length h has the worst case max(1 / (2 h + 1), (1 - h)^2) / 2: least at h = 3/2, 1/8.
TEST(OptimizeSteps, OneStepIsThreeHalves) {
  const OptimizedSteps found = optimize_steps(gradient(1));
  ASSERT_EQ(found.question.parameters.step.size(), 1U);
  EXPECT_NEAR(found.question.parameters.step[0], 1.5, 2e-4);
  EXPECT_NEAR(found.bound, 0.125, 2e-5);
  EXPECT_GE(found.bound, 0.125);
}

// Of equal steps the best two have 1 / (4 h + 1) = (1 - h)^4; two different ones do better.
TEST(OptimizeSteps, TwoStepsBeatTheBestEqualOnes) {
  double h = 1.5;
  for (int i = 0; i < 100; ++i) h = 1 + std::pow(1 / (4 * h + 1), 0.25);
  const double equal = 0.5 / (4 * h + 1);
  Question constant = gradient(2);
  constant.parameters.step = {h};
  const Method method = build(resolved(constant));
  const auto proven = prove(method);
  ASSERT_TRUE(proven.has_value());
  EXPECT_NEAR(proven_bound(method, *proven, 1.0), equal, 1e-6);
  const OptimizedSteps found = optimize_steps(gradient(2));
  EXPECT_LT(found.bound, 0.99 * equal);
  EXPECT_LT(found.evaluations, 1500);
}

TEST(OptimizeSteps, MomentumIsChosenToo) {
  Question question = gradient(2);
  question.method = "heavy-ball";
  question.parameters.mu = 0.1;
  question.parameters.momentum = 0.2;
  const Method method = build(resolved(question));
  const auto before = prove(method);
  ASSERT_TRUE(before.has_value());
  const OptimizedSteps found = optimize_steps(question);
  ASSERT_TRUE(found.question.parameters.momentum.has_value());
  EXPECT_LT(found.bound, 0.9 * proven_bound(method, *before, 1.0));
}

TEST(OptimizeSteps, NamesWhatIsWrong) {
  Question none;
  none.method = "averaged";
  EXPECT_EQ(input_error([&] { optimize_steps(none); }), "optimize: averaged has no step sizes");
  EXPECT_EQ(input_error([&] { optimize_steps(gradient(9)); }), "optimize: 9 steps are outside 1..8");
}

}  // namespace
}  // namespace surefoot::worst_case
