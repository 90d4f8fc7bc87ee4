#include "surefoot/algorithms/step_schedule.hpp"

#include "surefoot/algorithms/cones.hpp"
#include "surefoot/algorithms/fista.hpp"
#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/algorithms/ista.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/learning/train.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/testing/operator_contract.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

namespace surefoot {
namespace {

using algorithms::Quantity;
using algorithms::StepSchedule;
using problems::Matrix;
using problems::Table;
using problems::Vector;

problems::Quadratic small_quadratic() {
  RandomStream random(4, "schedule test: quadratic", 0);
  const Matrix root = testing::random_matrix(random, 6, 6);
  return {root.transpose() * root / 6, testing::random_matrix(random, 21, 6)};
}

problems::Lasso small_lasso() {
  RandomStream random(5, "schedule test: lasso", 0);
  problems::Lasso lasso;
  lasso.D = testing::random_matrix(random, 8, 12) / 3;
  lasso.b = testing::random_matrix(random, 21, 8);
  return lasso;
}

algorithms::OsqpOptions osqp_options(bool scaled, algorithms::SystemKind kind) {
  algorithms::OsqpOptions options;
  options.scaling = scaled ? 10 : 0;
  options.equality_factor = 10;  // multipliers of a thousand would drown the differences in rounding
  options.system = kind;
  return options;
}

problems::Cones some_cones() {
  problems::Cones cones;
  cones.zero = 2;
  cones.nonnegative = 4;
  cones.second_order = {3};
  cones.semidefinite = {2};
  return cones;
}

problems::ConeProgram small_cone_program() {
  return testing::random_cone_program(9, 7, some_cones(), 11);
}

algorithms::ScsOptions scs_options(algorithms::SystemKind kind) {
  algorithms::ScsOptions options;
  options.scale = 0.5;
  options.zero_factor = 10;  // as equality_factor above
  options.rho_x = 1e-2;
  options.returned = true;
  options.system = kind;
  return options;
}

/// One matrix for all instances, or each its own.
std::vector<std::shared_ptr<const algorithms::Operator>> scs_solvers() {
  using algorithms::SystemKind;
  std::vector<std::shared_ptr<const algorithms::Operator>> all;
  for (const SystemKind kind : {SystemKind::sparse, SystemKind::kkt}) {
    problems::ConeProgram problem = small_cone_program();
    all.push_back(std::make_shared<algorithms::Scs>(problem, scs_options(kind)));
    while (problem.instances() > static_cast<Index>(problem.A.size())) {
      problem.A.push_back(problem.A.front() * (1 + 0.05 * static_cast<double>(problem.A.size())));
    }
    all.push_back(std::make_shared<algorithms::Scs>(problem, scs_options(kind)));
  }
  return all;
}

std::vector<std::shared_ptr<const algorithms::Operator>> solvers() {
  using algorithms::SystemKind;
  const problems::Qp qp = testing::random_qp(8, 12, 9, 11, 0.3);
  problems::Qp shared = qp;  // bounds of the same kinds in all instances: one factorisation
  std::vector<std::shared_ptr<const algorithms::Operator>> all;
  all.push_back(std::make_shared<algorithms::GradientDescent>(small_quadratic()));
  all.push_back(std::make_shared<algorithms::Ista>(small_lasso()));
  all.push_back(std::make_shared<algorithms::Fista>(small_lasso()));
  for (const SystemKind kind : {SystemKind::sparse, SystemKind::kkt}) {
    for (const bool scaled : {false, true})
      all.push_back(std::make_shared<algorithms::Osqp>(qp, osqp_options(scaled, kind)));
    algorithms::OsqpOptions together = osqp_options(true, kind);
    together.scale_each = false;
    all.push_back(std::make_shared<algorithms::Osqp>(shared, together));
  }
  for (const auto& solver : scs_solvers()) all.push_back(solver);
  return all;
}

struct Weights {
  std::vector<double> mean;
  std::vector<double> variance;
};

Weights some_weights(Index count) {
  Weights weights;
  RandomStream random(6, "schedule test: weights", 0);
  for (Index i = 0; i < count; ++i) {
    weights.mean.push_back(0.4 * random.normal());
    weights.variance.push_back(0.04 * random.uniform());
  }
  return weights;
}

TEST(StepSchedule, PassesTheContractAroundEveryOptimizer) {
  for (const auto& solver : solvers()) {
    StepSchedule op(solver, 5);
    const Weights weights = some_weights(op.weights().size());
    op.assign(weights.mean, weights.variance);
    testing::expect_operator_contract(op, {}, {.steps = 5});
    testing::expect_operator_contract(op, {}, {.steps = 7});  // beyond its end
    for (const Index steps : {1, 5, 7})
      testing::expect_weight_vjp_matches_differences(op, steps, weights.mean, weights.variance, 1e-5);
  }
}

TEST(StepSchedule, IsTheOptimizerWhereItsWeightsAreZero) {
  for (const auto& solver : solvers()) {
    const StepSchedule op(solver, 3);
    testing::OperatorBlock scheduled(op, 0, 8, false);
    testing::OperatorBlock plain(*solver, 0, 8);
    for (Index k = 0; k < 5; ++k) {
      scheduled.step(k);
      plain.step(k);
      for (std::size_t i = 0; i < plain.state().size(); ++i)
        ASSERT_NEAR(scheduled.state()[i], plain.state()[i], 1e-9 * (1 + std::abs(plain.state()[i])))
            << op.name() << ", step " << k;
    }
  }
}

/// One step of OSQP on instance 0 in plain linear algebra, scaling off.
Vector plain_osqp_step(const problems::Qp& qp, const algorithms::OsqpOptions& options, double rho,
                       double alpha, const Vector& z) {
  const Matrix P = qp.P[0];
  const Matrix A = qp.A[0];
  const Index n = P.rows();
  const Index m = A.rows();
  Vector R(m);
  for (Index i = 0; i < m; ++i) R[i] = row_rho(qp.l(0, i), qp.u(0, i), rho, options);
  const Vector x = z.head(n);
  const Vector y = z.segment(n, m);
  const Vector w = z.tail(m);
  const Matrix K = P + options.sigma * Matrix::Identity(n, n) + A.transpose() * R.asDiagonal() * A;
  const Vector rhs = options.sigma * x - qp.q.row(0).transpose() + A.transpose() * (R.asDiagonal() * w - y);
  const Vector x_tilde = K.fullPivLu().solve(rhs);
  const Vector relaxed = alpha * (A * x_tilde) + (1 - alpha) * w;
  Vector next(n + 2 * m);
  next.head(n) = alpha * x_tilde + (1 - alpha) * x;
  for (Index i = 0; i < m; ++i) {
    const double point = relaxed[i] + y[i] / R[i];
    next[n + m + i] = std::min(std::max(point, qp.l(0, i)), qp.u(0, i));
    next[n + i] = y[i] + R[i] * (relaxed[i] - next[n + m + i]);
  }
  return next;
}

TEST(StepSchedule, MakesThePlainStepsOfOsqpWithItsOwnRhoAndAlpha) {
  const problems::Qp qp = testing::random_qp(8, 12, 9, 11, 0.3);
  for (const algorithms::SystemKind kind : {algorithms::SystemKind::sparse, algorithms::SystemKind::kkt}) {
    const algorithms::OsqpOptions options = osqp_options(false, kind);
    const Index K = 4;
    StepSchedule op(std::make_shared<algorithms::Osqp>(qp, options), K);
    const Weights weights = some_weights(op.weights().size());
    op.assign(weights.mean, weights.variance);
    const Table settings = op.settings_at(weights.mean);
    testing::OperatorBlock block(op, 0, 8, false);
    Vector z = Vector::Zero(op.state_size());
    for (Index k = 0; k < K + 2; ++k) {
      const double rho = k < K ? settings(k, 0) : options.rho;
      const double alpha = k < K ? settings(k, 1) : options.alpha;
      if (k < K) {
        EXPECT_NEAR(rho, options.rho * std::exp(weights.mean[k]), 1e-12 * rho);
        EXPECT_NEAR(alpha, 2 / (1 + (2 / options.alpha - 1) * std::exp(-weights.mean[K + k])), 1e-12);
      }
      z = plain_osqp_step(qp, options, rho, alpha, z);
      block.step(k);
      for (Index i = 0; i < z.size(); ++i)
        ASSERT_NEAR(block.state()[static_cast<std::size_t>(i * op.width())], z[i],
                    1e-8 * (1 + std::abs(z[i])))
            << k << " " << i;
    }
  }
}

// With the usual settings it is the solver, bit for bit.
TEST(StepSchedule, OfScsIsTheSolverWhereItsWeightsAreZero) {
  for (const auto& solver : scs_solvers()) {
    const StepSchedule op(solver, 3);
    testing::OperatorBlock scheduled(op, 0, 8, false);
    testing::OperatorBlock plain(*solver, 0, 8, false);
    for (Index k = 0; k < 6; ++k) {
      scheduled.step(k);
      plain.step(k);
      for (std::size_t i = 0; i < plain.state().size(); ++i)
        ASSERT_EQ(scheduled.state()[i], plain.state()[i]) << op.name() << ", step " << k;
    }
  }
}

/// SCS of instance 0 in plain linear algebra: mu, eta, and y, s before tau divides them.
struct PlainScs {
  const problems::ConeProgram& problem;
  const algorithms::ScsOptions& options;
  Vector mu;
  double eta = 1;
  Vector y, s;

  void step(Index k, double scale, double alpha) {
    const Matrix P = problem.P[0];
    const Matrix A = problem.A[0];
    const Index n = P.rows();
    const Index m = A.rows();
    Vector R(n + m);
    R.head(n).setConstant(options.rho_x);
    for (Index i = 0; i < m; ++i)
      R[n + i] = 1 / (scale * (i < problem.cones.zero ? options.zero_factor : 1.0));
    Matrix RM = R.asDiagonal();
    RM.topLeftCorner(n, n) += P;
    RM.topRightCorner(n, m) += A.transpose();
    RM.bottomLeftCorner(m, n) -= A;
    Vector h(n + m);
    h << problem.c.row(0).transpose(), problem.b.row(0).transpose();
    const Vector p = RM.fullPivLu().solve(R.asDiagonal() * mu);
    const Vector r = RM.fullPivLu().solve(h);
    double tau_tilde = 1;
    if (k > 0) {
      const double a = options.tau_factor + r.dot(R.asDiagonal() * r);
      const double b = r.dot(R.asDiagonal() * (mu - 2 * p)) - options.tau_factor * eta;
      const double c = -p.dot(R.asDiagonal() * (mu - p));
      tau_tilde = (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
    }
    const Vector u_tilde = p - r * tau_tilde;
    const Vector point = 2 * u_tilde - mu;
    Vector u = point;
    algorithms::Buffer lanes = algorithms::make_buffer(m, 8);
    for (Index i = 0; i < m; ++i) std::fill_n(lanes.begin() + i * 8, 8, point[n + i]);
    algorithms::SemidefiniteRoom room(problem.cones, 8);
    project_dual_cone(problem.cones, lanes.data(), 8, room);
    for (Index i = 0; i < m; ++i) u[n + i] = lanes[static_cast<std::size_t>(i * 8)];
    const double tau = std::max(2 * tau_tilde - eta, 0.0);
    mu += alpha * (u - u_tilde);
    eta += alpha * (tau - tau_tilde);
    y = u.tail(m);
    s = R.tail(m).asDiagonal() * (u - point).tail(m);
  }
  /// y and s stay as they are.
  void change(double scale, double next) {
    const Index n = problem.variables();
    for (Index i = problem.cones.zero; i < problem.constraints(); ++i) mu[n + i] += (next - scale) * s[i];
  }
};

TEST(StepSchedule, MakesThePlainStepsOfScsWithItsOwnScaleAndAlpha) {
  const problems::ConeProgram problem = small_cone_program();
  for (const algorithms::SystemKind kind : {algorithms::SystemKind::sparse, algorithms::SystemKind::kkt}) {
    const algorithms::ScsOptions options = scs_options(kind);
    const Index K = 5;
    StepSchedule op(std::make_shared<algorithms::Scs>(problem, options), K);
    const Weights weights = some_weights(op.weights().size());
    op.assign(weights.mean, weights.variance);
    const Table settings = op.settings_at(weights.mean);
    testing::OperatorBlock block(op, 0, 8, false);
    const Index n = problem.variables();
    const Index rows = n + problem.constraints();
    PlainScs plain{problem, options, Vector::Zero(rows), 1, {}, {}};
    for (Index k = 0; k < K + 3; ++k) {
      const auto scale = [&](Index step) { return step < K ? settings(step, 0) : options.scale; };
      plain.step(k, scale(k), k < K ? settings(k, 1) : options.alpha);
      plain.change(scale(k), scale(k + 1));
      block.step(k);
      const auto state = [&](Index row) { return block.state()[static_cast<std::size_t>(row * op.width())]; };
      for (Index i = 0; i < rows; ++i)
        ASSERT_NEAR(state(i) / state(rows), plain.mu[i] / plain.eta, 1e-8 * (1 + std::abs(plain.mu[i])))
            << k << " " << i;
    }
    // What a changing scale leads to is the same solution.
    for (Index k = K + 3; k < 4000; ++k) block.step(k);
    double value[8];
    op.prepare_measures(block.workspace());
    op.measure(Quantity::optimality_residual, 4000, block.z(), block.workspace(), value);
    EXPECT_LT(value[0], 1e-6);
  }
}

// A start is in units of the usual scale: with another first scale it is the same point.
TEST(StepSchedule, OfScsBeginsAtTheStartThatIsWritten) {
  const auto solver = scs_solvers().front();
  StepSchedule op(solver, 2);
  testing::OperatorBlock solved(*solver, 0, 8, false);
  for (Index k = 0; k < 4000; ++k) solved.step(k);
  algorithms::Buffer iterate(static_cast<std::size_t>(op.iterate_size() * 8));
  solver->read(solved.z(), solved.workspace(), 0, op.iterate_size(), iterate.data());
  std::vector<double> mean(static_cast<std::size_t>(op.weights().size()), 0.7);
  op.assign(mean, std::vector<double>(mean.size(), 0.0));
  testing::OperatorBlock block(op, 0, 8, false);
  op.prepare_measures(block.workspace());
  op.write({iterate.data(), op.iterate_size(), 8}, block.workspace(), block.z());
  for (Index k = 0; k < 4; ++k) {
    block.step(k);
    double value[8];
    op.measure(Quantity::optimality_residual, k + 1, block.z(), block.workspace(), value);
    for (const double one : value) EXPECT_LT(one, 1e-5) << k;
  }
}

TEST(StepSchedule, MakesThePlainStepsOfIstaAndFista) {
  const problems::Lasso lasso = small_lasso();
  const Matrix& D = lasso.D;
  const Vector b = lasso.b.row(0).transpose();
  const auto soft = [&](const Vector& y, double step) {
    const Vector v = y - step * (D.transpose() * (D * y - b));
    return Vector(v.array().sign() * (v.array().abs() - step * lasso.weight).max(0));
  };
  const Index K = 4;
  for (const bool accelerated : {false, true}) {
    std::shared_ptr<const algorithms::Operator> solver = std::make_shared<algorithms::Ista>(lasso);
    if (accelerated) solver = std::make_shared<algorithms::Fista>(lasso);
    StepSchedule op(solver, K);
    const Weights weights = some_weights(K);
    op.assign(weights.mean, weights.variance);
    const Table settings = op.settings_at(weights.mean);
    testing::OperatorBlock block(op, 0, 16, false);
    Vector z = Vector::Zero(12);
    Vector y = z;
    double t = 1;
    for (Index k = 0; k < K; ++k) {
      const Vector next = soft(accelerated ? y : z, settings(k, 0));
      const double t_next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
      y = next + (t - 1) / t_next * (next - z);
      z = next;
      t = t_next;
      block.step(k);
      for (Index i = 0; i < 12; ++i)
        ASSERT_NEAR(block.state()[static_cast<std::size_t>(i * 16)], z[i], 1e-12) << k << " " << i;
    }
    double value[16];
    op.measure(Quantity::optimality_residual, K, block.z(), block.workspace(), value);
    EXPECT_NEAR(value[0], (z - soft(z, 1)).norm(), 1e-12);
  }
}

TEST(StepSchedule, DerivativeOfTheOptimalityResidualMatchesDifferences) {
  for (const auto& solver : solvers()) {
    const StepSchedule op(solver, 6);
    testing::OperatorBlock block(op, 0, std::min(op.width(), op.instances()));
    op.prepare_measures(block.workspace());
    for (Index k = 0; k < 6; ++k) block.step(k);
    const Index W = op.width();
    const algorithms::Buffer z = block.state();
    const algorithms::Buffer direction = testing::scattered(z.size(), 1);
    algorithms::Buffer seed = testing::scattered(static_cast<std::size_t>(W), 2);
    const auto value = [&](double shift) {
      for (std::size_t i = 0; i < z.size(); ++i) block.z().data[i] = z[i] + shift * direction[i];
      algorithms::Buffer values(static_cast<std::size_t>(W));
      op.measure(Quantity::optimality_residual, 6, block.z(), block.workspace(), values.data());
      return values;
    };
    algorithms::Buffer pulled(z.size(), 0.0);
    op.measure_vjp(Quantity::optimality_residual, 6, {z.data(), op.state_size(), W}, seed.data(),
                   {pulled.data(), op.state_size(), W}, block.workspace());
    const double h = 1e-7;
    const algorithms::Buffer above = value(h);
    const algorithms::Buffer below = value(-h);
    for (Index lane = 0; lane < W; ++lane) {
      double exact = 0;
      for (std::size_t i = static_cast<std::size_t>(lane); i < z.size(); i += static_cast<std::size_t>(W))
        exact += pulled[i] * direction[i];
      const double difference = seed[lane] * (above[lane] - below[lane]) / (2 * h);
      EXPECT_NEAR(exact, difference, 1e-5 * std::max(1.0, std::abs(difference))) << op.name() << " " << lane;
    }
    std::fill(pulled.begin(), pulled.end(), 0.0);
    EXPECT_INPUT_ERROR(op.measure_vjp(Quantity::primal_residual, 6, {z.data(), op.state_size(), W},
                                      seed.data(), {pulled.data(), op.state_size(), W}, block.workspace()),
                       "");
  }
}

// K steps of gradient descent reach at best the polynomial of Chebyshev, whose largest value on [mu, L] is
// 1 / T_K((L + mu) / (L - mu)); a constant step reaches ((L - mu) / (L + mu))^K.
TEST(StepSchedule, TrainingComesCloseToTheStepsOfChebyshev) {
  const Index n = 20;
  const Index K = 6;
  const double L = 10;
  const double mu = 1;
  Vector curvature(n);
  for (Index i = 0; i < n; ++i) curvature[i] = mu + (L - mu) * static_cast<double>(i) / (n - 1.0);
  RandomStream random(7, "schedule test: training", 0);
  const Table c = testing::random_matrix(random, 64, n);
  const double constant = 2 / (L + mu);
  StepSchedule op(
      std::make_shared<algorithms::GradientDescent>(problems::Quadratic{curvature.asDiagonal(), c},
                                                    algorithms::GradientDescentOptions{constant}),
      K);
  const auto mean_log = [&](const std::vector<double>& mean) {
    op.assign(mean, std::vector<double>(mean.size(), 0.0));
    double sum = 0;
    for (Index first = 0; first < 64; first += 16) {
      testing::OperatorBlock block(op, first, 16, false);
      for (Index k = 0; k < K; ++k) block.step(k);
      double value[16];
      op.measure(Quantity::optimality_residual, K, block.z(), block.workspace(), value);
      for (const double one : value) sum += std::log(one);
    }
    return sum / 64;
  };
  std::vector<double> chebyshev;
  for (Index k = 0; k < K; ++k) {
    const double root =
        (L + mu) / 2 + (L - mu) / 2 * std::cos(std::numbers::pi * (static_cast<double>(k) + 0.5) / K);
    chebyshev.push_back(StepSchedule::weight_of({"step", constant}, 1 / root));
  }
  const double at_constant = mean_log(std::vector<double>(K, 0.0));
  const double at_chebyshev = mean_log(chebyshev);
  ASSERT_LT(at_chebyshev, at_constant - 0.5);

  learning::Posterior begin = learning::initial_posterior(op);
  // Steps that are all the same have the same derivative: they must begin apart.
  for (Index k = 0; k < K; ++k) begin.gaussians.mean[k] = 0.1 * static_cast<double>(k % 3);
  learning::TrainOptions options;
  options.steps = K;
  learning::Stage stage;
  stage.epochs = 150;
  stage.batch = 64;
  stage.noise = false;
  stage.mean_rate = 0.03;
  stage.schedule = learning::Schedule::cosine;
  stage.surrogate.kind = learning::SurrogateKind::logarithm;
  options.stages = {stage};
  learning::Loss loss;
  loss.kind = learning::LossKind::optimality;
  const learning::TrainResult result = learning::train(op, begin, loss, options);
  const Eigen::VectorXd& mean = result.posterior.gaussians.mean;
  EXPECT_LT(mean_log({mean.begin(), mean.end()}), at_chebyshev + 0.1);
}

TEST(StepSchedule, WeightsAndValuesAreInverse) {
  const algorithms::StepSetting step{"step", 0.3};
  const algorithms::StepSetting alpha{"alpha", 1.6, 2};
  EXPECT_EQ(StepSchedule::value_of(step, 0), 0.3);
  EXPECT_NEAR(StepSchedule::value_of(alpha, 0), 1.6, 1e-15);
  EXPECT_NEAR(StepSchedule::value_of(step, StepSchedule::weight_of(step, 7)), 7, 1e-13);
  EXPECT_NEAR(StepSchedule::value_of(alpha, StepSchedule::weight_of(alpha, 1.95)), 1.95, 1e-13);
  EXPECT_LE(StepSchedule::value_of(alpha, 50), 2);
  EXPECT_INPUT_ERROR((void)StepSchedule::weight_of(alpha, 2), "alpha: 2 is outside (0, 2)");
}

TEST(StepSchedule, RefusesOptimizersWithoutSuchSteps) {
  const problems::Qp qp = testing::random_qp(8, 12, 9, 11, 0.3);
  EXPECT_INPUT_ERROR(
      StepSchedule(std::make_shared<algorithms::Osqp>(qp, algorithms::OsqpOptions::defaults()), 3),
      "solver: the steps of osqp have no settings that can be learned");
  algorithms::OsqpOptions dense;
  dense.scaling = 0;
  dense.loose_rho = 0;
  dense.equality_factor = 1;
  dense.system = algorithms::SystemKind::dense;
  EXPECT_INPUT_ERROR(StepSchedule(std::make_shared<algorithms::Osqp>(qp, dense), 3),
                     "system: schedules need the kind sparse or kkt, not dense");
  algorithms::ScsOptions own_steps = scs_options(algorithms::SystemKind::kkt);
  own_steps.returned = false;
  EXPECT_INPUT_ERROR(StepSchedule(std::make_shared<algorithms::Scs>(small_cone_program(), own_steps), 3),
                     "keep what the solver returns");
  EXPECT_INPUT_ERROR(StepSchedule(std::make_shared<algorithms::GradientDescent>(small_quadratic()), 0),
                     "steps: 0 is outside");
}

}  // namespace
}  // namespace surefoot
