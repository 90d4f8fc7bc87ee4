#include "surefoot/algorithms/detail/scs_stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surefoot::algorithms {
namespace {

ScsSurvey solved_survey() {
  ScsSurvey survey;
  survey.tau = 2;
  survey.Ax = survey.s = survey.Px = survey.Aty = 2;
  survey.primal = survey.dual = 1e-4;
  survey.xPx = 4;
  survey.cx = -1;
  survey.by = -1;
  survey.b = survey.c = survey.A = 1;
  return survey;
}

SolverStatus status_of(const ScsSurvey& survey, int tests = 1) {
  double unbounded = 0;
  double infeasible = 0;
  SolverStatus status = SolverStatus::running;
  for (int i = 0; i < tests; ++i)
    status = stopping_test(survey, ScsOptions::defaults(), {&unbounded, &infeasible});
  return status;
}

TEST(ScsStopping, SolvedNeedsEachOfTheThree) {
  const ScsSurvey survey = solved_survey();  // xPx / tau^2 + cx / tau + by / tau = 1 - 1/2 - 1/2
  EXPECT_EQ(status_of(survey), SolverStatus::solved);
  const ScsOptions options = ScsOptions::defaults();
  EXPECT_DOUBLE_EQ(reported(Quantity::prim_res, survey, options), 5e-5);
  EXPECT_DOUBLE_EQ(reported(Quantity::prim_res_rel, survey, options), 5e-5 / 2e-4);
  EXPECT_DOUBLE_EQ(reported(Quantity::duality_gap, survey, options), 0);
  EXPECT_DOUBLE_EQ(objective_of(survey), 0);
  for (const auto change : {+[](ScsSurvey& v) { v.primal = 5e-4; }, +[](ScsSurvey& v) { v.dual = 5e-4; },
                            +[](ScsSurvey& v) { v.cx += 1e-2; }, +[](ScsSurvey& v) { v.tau = 0; },
                            +[](ScsSurvey& v) { v.poison = std::numeric_limits<double>::quiet_NaN(); }}) {
    ScsSurvey other = survey;
    change(other);
    EXPECT_EQ(status_of(other), SolverStatus::running);
  }
}

TEST(ScsStopping, CertificatesMustHoldTwiceInARow) {
  ScsSurvey survey = solved_survey();
  survey.primal = survey.dual = 1;
  survey.by = -1;
  survey.Aty = 1e-8;
  EXPECT_EQ(status_of(survey, 1), SolverStatus::running);
  EXPECT_EQ(status_of(survey, 2), SolverStatus::infeasible);
  survey.b = 100;  // tightened by the size of b beside A
  EXPECT_EQ(status_of(survey, 2), SolverStatus::running);
  ScsSurvey down = solved_survey();
  down.primal = down.dual = 1;
  down.Ax_s = down.Px = 1e-8;
  EXPECT_EQ(status_of(down, 1), SolverStatus::running);
  EXPECT_EQ(status_of(down, 2), SolverStatus::unbounded);
  down.Px = 1e-3;
  EXPECT_EQ(status_of(down, 2), SolverStatus::running);
  double unbounded = 1;
  double infeasible = 1;
  stopping_test(down, ScsOptions::defaults(), {&unbounded, &infeasible});
  EXPECT_EQ(unbounded, 0);
  EXPECT_EQ(infeasible, 0);
}

TEST(ScsStopping, AtTheLastIterationTheLargerOfTauAndKappaDecides) {
  ScsSurvey survey = solved_survey();
  EXPECT_EQ(last_status(survey), SolverStatus::solved_at_last);
  survey.kappa = 3;
  survey.cx = -1;
  survey.by = -2;
  EXPECT_EQ(last_status(survey), SolverStatus::infeasible_at_last);
  survey.by = -0.5;
  EXPECT_EQ(last_status(survey), SolverStatus::unbounded_at_last);
  survey.by = survey.cx = 1;
  EXPECT_EQ(last_status(survey), SolverStatus::solved_at_last);
  survey.tau = 0;
  EXPECT_EQ(last_status(survey), SolverStatus::failed);
}

TEST(ScsStopping, TheScaleFollowsTheRatioOfRelativeResiduals) {
  ScsSurvey survey = solved_survey();
  survey.primal = 2e-2;
  survey.dual = 2e-4;
  EXPECT_NEAR(scale_balance(survey), std::log(100.0), 1e-12);
  survey.dual = 0;  // counts as the smallest divisor
  EXPECT_NEAR(scale_balance(survey), std::log(1e-2) - std::log(1e-18), 1e-9);
}

}  // namespace
}  // namespace surefoot::algorithms
