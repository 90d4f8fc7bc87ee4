#include "surefoot/algorithms/warm_start.hpp"

#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/testing/operator_contract.hpp"

#include "support/random_problems.hpp"

#include <Eigen/SVD>
#include <gtest/gtest.h>

#include <memory>

namespace surefoot {
namespace {

using algorithms::GradientDescent;
using algorithms::ReluNetwork;
using algorithms::Sampling;
using algorithms::WarmStart;
using algorithms::WarmStartOptions;
using problems::Matrix;
using problems::Table;

struct NetworkWeights {
  std::vector<double> mean;
  std::vector<double> variance;
};

NetworkWeights network_weights(Index count) {
  NetworkWeights weights;
  RandomStream random(5, "warm start test: weights", 0);
  for (Index i = 0; i < count; ++i) {
    weights.mean.push_back(0.6 * random.normal());
    weights.variance.push_back(0.04 * random.uniform());
  }
  return weights;
}

std::unique_ptr<WarmStart> warm_gradient_descent(Sampling sampling, Index outputs = 0) {
  RandomStream random(4, "warm start test: problem", 0);
  Matrix root(6, 6);
  for (double& value : root.reshaped()) value = random.normal();
  Table c(21, 6);
  for (double& value : c.reshaped()) value = random.uniform(-3, 3);
  WarmStartOptions options;
  options.hidden = {7, 5};
  options.input_center = problems::Vector::Constant(6, 0.5);
  options.input_scale = problems::Vector::Constant(6, 3.0);
  options.output_scale = 2;
  options.outputs = outputs;
  options.sampling = sampling;
  auto solver = std::make_shared<GradientDescent>(problems::Quadratic{root.transpose() * root, c});
  return std::make_unique<WarmStart>(solver, std::make_shared<Table>(c), options);
}

TEST(WarmStart, PassesTheContract) {
  for (const Sampling sampling : {Sampling::weights, Sampling::pre_activations}) {
    for (const Index outputs : {Index{0}, Index{4}}) {
      const auto op = warm_gradient_descent(sampling, outputs);
      const NetworkWeights weights = network_weights(op->weights().size());
      op->assign(weights.mean, weights.variance);
      testing::expect_operator_contract(*op, {}, {.steps = 6});
      for (const Index steps : {0, 4})
        testing::expect_weight_vjp_matches_differences(*op, steps, weights.mean, weights.variance, 1e-5);
    }
  }
}

/// Around a solver whose parameter is its linear term.
std::unique_ptr<WarmStart> warm_solver(std::shared_ptr<const algorithms::Operator> solver,
                                       const Table& parameters, Sampling sampling) {
  WarmStartOptions options;
  options.hidden = {6};
  options.sampling = sampling;
  return std::make_unique<WarmStart>(std::move(solver), std::make_shared<Table>(parameters), options);
}

TEST(WarmStart, PassesTheContractAroundOsqpAndScs) {
  const problems::Qp qp = testing::random_qp(8, 12, 9, 11, 0.3);
  problems::Cones cones;
  cones.zero = 2;
  cones.nonnegative = 3;
  cones.second_order = {3};
  cones.semidefinite = {3};
  const problems::ConeProgram cone_program = testing::random_cone_program(9, 10, cones, 11, 0.4);
  algorithms::OsqpOptions scaled;
  scaled.equality_factor = 10;  // multipliers of a thousand would drown the differences in rounding
  for (const Sampling sampling : {Sampling::weights, Sampling::pre_activations}) {
    std::vector<std::unique_ptr<WarmStart>> all;
    for (const auto& options : {algorithms::OsqpOptions::paper(), scaled})
      all.push_back(warm_solver(std::make_shared<algorithms::Osqp>(qp, options), qp.q, sampling));
    for (const auto& options : {algorithms::ScsOptions::paper(), algorithms::ScsOptions::package()})
      all.push_back(
          warm_solver(std::make_shared<algorithms::Scs>(cone_program, options), cone_program.c, sampling));
    for (const auto& op : all) {
      const NetworkWeights weights = network_weights(op->weights().size());
      op->assign(weights.mean, weights.variance);
      testing::expect_operator_contract(*op, {}, {.steps = 6});
      testing::expect_weight_vjp_matches_differences(*op, 4, weights.mean, weights.variance, 1e-5);
    }
  }
}

TEST(WarmStart, NumbersOfAStartBecomeAStateAsAStepLeavesIt) {
  const problems::Qp qp = testing::random_qp(8, 12, 9, 11, 0.3);
  const auto osqp = std::make_shared<algorithms::Osqp>(qp, algorithms::OsqpOptions::paper());
  ASSERT_EQ(osqp->start_size(), 12 + 9);
  testing::OperatorBlock block(*osqp, 0, 8);
  const Index W = osqp->width();
  const algorithms::Buffer numbers = testing::scattered(static_cast<std::size_t>(21 * W), 8);
  osqp->start_from({numbers.data(), 21, W}, block.z(), block.workspace());
  for (Index lane = 0; lane < 8; ++lane) {
    for (Index i = 0; i < 9; ++i) {
      const double v = numbers[(12 + i) * W + lane];
      const double w = std::min(std::max(v, qp.l(lane, i)), qp.u(lane, i));
      EXPECT_EQ(block.z().row(12 + 9 + i)[lane], w);
      EXPECT_EQ(block.z().row(12 + i)[lane], v - w);  // rho = 1
    }
    EXPECT_EQ(block.z().row(3)[lane], numbers[3 * W + lane]);
  }
  problems::Cones rows;
  rows.zero = 2;
  rows.nonnegative = 3;
  const auto scs = std::make_shared<algorithms::Scs>(testing::random_cone_program(9, 10, rows, 4),
                                                     algorithms::ScsOptions::paper());
  testing::OperatorBlock cone_block(*scs, 0, 4);
  cone_block.step(0);
  scs->start_from({numbers.data(), 15, scs->width()}, cone_block.z(), cone_block.workspace());
  EXPECT_EQ(cone_block.z().row(15)[2], 1);
  EXPECT_EQ(cone_block.z().row(14)[2], numbers[14 * scs->width() + 2]);
}

TEST(WarmStart, StartsWhereThePlainNetworkSays) {
  const auto op = warm_gradient_descent(Sampling::pre_activations);
  const NetworkWeights weights = network_weights(op->weights().size());
  op->assign(weights.mean, weights.variance);
  testing::OperatorBlock block(*op, 2, 3, false);
  // The same by hand for instance 3, lane 1.
  RandomStream random(4, "warm start test: problem", 0);
  for (int i = 0; i < 36; ++i) random.normal();
  Table c(21, 6);
  for (double& value : c.reshaped()) value = random.uniform(-3, 3);
  Eigen::VectorXd h = ((c.row(3).transpose().array() - 0.5) / 3).matrix();
  Index at = 0;
  const std::vector<Index> sizes{6, 7, 5, 6};
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const Eigen::Map<const Table> W(weights.mean.data() + at, sizes[layer + 1], sizes[layer]);
    at += W.size();
    const Eigen::Map<const Eigen::VectorXd> b(weights.mean.data() + at, sizes[layer + 1]);
    at += b.size();
    h = W * h + b;
    if (layer < 2) h = h.cwiseMax(0.0);
  }
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(block.z().row(i)[1], 2 * h[i], 1e-12);
}

/// Mean and covariance of the network's outputs over draws.
std::pair<Eigen::VectorXd, Matrix> moments(Sampling sampling) {
  ReluNetwork network({3, 4, 2}, sampling);
  const NetworkWeights weights = network_weights(network.layout().size());
  std::vector<double> variance = weights.variance;
  for (double& s : variance) s *= 5;
  network.assign(weights.mean, variance);
  constexpr Index width = 8;
  ReluNetwork::Room room = network.make_room(width);
  const double input[3] = {0.8, -0.4, 1.3};
  std::vector<double> x(3 * width);
  for (Index i = 0; i < 3 * width; ++i) x[static_cast<std::size_t>(i)] = input[i / width];
  std::vector<double> y(2 * width);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(2);
  Matrix square = Matrix::Zero(2, 2);
  constexpr Index draws = 400000;
  for (Index first = 0; first < draws; first += width) {
    network.draw({1, to_string(sampling), static_cast<std::uint64_t>(first)}, room);
    network.forward(x.data(), room, y.data());
    for (Index lane = 0; lane < width; ++lane) {
      Eigen::VectorXd value(2);
      value << y[lane], y[width + lane];
      mean += value / draws;
      square += value * value.transpose() / draws;
    }
  }
  return {mean, square - mean * mean.transpose()};
}

TEST(ReluNetwork, PreActivationsHaveTheLawOfWeights) {
  const auto [mean, covariance] = moments(Sampling::weights);
  const auto [mean2, covariance2] = moments(Sampling::pre_activations);
  EXPECT_LT((mean - mean2).norm(), 0.01);
  EXPECT_LT((covariance - covariance2).norm(), 0.02 * covariance.norm());
}

/// Theorem 3 by simulation: hardly any drawn network leaves the norm bound, at the worst of many inputs.
TEST(ReluNetwork, NormBoundHoldsForDrawnNetworks) {
  const std::vector<Index> sizes{5, 8, 6, 4};
  ReluNetwork network(sizes, Sampling::weights);
  const NetworkWeights weights = network_weights(network.layout().size());
  network.assign(weights.mean, weights.variance);
  std::vector<bounds::LayerNorms> layers;
  Index at = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const Index n = sizes[i];
    const Index m = sizes[i + 1];
    const Eigen::Map<const Table> W(weights.mean.data() + at, m, n);
    Table variance(m, n + 1);
    variance.leftCols(n) = Eigen::Map<const Table>(weights.variance.data() + at, m, n);
    at += m * n;
    const Eigen::Map<const Eigen::VectorXd> b(weights.mean.data() + at, m);
    variance.col(n) = Eigen::Map<const Eigen::VectorXd>(weights.variance.data() + at, m);
    at += m;
    layers.push_back({Eigen::JacobiSVD<Matrix>(W).singularValues()[0], b.norm(),
                      std::max(variance.rowwise().sum().maxCoeff(), variance.colwise().sum().maxCoeff()), n,
                      m});
  }
  constexpr double delta = 0.1;
  const double bound = bounds::network_norm_bound(layers, 1.0, delta);
  constexpr Index width = 8;
  ReluNetwork::Room room = network.make_room(width);
  std::vector<double> x(5 * width);
  std::vector<double> y(4 * width);
  Index outside = 0;
  Index drawn = 0;
  double largest = 0;
  for (Index block = 0; block < 500; ++block) {
    network.draw({2, "norm bound test", static_cast<std::uint64_t>(block * width)}, room);
    std::vector<double> worst(width, 0.0);
    for (Index input = 0; input < 50; ++input) {
      RandomStream random(3, "norm bound test: inputs", static_cast<std::uint64_t>(input));
      Eigen::VectorXd direction(5);
      for (double& value : direction) value = random.normal();
      direction.normalize();
      for (Index i = 0; i < 5 * width; ++i) x[static_cast<std::size_t>(i)] = direction[i / width];
      network.forward(x.data(), room, y.data());
      for (Index lane = 0; lane < width; ++lane) {
        double squares = 0;
        for (Index i = 0; i < 4; ++i) squares += y[i * width + lane] * y[i * width + lane];
        worst[lane] = std::max(worst[lane], std::sqrt(squares));
      }
    }
    for (const double norm : worst) {
      outside += norm > bound ? 1 : 0;
      largest = std::max(largest, norm);
      ++drawn;
    }
  }
  EXPECT_LE(static_cast<double>(outside), delta * static_cast<double>(drawn));
  EXPECT_GT(bound, largest / 2);
}

}  // namespace
}  // namespace surefoot
