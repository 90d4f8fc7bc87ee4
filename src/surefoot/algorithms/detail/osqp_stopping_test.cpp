#include "surefoot/algorithms/detail/osqp_stopping.hpp"

#include "surefoot/runs/run.hpp"
#include "surefoot/runs/terminations.hpp"
#include "surefoot/testing/operator_contract.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace surefoot::algorithms {
namespace {

using problems::Matrix;
using problems::Vector;
using testing::OperatorBlock;

OsqpOptions lively() {
  OsqpOptions options = OsqpOptions::defaults();
  options.adaptive_rho_interval = 7;
  options.adaptive_rho_tolerance = 1.5;
  options.check_termination = 5;
  return options;
}

/// Scaled each, all alike, or not at all.
std::vector<OsqpOptions> with_every_scaling(const OsqpOptions& base) {
  std::vector<OsqpOptions> all(3, base);
  all[1].scale_each = false;
  all[2].scaling = 0;
  return all;
}

Index changed_lanes(const Osqp& op, Index steps) {
  const Index count = std::min(op.width(), op.instances());
  OperatorBlock block(op, 0, count);
  for (Index k = 0; k < steps; ++k) block.step(k);
  Index changed = 0;
  for (Index lane = 0; lane < count; ++lane) changed += op.ending(block.z(), lane).rho_updates > 0 ? 1 : 0;
  return changed;
}

TEST(OsqpStopping, PassesTheContractWhileLanesChangeTheirRho) {
  const problems::Qp family = testing::random_qp(3, 18, 14, 11, 0.2);
  for (const bool stop : {false, true}) {
    for (OsqpOptions options : with_every_scaling(lively())) {
      options.stop = stop;
      for (const SystemKind kind : {SystemKind::kkt, SystemKind::sparse}) {
        options.system = kind;
        const Osqp op(family, options);
        EXPECT_GT(changed_lanes(op, 60), 0);
        testing::expect_operator_contract(op, {}, {.steps = 60});
      }
    }
  }
}

TEST(OsqpStopping, ALaneOfTheFirstRhoHasTheSameBitsBesideChangedOnes) {
  // With a tolerance that only some instances exceed, some blocks have both kinds of lanes.
  const problems::Qp family = testing::random_qp(5, 12, 10, 24, 0.4);
  bool both = false;
  for (const double tolerance : {1.2, 1.5, 2.0, 3.0, 5.0}) {
    OsqpOptions options = lively();
    options.scale_each = false;
    options.adaptive_rho_tolerance = tolerance;
    const Osqp op(family, options);
    EXPECT_FALSE(op.system().own());
    const Index changed = changed_lanes(op, 30);
    both = both || (changed > 0 && changed < op.width());
    testing::expect_batch_equals_columns(op, 30);
  }
  EXPECT_TRUE(both) << "no block had changed and unchanged lanes: the test shows nothing";
}

/// OSQP as in its paper with adaptive rho, dense algebra, one instance, no scaling.
struct PlainAdaptiveOsqp {
  Matrix P, A;
  Vector q, l, u;
  OsqpOptions options;
  double rho = 0.1;
  Index updates = 0;
  Vector x, y, w;

  [[nodiscard]] Vector rho_of_rows() const {
    Vector rows(A.rows());
    for (Index i = 0; i < A.rows(); ++i) {
      const bool loose = l[i] == -infinity && u[i] == infinity;
      rows[i] = loose ? 1e-6 : u[i] - l[i] < 1e-4 ? 1e3 * rho : rho;
    }
    return rows;
  }
  void step(Index done) {
    const Vector R = rho_of_rows();
    const double a = options.alpha;
    const Matrix K =
        P + options.sigma * Matrix::Identity(P.rows(), P.rows()) + A.transpose() * R.asDiagonal() * A;
    const Vector rhs = options.sigma * x - q + A.transpose() * (R.cwiseProduct(w) - y);
    const Vector x_tilde = K.fullPivLu().solve(rhs);
    const Vector v = a * (A * x_tilde) + (1 - a) * w;
    x = (a * x_tilde + (1 - a) * x).eval();
    w = (v + y.cwiseQuotient(R)).cwiseMax(l).cwiseMin(u);
    y = (y + R.cwiseProduct(v - w)).eval();
    if (done % options.adaptive_rho_interval != 0) return;
    const auto size = [](const Vector& vector) { return vector.cwiseAbs().maxCoeff(); };
    const Vector Ax = A * x;
    const Vector Px = P * x;
    const Vector Aty = A.transpose() * y;
    const double primal = size(Ax - w) / std::max(size(Ax), size(w));
    const double dual = size(Px + q + Aty) / std::max({size(Px), size(q), size(Aty)});
    const double estimate = std::clamp(rho * std::sqrt(primal / dual), 1e-6, 1e6);
    if (estimate > rho * options.adaptive_rho_tolerance || estimate < rho / options.adaptive_rho_tolerance) {
      rho = estimate;
      ++updates;
    }
  }
};

TEST(OsqpStopping, ChangesRhoAsThePlainLoopDoes) {
  const problems::Qp family = testing::random_qp(8, 10, 12, 3, 0.5);
  OsqpOptions options = lively();
  options.scaling = 0;
  options.sigma = 1e-2;  // the plain loop forms A' R A
  const Osqp op(family, options);
  OperatorBlock block(op, 0, 3);
  for (Index k = 0; k < 60; ++k) block.step(k);
  for (Index i = 0; i < 3; ++i) {
    PlainAdaptiveOsqp plain{Matrix(family.P[0]), Matrix(family.A[0]),
                            family.q.row(i),     family.l.row(i),
                            family.u.row(i),     options,
                            options.rho,         0,
                            Vector::Zero(10),    Vector::Zero(12),
                            Vector::Zero(12)};
    for (Index k = 0; k < 60; ++k) plain.step(k + 1);
    EXPECT_GT(plain.updates, 0);
    const double* notes = block.z().row(op.iterate_size());
    EXPECT_NEAR(notes[i], plain.rho, 1e-6 * plain.rho);
    EXPECT_EQ(static_cast<Index>(notes[op.width() + i]), plain.updates);
    for (Index j = 0; j < 10; ++j) EXPECT_NEAR(block.z().row(j)[i], plain.x[j], 1e-7 * (1 + plain.x.norm()));
    for (Index j = 0; j < 12; ++j)
      EXPECT_NEAR(block.z().row(10 + j)[i], plain.y[j], 1e-7 * (1 + plain.y.norm()));
  }
}

/// minimise x'Dx / 2 + q'x, l <= Ax <= u with four instances: solvable, infeasible, unbounded, solvable.
problems::Qp one_of_each() {
  problems::Qp family;
  family.P.push_back(Matrix(Eigen::Vector3d(1, 2, 0).asDiagonal()).sparseView());
  Matrix A = Matrix::Zero(4, 3);
  A << 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0;
  family.A.push_back(A.sparseView());
  family.q.resize(4, 3);
  family.q << 1, 1, 0.5, 1, 1, 0.5, 1, 1, -1, -1, 2, 1;
  family.l.resize(4, 4);
  family.l << -1, -1, -1, -1, 1, -infinity, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0;
  family.u.resize(4, 4);
  family.u << 1, 1, 1, 1, infinity, -1, 1, 1, 1, 1, infinity, 1, 1, 1, 1, 0;
  return family;
}

runs::Terminations terminations_of(const Osqp& op, Index steps) {
  runs::Terminations all(op.instances());
  runs::RunOptions options;
  options.steps = steps;
  options.ending_sink = all.sink();
  runs::run(op, {}, {}, options, nullptr);
  return all;
}

TEST(OsqpStopping, TellsSolvedInfeasibleAndUnboundedInstancesOfOneBlock) {
  for (OsqpOptions options : with_every_scaling(OsqpOptions::defaults())) {
    options.stop = true;
    problems::Qp family = one_of_each();
    if (!options.scale_each) options.scale_each = true;  // rows of different kinds
    const Osqp op(family, options);
    const runs::Terminations all = terminations_of(op, 4000);
    EXPECT_EQ(all[0].status, SolverStatus::solved);
    EXPECT_EQ(all[1].status, SolverStatus::primal_infeasible);
    EXPECT_EQ(all[2].status, SolverStatus::dual_infeasible);
    EXPECT_EQ(all[3].status, SolverStatus::solved);
    for (const Index solved : {Index{0}, Index{3}}) {
      EXPECT_LT(all[solved].primal_residual, 1e-2);
      EXPECT_LT(all[solved].dual_residual, 1e-2);
      EXPECT_LT(std::abs(all[solved].duality_gap), 1e-1);
    }
    for (Index i = 0; i < 4; ++i) EXPECT_EQ(all[i].iterations % options.check_termination, 0) << i;
    for (Index i = 0; i < 4; ++i) EXPECT_LT(all.iterations(i), infinity) << i;
  }
}

TEST(OsqpStopping, AZeroRowThatNothingSatisfiesIsPrimalInfeasible) {
  problems::Qp family = one_of_each();
  family.l(0, 3) = 0.5;  // 0 >= 0.5
  OsqpOptions options = OsqpOptions::defaults();
  options.stop = true;
  const runs::Terminations all = terminations_of(Osqp(family, options), 4000);
  EXPECT_EQ(all[0].status, SolverStatus::primal_infeasible);
  EXPECT_EQ(all[3].status, SolverStatus::solved);
}

TEST(OsqpStopping, TheLastIterationIsInaccurateOrTheMaximum) {
  const problems::Qp family = testing::random_qp(9, 12, 10, 40, 0.4);
  OsqpOptions options = OsqpOptions::defaults();
  options.eps_abs = options.eps_rel = 1e-5;
  options.check_termination = 20;
  std::set<SolverStatus> seen;
  for (const Index last : {Index{5}, Index{33}, Index{60}}) {
    options.max_iter = last;
    const runs::Terminations all = terminations_of(Osqp(family, options), last);
    for (Index i = 0; i < all.instances(); ++i) {
      seen.insert(all[i].status);
      EXPECT_NE(all[i].status, SolverStatus::running);
      EXPECT_LE(all[i].iterations, last);
      if (!is_decided(all[i].status)) {
        EXPECT_EQ(all[i].iterations, last);
        EXPECT_EQ(all.iterations(i), infinity);
      }
    }
  }
  EXPECT_TRUE(seen.contains(SolverStatus::solved_inaccurate));
  EXPECT_TRUE(seen.contains(SolverStatus::maximum_iterations_reached));
}

TEST(OsqpStopping, StoppedLanesRepeatTheirPointAndResidualWhileOthersGoOn) {
  const problems::Qp family = testing::random_qp(9, 12, 10, 8, 0.4);
  for (const OsqpOptions& options : with_every_scaling(lively())) {
    OsqpOptions obeying = options;
    obeying.stop = true;
    const Osqp free(family, options);
    const Osqp op(family, obeying);
    OperatorBlock going(free, 0, 8);
    OperatorBlock block(op, 0, 8);
    std::vector<std::vector<double>> at_end(8);
    std::vector<double> residual_at_end(8);
    std::set<Index> ends;
    for (Index k = 0; k < 400; ++k) {
      going.step(k);
      block.step(k);
      for (Index lane = 0; lane < 8; ++lane) {
        const Ending ending = free.ending(going.z(), lane);
        if (ending.iterations == k + 1) {
          for (Index i = 0; i < op.iterate_size(); ++i) at_end[lane].push_back(going.z().row(i)[lane]);
          residual_at_end[lane] = going.residual()[lane];
          ends.insert(k + 1);
        }
        if (at_end[lane].empty()) continue;
        EXPECT_EQ(block.residual()[lane], residual_at_end[lane]);
        for (Index i = 0; i < op.iterate_size(); ++i) ASSERT_EQ(block.z().row(i)[lane], at_end[lane][i]);
      }
      EXPECT_EQ(op.finished(block.z(), 8), std::none_of(at_end.begin(), at_end.end(),
                                                        [](const auto& numbers) { return numbers.empty(); }));
      EXPECT_FALSE(free.finished(going.z(), 8));
    }
    EXPECT_GT(ends.size(), 1U) << "all ended together: the test shows less than it says";
    EXPECT_TRUE(op.finished(block.z(), 8));
  }
}

TEST(OsqpStopping, ReportedNumbersAreThoseOfThePoint) {
  const problems::Qp family = testing::random_qp(4, 9, 8, 5, 0.5);
  for (OsqpOptions options : with_every_scaling(OsqpOptions::defaults())) {
    const Osqp op(family, options);
    OperatorBlock block(op, 0, 5);
    for (Index k = 0; k < 37; ++k) block.step(k);
    const Buffer iterate = block.iterate();
    for (Index lane = 0; lane < 5; ++lane) {
      Vector x(9);
      Vector y(8);
      Vector w(8);
      for (Index i = 0; i < 9; ++i) x[i] = iterate[i * 8 + lane];
      for (Index i = 0; i < 8; ++i) y[i] = iterate[(9 + i) * 8 + lane];
      for (Index i = 0; i < 8; ++i) w[i] = iterate[(17 + i) * 8 + lane];
      const Vector q = family.q.row(lane);
      const Vector Ax = family.A[0] * x;
      const Vector Px = family.P[0] * x;
      const Vector Aty = family.A[0].transpose() * y;
      double support = 0;
      for (Index i = 0; i < 8; ++i) {
        const double bound = y[i] > 0 ? family.u(lane, i) : family.l(lane, i);
        if (std::isfinite(bound)) support += bound * y[i];
      }
      const double primal = (Ax - w).cwiseAbs().maxCoeff();
      const double dual = (Px + q + Aty).cwiseAbs().maxCoeff();
      const double gap = std::abs(x.dot(Px) + q.dot(x) + support);
      const double primal_size = std::max(Ax.cwiseAbs().maxCoeff(), w.cwiseAbs().maxCoeff());
      const double dual_size =
          std::max({Px.cwiseAbs().maxCoeff(), q.cwiseAbs().maxCoeff(), Aty.cwiseAbs().maxCoeff()});
      const double gap_size = std::max({std::abs(x.dot(Px)), std::abs(q.dot(x)), std::abs(support)});
      const auto expect = [&](Quantity quantity, double expected) {
        std::vector<double> value(8);
        op.measure(quantity, 37, block.z(), block.workspace(), value.data());
        EXPECT_NEAR(value[lane], expected, 1e-10 * (1 + expected)) << to_string(quantity);
      };
      expect(Quantity::prim_res, primal);
      expect(Quantity::dual_res, dual);
      expect(Quantity::duality_gap, gap);
      expect(Quantity::prim_res_rel, primal / (1e-3 + 1e-3 * primal_size));
      expect(Quantity::dual_res_rel, dual / (1e-3 + 1e-3 * dual_size));
      expect(Quantity::duality_gap_rel, gap / (1e-3 + 1e-3 * gap_size));
    }
  }
}

TEST(OsqpStopping, ATestPassesStrictlyBelowItsTolerance) {
  OsqpOptions options = OsqpOptions::defaults();
  options.eps_rel = 0.5;
  options.eps_abs = 0.25;
  OsqpSurvey survey;
  survey.tested = {.primal = 1.25, .dual = 0, .w = 1, .Ax = 2, .q = 0, .Aty = 0, .Px = 0};  // tolerance 1.25
  EXPECT_EQ(stopping_test(survey, {}, options, false), SolverStatus::running);
  survey.tested.primal = std::nextafter(1.25, 0.0);
  EXPECT_EQ(stopping_test(survey, {}, options, false), SolverStatus::solved);
  survey.xPx = -0.5;  // gap 0.5, tolerance 0.25 + 0.5 * 0.5
  EXPECT_EQ(stopping_test(survey, {}, options, false), SolverStatus::running);
  options.check_dualgap = false;
  EXPECT_EQ(stopping_test(survey, {}, options, false), SolverStatus::solved);
  survey.tested.primal = 12;
  EXPECT_EQ(stopping_test(survey, {}, options, true), SolverStatus::solved_inaccurate);
  survey.tested.primal = 1e31;
  EXPECT_EQ(stopping_test(survey, {}, options, false), SolverStatus::non_convex);
}

TEST(OsqpStopping, RhoIsKeptBetweenItsLimits) {
  EXPECT_EQ(rho_estimate(0.1, {.primal = 0, .dual = 1, .w = 1, .Ax = 1, .q = 1, .Aty = 1, .Px = 1}), 1e-6);
  EXPECT_EQ(rho_estimate(0.1, {.primal = 1, .dual = 0, .w = 1, .Ax = 1, .q = 1, .Aty = 1, .Px = 1}), 1e6);
  EXPECT_EQ(rho_estimate(0.1, {.primal = 0, .dual = 0, .w = 1, .Ax = 1, .q = 1, .Aty = 1, .Px = 1}), 1e-6);
  EXPECT_DOUBLE_EQ(rho_estimate(0.1, {.primal = 8, .dual = 1, .w = 1, .Ax = 2, .q = 1, .Aty = 1, .Px = 1}),
                   0.2);
}

TEST(OsqpStopping, RefusesBadSettings) {
  const problems::Qp problem = testing::random_qp(7, 4, 3, 2);
  const auto changed = [&](auto change) {
    OsqpOptions options = OsqpOptions::defaults();
    change(options);
    return Osqp(problem, options);
  };
  EXPECT_INPUT_ERROR(changed([](OsqpOptions& o) { o.eps_abs = -1; }), "eps_abs: is -1, must be >= 0");
  EXPECT_INPUT_ERROR(changed([](OsqpOptions& o) { o.eps_abs = o.eps_rel = 0; }), "both are 0");
  EXPECT_INPUT_ERROR(changed([](OsqpOptions& o) { o.adaptive_rho_tolerance = 0.5; }), "must be >= 1");
  EXPECT_INPUT_ERROR(changed([](OsqpOptions& o) { o.check_termination = -1; }), "check_termination: is -1");
  EXPECT_INPUT_ERROR(changed([](OsqpOptions& o) { o.eps_prim_inf = 0; }), "eps_prim_inf: is 0, must be > 0");
  EXPECT_INPUT_ERROR(changed([](OsqpOptions& o) { o.max_iter = 0; }), "max_iter: is 0, must be >= 1");
  EXPECT_INPUT_ERROR(changed([](OsqpOptions& o) { o.system = SystemKind::dense; }),
                     "need the kind kkt or sparse");
}

TEST(OsqpStopping, IsNoFixedMapAndHasNoDerivative) {
  const problems::Qp problem = testing::random_qp(7, 4, 3, 2);
  OsqpOptions options = OsqpOptions::paper();
  options.adaptive_rho = true;
  const Osqp op(problem, options);
  EXPECT_EQ(op.differentiable(), nullptr);
  EXPECT_NE(op.declared_map().why_not.find("adaptive rho"), std::string::npos);
  const Osqp plain(problem, OsqpOptions::paper());
  EXPECT_FALSE(plain.has_stopping_test());
  EXPECT_INPUT_ERROR(plain.ending({nullptr, 0, 8}, 0), "no stopping test");
}

// Largest entries pass over NaN, and without the gap nothing else would see it: zero would be solved.
TEST(OsqpStopping, WhatIsNotANumberIsNeverSolved) {
  OsqpOptions options = OsqpOptions::defaults();
  options.check_dualgap = false;
  options.check_termination = 1;
  options.max_iter = 3;
  const Osqp op(testing::random_qp(3, 6, 5, 11, 0.2), options);
  OperatorBlock block(op, 0, 1);
  for (Index i = 0; i < op.iterate_size(); ++i)
    block.z().row(i)[0] = std::numeric_limits<double>::quiet_NaN();
  for (Index k = 0; k < 3; ++k) block.step(k);
  EXPECT_EQ(op.ending(block.z(), 0).status, SolverStatus::maximum_iterations_reached);
  std::vector<double> unsolved(static_cast<std::size_t>(op.width()));
  op.measure(Quantity::unsolved, 3, block.z(), block.workspace(), unsolved.data());
  EXPECT_EQ(unsolved[0], 1.0);
}

}  // namespace
}  // namespace surefoot::algorithms
