#include "surefoot/algorithms/fista.hpp"
#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/algorithms/ista.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/testing/operator_contract.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"

#include <Eigen/LU>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <vector>

namespace surefoot::algorithms {
namespace {

using problems::Matrix;
using problems::Table;
using problems::Vector;
using testing::OperatorBlock;
using testing::random_matrix;

problems::Quadratic random_quadratic(Index n, Index instances) {
  RandomStream stream(11, "quadratic", 0);
  const Matrix factor = random_matrix(stream, n, n);
  return {factor * factor.transpose() + Matrix::Identity(n, n), random_matrix(stream, instances, n)};
}

problems::Lasso random_lasso(Index m, Index n, Index instances) {
  RandomStream stream(12, "lasso", 0);
  return {random_matrix(stream, m, n), random_matrix(stream, instances, m), 0.3};
}

#ifndef SUREFOOT_SANITIZED
TEST(AllocationCount, SeesAllocations) {
  const long before = testing::allocations.load();
  const auto buffer = std::make_unique<std::vector<double>>(1000);
  const Matrix matrix = Matrix::Zero(20, 20);
  EXPECT_GE(testing::allocations.load() - before, 3) << buffer->size() << matrix.size();
}
#endif

TEST(GradientDescent, PassesTheContractAndStopsAtTheMinimiser) {
  const problems::Quadratic problem = random_quadratic(13, 40);
  const GradientDescent op(problem);
  const Table solutions = (-problem.P.fullPivLu().solve(Matrix(problem.c.transpose()))).transpose();
  testing::expect_operator_contract(op, solutions);
}

/// The map of another operator with a claim of its own.
class FalseClaim final : public AveragedMap {
 public:
  FalseClaim(const AveragedMap& map, double averagedness) : map_(map), averagedness_(averagedness) {}
  [[nodiscard]] double averagedness() const override { return averagedness_; }
  [[nodiscard]] std::string variables() const override { return map_.variables(); }
  [[nodiscard]] Index size() const override { return map_.size(); }
  void coordinates(Index instance, const double* iterate, double* s) const override {
    map_.coordinates(instance, iterate, s);
  }

 private:
  const AveragedMap& map_;
  double averagedness_;
};

TEST(DeclaredMap, TheContractFindsAFalseClaim) {
  const GradientDescent op(random_quadratic(3, 10));
  const DeclaredMap declared = op.declared_map();
  ASSERT_NE(declared.map, nullptr);
  EXPECT_NEAR(declared.map->averagedness(), 0.5, 1e-8);
  const auto failures = [&](double averagedness) {
    ::testing::TestPartResultArray results;
    const ::testing::ScopedFakeTestPartResultReporter reporter(&results);
    testing::expect_averaged_as_declared(op, FalseClaim(*declared.map, averagedness));
    return results.size();
  };
  EXPECT_EQ(failures(0.51), 0);
  EXPECT_GT(failures(0.4), 0);
}

TEST(DeclaredMap, OperatorsWithoutOneSayWhy) {
  const auto why_not = [](const Operator& op) { return op.declared_map().why_not; };
  EXPECT_NE(why_not(Fista(random_lasso(5, 7, 3))).find("momentum"), std::string::npos);
  const problems::Quadratic quadratic = random_quadratic(4, 3);
  const double L = problems::largest_eigenvalue(quadratic.P);
  EXPECT_NE(why_not(GradientDescent(quadratic, {2.1 / L})).find("not below 2 / L"), std::string::npos);
  EXPECT_TRUE(why_not(GradientDescent(quadratic, {1.9 / L})).empty());
  const problems::Lasso lasso = random_lasso(5, 7, 3);
  EXPECT_NE(why_not(Ista(lasso, {0.1})).find("not below 2 / L"), std::string::npos);
  EXPECT_NEAR(Ista(lasso).declared_map().map->averagedness(), 2.0 / 3, 1e-8);
  EXPECT_NE(why_not(Osqp(testing::random_qp(3, 4, 5, 2))).find("--preset paper"), std::string::npos);
}

TEST(GradientDescent, MakesThePlainStep) {
  const problems::Quadratic problem = random_quadratic(6, 3);
  const GradientDescent op(problem, {0.01});
  OperatorBlock block(op, 0, 3);
  Vector z = Vector::Zero(6);
  for (Index k = 0; k < 5; ++k) {
    block.step(k);
    const Vector next = z - 0.01 * (problem.P * z + problem.c.row(1).transpose());
    EXPECT_NEAR(block.residual()[1], (next - z).norm(), 1e-13);
    z = next;
  }
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(block.z().row(i)[1], z[i], 1e-13);
}

TEST(Ista, PassesTheContractAndMakesThePlainStep) {
  const problems::Lasso problem = random_lasso(9, 17, 35);
  const Ista op(problem);
  testing::expect_operator_contract(op);
  OperatorBlock block(op, 0, 16);
  Vector z = Vector::Zero(17);
  const double L = op.lipschitz();
  for (Index k = 0; k < 10; ++k) {
    block.step(k);
    const Vector v = z - problem.D.transpose() * (problem.D * z - problem.b.row(5).transpose()) / L;
    for (Index i = 0; i < 17; ++i) z[i] = std::copysign(std::max(std::abs(v[i]) - 0.3 / L, 0.0), v[i]);
  }
  for (Index i = 0; i < 17; ++i) EXPECT_NEAR(block.z().row(i)[5], z[i], 1e-12);
}

TEST(Fista, MakesThePlainStep) {
  // z+ = soft(y - D'(Dy - b)/L, rho/L), t+ = (1 + sqrt(1 + 4 t^2))/2, y+ = z+ + (t - 1)/t+ (z+ - z).
  const problems::Lasso problem = random_lasso(9, 17, 35);
  const Fista op(problem);
  OperatorBlock block(op, 0, 16);
  Vector z = Vector::Zero(17);
  Vector y = z;
  double t = 1;
  const double L = op.lipschitz();
  double farthest = 0;
  Vector ista = z;
  for (Index k = 0; k < 30; ++k) {
    block.step(k);
    const auto soft_step = [&](const Vector& at) {
      Vector v = at - problem.D.transpose() * (problem.D * at - problem.b.row(5).transpose()) / L;
      for (double& entry : v) entry = std::copysign(std::max(std::abs(entry) - 0.3 / L, 0.0), entry);
      return v;
    };
    const Vector next = soft_step(y);
    const double t_next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    y = next + (t - 1) / t_next * (next - z);
    EXPECT_NEAR(block.residual()[5], (next - z).norm(), 1e-12) << k;
    z = next;
    t = t_next;
    for (Index i = 0; i < 17; ++i) EXPECT_NEAR(block.z().row(i)[5], z[i], 1e-12) << k;
    ista = soft_step(ista);
    farthest = std::max(farthest, (z - ista).norm());
  }
  EXPECT_GT(farthest, 1e-2);  // ISTA would not pass
}

TEST(Fista, PassesTheContractAndIsFasterThanIsta) {
  const problems::Lasso problem = random_lasso(20, 12, 3);
  const Fista fista(problem);
  const Ista ista(problem);
  testing::expect_operator_contract(fista);
  OperatorBlock fast(fista, 0, 3);
  OperatorBlock slow(ista, 0, 3);
  for (Index k = 0; k < 30; ++k) {
    fast.step(k);
    slow.step(k);
  }
  std::vector<double> fast_value(16);
  std::vector<double> slow_value(16);
  fista.measure(Quantity::objective, 30, fast.z(), fast.workspace(), fast_value.data());
  ista.measure(Quantity::objective, 30, slow.z(), slow.workspace(), slow_value.data());
  const Vector z = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>(
      slow.z().data + 2, 12, Eigen::InnerStride<>(16));
  EXPECT_NEAR(slow_value[2],
              0.5 * (problem.D * z - problem.b.row(2).transpose()).squaredNorm() + 0.3 * z.lpNorm<1>(),
              1e-11);
  EXPECT_LT(fast_value[2], slow_value[2]);
}

/// OSQP as in the header comment, with dense algebra and no lanes.
struct PlainOsqp {
  Matrix P, A;
  Vector q, l, u, rho;
  double sigma, alpha;
  Vector x, y, w;
  double residual = 0;
  void step() {
    const Matrix K = P + sigma * Matrix::Identity(P.rows(), P.rows()) + A.transpose() * rho.asDiagonal() * A;
    const Vector rhs = sigma * x - q + A.transpose() * (rho.cwiseProduct(w) - y);
    const Vector x_tilde = K.fullPivLu().solve(rhs);
    const Vector relaxed = alpha * (A * x_tilde) + (1 - alpha) * w;
    const Vector w_new = (relaxed + y.cwiseQuotient(rho)).cwiseMax(l).cwiseMin(u);
    const Vector y_new = y + rho.cwiseProduct(relaxed - w_new);
    const Vector x_new = alpha * x_tilde + (1 - alpha) * x;
    residual = std::sqrt((x_new - x).squaredNorm() + (y_new - y).squaredNorm() + (w_new - w).squaredNorm());
    x = x_new;
    y = y_new;
    w = w_new;
  }
};

TEST(Osqp, MakesThePlainStepInEveryKind) {
  const problems::Qp problem = testing::random_qp(2, 20, 15, 10, 0.4);
  for (const SystemKind kind : {SystemKind::sparse, SystemKind::dense}) {
    OsqpOptions options = OsqpOptions::paper();
    options.rho = 0.7;
    options.sigma = 0.2;
    options.alpha = 1.4;
    options.system = kind;
    const Osqp op(problem, options);
    OperatorBlock block(op, 0, std::min<Index>(op.width(), 10));
    PlainOsqp plain{Matrix(problem.P[0]),
                    Matrix(problem.A[0]),
                    problem.q.row(7),
                    problem.l.row(7),
                    problem.u.row(7),
                    Vector::Constant(15, 0.7),
                    0.2,
                    1.4,
                    Vector::Zero(20),
                    Vector::Zero(15),
                    Vector::Zero(15)};
    for (Index k = 0; k < 30; ++k) {
      block.step(k);
      plain.step();
      EXPECT_NEAR(block.residual()[7], plain.residual, 1e-11 * (1 + plain.residual));
    }
    for (Index i = 0; i < 20; ++i) EXPECT_NEAR(block.z().row(i)[7], plain.x[i], 1e-10);
    for (Index i = 0; i < 15; ++i) EXPECT_NEAR(block.z().row(20 + i)[7], plain.y[i], 1e-10);
    for (Index i = 0; i < 15; ++i) EXPECT_NEAR(block.z().row(35 + i)[7], plain.w[i], 1e-10);
  }
}

TEST(Osqp, PassesTheContractWithSharedAndOwnMatrices) {
  const problems::Qp shared = testing::random_qp(3, 18, 14, 11, 0.2);
  for (const bool scaled : {false, true}) {
    OsqpOptions options = scaled ? OsqpOptions::package() : OsqpOptions::paper();
    testing::expect_operator_contract(Osqp(shared, options));
    options.system = SystemKind::dense;
    options.scale_each = false;
    testing::expect_operator_contract(Osqp(shared, options));
  }
}

TEST(Osqp, OwnMatricesGiveEachInstanceItsOwnRun) {
  problems::Qp family = testing::random_qp(4, 9, 7, 3, 0.5);
  for (std::uint64_t i = 1; i < 3; ++i) {
    const problems::Qp other = testing::random_qp(4 + 10 * i, 9, 7, 3, 0.3);
    family.P.push_back(other.P[0]);
    family.A.push_back(other.A[0]);
  }
  family.A.resize(1);
  for (const OsqpOptions& options : {OsqpOptions::paper(), OsqpOptions::package()}) {
    const Osqp together(family, options);
    EXPECT_TRUE(together.system().own());
    OperatorBlock block(together, 0, 3);
    for (Index k = 0; k < 40; ++k) block.step(k);
    const Buffer iterate = block.iterate();
    for (Index i = 0; i < 3; ++i) {
      problems::Qp one{{family.P[i]}, {family.A[0]}, family.q.row(i), family.l.row(i), family.u.row(i), {}};
      const Osqp alone(one, options);
      OperatorBlock single(alone, 0, 1);
      for (Index k = 0; k < 40; ++k) single.step(k);
      const Buffer expected = single.iterate();
      for (Index j = 0; j < alone.iterate_size(); ++j) {
        EXPECT_NEAR(iterate[j * 8 + i], expected[j * alone.width()],
                    1e-7 * (1 + std::abs(iterate[j * 8 + i])));
      }
      EXPECT_NEAR(block.residual()[i], single.residual()[0], 1e-8);
    }
  }
}

TEST(Osqp, ScalingDoesNotChangeTheSolutionOrItsMeasures) {
  const problems::Qp problem = testing::random_qp(6, 10, 8, 2, 0.6);
  OsqpOptions scaled = OsqpOptions::package();
  const Osqp op(problem, scaled);
  OperatorBlock block(op, 0, 2);
  op.prepare_measures(block.workspace());
  for (Index k = 0; k < 4000; ++k) block.step(k);
  std::vector<double> value(8);
  for (const Quantity quantity : {Quantity::primal_residual, Quantity::dual_residual,
                                  Quantity::constraint_violation, Quantity::optimality_residual}) {
    op.measure(quantity, 4000, block.z(), block.workspace(), value.data());
    EXPECT_LT(value[0], 1e-7) << to_string(quantity);
    EXPECT_LT(value[1], 1e-7) << to_string(quantity);
  }
  const Buffer iterate = block.iterate();
  Vector x(10);
  for (Index i = 0; i < 10; ++i) x[i] = iterate[i * 8 + 1];
  op.measure(Quantity::objective, 4000, block.z(), block.workspace(), value.data());
  const double objective = 0.5 * x.dot(problem.P[0] * x) + problem.q.row(1).dot(x);
  EXPECT_NEAR(value[1], objective, 1e-9 * (1 + std::abs(objective)));
}

TEST(Osqp, RefusesBadOptionsAndProblems) {
  const problems::Qp good = testing::random_qp(7, 4, 3, 2);
  OsqpOptions options;
  options.alpha = 2;
  EXPECT_INPUT_ERROR(Osqp(good, options), "alpha: is 2, must be in (0, 2)");
  problems::Qp bad = good;
  bad.l(1, 2) = 5;
  bad.u(1, 2) = 4;
  try {
    const Osqp op(bad, OsqpOptions::paper());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "l: entry 2 of instance 1 is 5, greater than u = 4");
  }
}

/// The formula of scs.hpp with dense algebra and no lanes.
struct PlainScs {
  Matrix I_plus_M;
  Vector q;
  problems::Cones cones;
  Index n = 0;
  Vector mu;
  double eta = 1;
  double residual = 0;
  void step(Index k) {
    const Index size = mu.size();
    if (k > 0) {
      const double norm = std::sqrt(mu.squaredNorm() + eta * eta);
      const double factor = std::sqrt(static_cast<double>(size + 1)) / norm;
      mu *= factor;
      eta *= factor;
    }
    const Eigen::FullPivLU<Matrix> lu(I_plus_M);
    const Vector r = lu.solve(q);
    const Vector p = lu.solve(mu);
    double tau_tilde = 1;
    if (k > 0) {
      const double a = 1 + r.dot(r);
      const double b = mu.dot(r) - 2 * r.dot(p) - eta;
      const double c = p.dot(p - mu);
      tau_tilde = (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
    }
    const Vector u_tilde = p - r * tau_tilde;
    Vector u = 2 * u_tilde - mu;
    Buffer lanes = make_buffer(size - n, 8);
    for (Index i = n; i < size; ++i) lanes[(i - n) * 8] = u[i];
    SemidefiniteRoom room(cones, 8);
    project_dual_cone(cones, lanes.data(), 8, room);
    for (Index i = n; i < size; ++i) u[i] = lanes[(i - n) * 8];
    const double tau = std::max(0.0, 2 * tau_tilde - eta);
    const Vector before = mu / eta;
    mu += u - u_tilde;
    eta += tau - tau_tilde;
    residual = (mu / eta - before).norm();
  }
};

problems::Cones all_cones() {
  problems::Cones cones;
  cones.zero = 3;
  cones.nonnegative = 4;
  cones.second_order = {3, 1, 4};
  cones.semidefinite = {2, 3};
  return cones;
}

TEST(Scs, MakesThePlainStepInEveryKind) {
  const problems::ConeProgram problem = testing::random_cone_program(1, 17, all_cones(), 5);
  const Index n = 17;
  const Index m = problem.constraints();
  for (const SystemKind kind : {SystemKind::sparse, SystemKind::dense}) {
    ScsOptions options = ScsOptions::paper();
    options.system = kind;
    const Scs op(problem, options);
    OperatorBlock block(op, 0, 5);
    PlainScs plain;
    plain.n = n;
    plain.cones = problem.cones;
    plain.I_plus_M = Matrix::Identity(n + m, n + m);
    plain.I_plus_M.topLeftCorner(n, n) += Matrix(problem.P[0]);
    plain.I_plus_M.topRightCorner(n, m) += Matrix(problem.A[0]).transpose();
    plain.I_plus_M.bottomLeftCorner(m, n) -= Matrix(problem.A[0]);
    plain.q.resize(n + m);
    plain.q << problem.c.row(3).transpose(), problem.b.row(3).transpose();
    plain.mu = Vector::Zero(n + m);
    for (Index k = 0; k < 60; ++k) {
      block.step(k);
      plain.step(k);
      ASSERT_NEAR(block.residual()[3], plain.residual, 1e-9 * (1 + plain.residual)) << k;
    }
    const Buffer iterate = block.iterate();
    for (Index i = 0; i < n + m; ++i) {
      EXPECT_NEAR(iterate[i * op.width() + 3], plain.mu[i] / plain.eta, 1e-9);
    }
  }
}

TEST(Scs, PassesTheContractWithSharedAndOwnMatrices) {
  problems::ConeProgram problem = testing::random_cone_program(2, 15, all_cones(), 9, 0.15);
  testing::expect_operator_contract(Scs(problem, ScsOptions::paper()));
  testing::expect_operator_contract(Scs(problem, ScsOptions::package()));
  ScsOptions dense = ScsOptions::paper();
  dense.system = SystemKind::dense;
  testing::expect_operator_contract(Scs(problem, dense));
  for (std::uint64_t i = 1; i < 9; ++i) {
    problem.A.push_back(problem.A[0] * (1.0 + 0.1 * static_cast<double>(i)));
  }
  const Scs own(problem, ScsOptions::paper());
  EXPECT_TRUE(own.system().own());
  testing::expect_operator_contract(own);
}

TEST(Scs, DerivativesHoldForEveryKindOfConeSystemAndData) {
  std::vector<problems::Cones> kinds(5);
  kinds[0].zero = 6;
  kinds[1].nonnegative = 8;
  kinds[2].second_order = {4, 5, 1};
  kinds[3].semidefinite = {3, 1, 4};
  kinds[4] = all_cones();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    SCOPED_TRACE(kind);
    problems::ConeProgram problem = testing::random_cone_program(20 + kind, 12, kinds[kind], 9, 0.3);
    const auto expect_both = [&](const problems::ConeProgram& data) {
      for (const SystemKind system : {SystemKind::sparse, SystemKind::dense, SystemKind::kkt}) {
        if (data.A.size() > 1 && system == SystemKind::dense) continue;  // shared data only
        SCOPED_TRACE(static_cast<int>(system));
        ScsOptions options;
        options.alpha = 1.3;
        options.rho_x = 0.4;
        options.scale = 0.6;
        options.zero_factor = 3;
        options.tau_factor = 2;
        options.system = system;
        const Scs op(data, options);
        testing::expect_vjp_contract(op, 2, 1e-5);
        testing::expect_vjp_contract(op, 40, 1e-5);
      }
    };
    expect_both(problem);
    for (std::uint64_t i = 1; i < 9; ++i) {
      problem.A.push_back(problem.A[0] * (1.0 + 0.1 * static_cast<double>(i)));
      problem.P.push_back(problem.P[0] * (1.0 + 0.2 * static_cast<double>(i)));
    }
    expect_both(problem);
  }
}

TEST(Scs, DerivativeKnowsOfTheRescaling) {
  const Scs op(testing::random_cone_program(30, 12, all_cones(), 8), ScsOptions::paper());
  OperatorBlock block(op, 0, 8);
  for (Index k = 0; k < 5; ++k) block.step(k);
  const Batch z = block.z();
  for (Index i = 0; i < z.rows; ++i) {
    for (Index lane = 0; lane < z.width; lane += 2) z.row(i)[lane] *= 0x1p-12;
  }
  EXPECT_LT(z.row(z.rows - 1)[0], 0x1p-10);
  testing::expect_vjp_matches_differences_at(op, block, 5, 1e-5);
  EXPECT_GT(z.row(z.rows - 1)[0], 0x1p-10);  // after a step at the same state
}

TEST(Measures, OptimalityResidualIsTheLargerOfPrimalAndDual) {
  const Osqp osqp(testing::random_qp(6, 10, 8, 8, 0.6));
  const Scs scs(testing::random_cone_program(3, 10, all_cones(), 8));
  for (const Operator* op : {static_cast<const Operator*>(&osqp), static_cast<const Operator*>(&scs)}) {
    OperatorBlock block(*op, 0, 8);
    op->prepare_measures(block.workspace());
    const auto measured = [&](Quantity quantity, Index k) {
      std::vector<double> value(static_cast<std::size_t>(op->width()));
      op->measure(quantity, k, block.z(), block.workspace(), value.data());
      return value;
    };
    for (Index k = 0; k < 12; ++k) {
      const std::vector<double> primal = measured(Quantity::primal_residual, k);
      const std::vector<double> dual = measured(Quantity::dual_residual, k);
      const std::vector<double> both = measured(Quantity::optimality_residual, k);
      for (std::size_t lane = 0; lane < 8; ++lane) {
        if (std::isnan(primal[lane]) || std::isnan(dual[lane])) {  // SCS while tau = 0
          EXPECT_TRUE(std::isnan(both[lane])) << op->name() << " " << k;
        } else {
          // Not bit by bit: a compiler may contract products and sums of the two in two ways.
          EXPECT_DOUBLE_EQ(both[lane], std::max(primal[lane], dual[lane])) << op->name() << " " << k;
        }
      }
      block.step(k);
    }
    block.z().row(0)[3] = std::numeric_limits<double>::quiet_NaN();
    block.step(12);
    EXPECT_TRUE(std::isnan(measured(Quantity::optimality_residual, 13)[3])) << op->name();
  }
}

TEST(Scs, MeasuresVanishAtTheSolution) {
  const problems::ConeProgram problem = testing::random_cone_program(3, 10, all_cones(), 2);
  for (const ScsOptions& options : {ScsOptions::paper(), ScsOptions::package()}) {
    const Scs op(problem, options);
    OperatorBlock block(op, 0, 2);
    op.prepare_measures(block.workspace());
    std::vector<double> value(static_cast<std::size_t>(op.width()));
    op.measure(Quantity::primal_residual, 0, block.z(), block.workspace(), value.data());
    EXPECT_NEAR(value[1], problem.b.row(1).norm(), 1e-12);
    for (Index k = 0; k < 20000; ++k) block.step(k);
    for (const Quantity quantity :
         {Quantity::primal_residual, Quantity::dual_residual, Quantity::constraint_violation}) {
      op.measure(quantity, 20000, block.z(), block.workspace(), value.data());
      EXPECT_LT(value[0], 1e-6) << to_string(quantity);
      EXPECT_LT(value[1], 1e-6) << to_string(quantity);
    }
  }
}

}  // namespace
}  // namespace surefoot::algorithms
