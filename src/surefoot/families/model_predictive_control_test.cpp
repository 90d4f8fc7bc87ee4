#include "surefoot/families/model_predictive_control.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/runs/solve_qp.hpp"

#include "support/input_error.hpp"

#include <Eigen/Cholesky>
#include <gtest/gtest.h>

namespace surefoot {
namespace {

using families::ModelPredictiveControl;
using families::ModelPredictiveControlOptions;
using families::SampleSet;
using problems::Matrix;
using problems::Table;
using problems::Vector;

TEST(ModelPredictiveControl, DrawsTheBoxAndDependsOnNumberAndSetOnly) {
  const ModelPredictiveControl family;
  const Table states = family.draw(3, SampleSet::training, 20000);
  const Vector ranges = family.ranges();
  ASSERT_EQ(states.cols(), 5);
  for (Index j = 0; j < 5; ++j) {
    EXPECT_LE(states.col(j).cwiseAbs().maxCoeff(), ranges[j]);
    EXPECT_NEAR(states.col(j).mean() / ranges[j], 0, 0.02);
    EXPECT_NEAR(states.col(j).squaredNorm() / 20000 / (ranges[j] * ranges[j]), 1.0 / 3, 0.02);
  }
  EXPECT_EQ(family.draw(3, SampleSet::training, 3, 5), states.middleRows(5, 3));
  EXPECT_NE(family.draw(3, SampleSet::hold_out, 3), states.topRows(3));
  const Table plans = Table::Constant(10, 1, 0.1);
  const Table next = family.advance(states.topRows(10), plans, 3, SampleSet::training);
  EXPECT_EQ(family.advance(states.middleRows(4, 2), plans.topRows(2), 3, SampleSet::training, 4),
            next.middleRows(4, 2));
  EXPECT_NE(family.advance(states.topRows(10), plans, 3, SampleSet::base), next);
}

TEST(ModelPredictiveControl, ObjectiveIsTheCostOfTheSimulatedPlan) {
  ModelPredictiveControlOptions three;
  three.carts = 3;
  three.pushed = {0, 2};
  three.horizon = 12;
  const ModelPredictiveControl family(three);
  const auto& options = family.options();
  const Table states = family.draw(4, SampleSet::test, 3);
  const problems::Qp qp = family.problem(states);
  const Matrix P(qp.P[0]);
  const Matrix A(qp.A[0]);
  Vector plan(family.variables());
  for (Index i = 0; i < plan.size(); ++i) plan[i] = std::sin(static_cast<double>(i * i));
  const auto simulated = [&](const Vector& inputs) {
    Vector s = states.row(1).transpose();
    double cost = 0;
    for (Index t = 0; t < options.horizon; ++t) {
      const Vector v = inputs.segment(2 * t, 2);
      s = (family.dynamics() * s + family.input_map() * v).eval();
      cost += 0.5 * options.rate_cost * v.squaredNorm();
      if (t + 1 == options.horizon) {
        cost += 0.5 * s.dot(family.terminal_cost() * s);
      } else {
        cost += 0.5 * (options.position_cost * s.head(3).squaredNorm() +
                       options.speed_cost * s.segment(3, 3).squaredNorm() +
                       options.force_cost * s.tail(2).squaredNorm());
      }
      // The force after step t is its bound's center plus the change that the row of A tells.
      const Vector rows = A * inputs;
      EXPECT_NEAR(s[6], states(1, 6) + rows[24 + 2 * t], 1e-12);
      EXPECT_NEAR(qp.u(1, 24 + 2 * t), options.force_limit - states(1, 6), 1e-15);
      EXPECT_NEAR(qp.l(1, 24 + 2 * t), -options.force_limit - states(1, 6), 1e-15);
    }
    return cost;
  };
  const double difference = simulated(plan) - simulated(Vector::Zero(plan.size()));
  EXPECT_NEAR(difference, 0.5 * plan.dot(P * plan) + qp.q.row(1).dot(plan), 1e-10);
}

TEST(ModelPredictiveControl, WithoutActiveLimitsThePlanIsTheRiccatiFeedback) {
  const ModelPredictiveControl family;
  const Table states = 1e-3 * family.draw(5, SampleSet::test, 4);
  const Table solutions = runs::solve_qp(family.problem(states));
  const Matrix& A = family.dynamics();
  const Matrix& B = family.input_map();
  const Matrix& S = family.terminal_cost();
  const Matrix gain = (family.options().rate_cost * Matrix::Identity(1, 1) + B.transpose() * S * B)
                          .llt()
                          .solve(B.transpose() * S * A);
  for (Index i = 0; i < 4; ++i) {
    const Vector v = -gain * states.row(i).transpose();
    EXPECT_LT((solutions.row(i).head(1).transpose() - v).norm(), 1e-9 * (1 + v.norm()));
  }
}

TEST(ModelPredictiveControl, LimitsMatterAndThePlanMovedByOneStepIsFeasibleAndNear) {
  const ModelPredictiveControl family;
  const Table before = family.draw(6, SampleSet::test, 200);
  const Table plans = runs::solve_qp(family.problem(before));
  const Table now = family.advance(before, plans, 6, SampleSet::test);
  EXPECT_LE(now.rightCols(1).cwiseAbs().maxCoeff(), family.options().force_limit);
  const problems::Qp qp = family.problem(now);
  const Table solutions = runs::solve_qp(qp);
  const Table starts = family.shifted(plans);
  Index rates = 0;
  Index forces = 0;
  double moved = 0;
  double cold = 0;
  for (Index i = 0; i < 200; ++i) {
    const Vector y = solutions.row(i).segment(15, 30);
    rates += y.head(15).cwiseAbs().maxCoeff() > 1e-8 ? 1 : 0;
    forces += y.tail(15).cwiseAbs().maxCoeff() > 1e-8 ? 1 : 0;
    const Vector w = starts.row(i).tail(30);
    EXPECT_LE((qp.l.row(i).transpose() - w).maxCoeff(), 1e-8);
    EXPECT_LE((w - qp.u.row(i).transpose()).maxCoeff(), 1e-8);
    EXPECT_EQ(starts(i, 0), plans(i, 1));
    EXPECT_EQ(starts(i, 15), plans(i, 16));
    moved += (starts.row(i) - solutions.row(i)).norm();
    cold += solutions.row(i).norm();
  }
  EXPECT_GT(rates, 60);
  EXPECT_GT(forces, 30);
  EXPECT_LT(moved, 0.5 * cold);
}

TEST(ModelPredictiveControl, RefusesWhatMakesNoSense) {
  ModelPredictiveControlOptions options;
  options.pushed = {3};
  EXPECT_INPUT_ERROR(ModelPredictiveControl{options}, "pushed: 3 is outside 0 .. 1");
  options.pushed = {0};
  options.rate_limit = 0;
  EXPECT_INPUT_ERROR(ModelPredictiveControl{options}, "rate_limit: is 0, must be > 0");
  const ModelPredictiveControl family;
  Table beyond = family.draw(1, SampleSet::test, 1);
  beyond(0, 4) = 1.5;
  EXPECT_INPUT_ERROR(family.problem(beyond), "states: entry 4 of instance 0 is 1.5");
}

}  // namespace
}  // namespace surefoot
