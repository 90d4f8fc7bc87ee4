#include "surefoot/bounds/pac_bayes.hpp"

#include "surefoot/bounds/kl.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <Eigen/SVD>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace surefoot::bounds {
namespace {

GaussianPair example_pair() {
  RandomStream random(1, "pac bayes", 0);
  GaussianPair pair;
  pair.group_size = {3, 1, 5};
  pair.mean.resize(9);
  pair.log_variance.resize(9);
  pair.prior_mean.resize(9);
  for (Index i = 0; i < 9; ++i) {
    pair.mean[i] = random.normal();
    pair.log_variance[i] = random.uniform(-6, 1);
    pair.prior_mean[i] = 0.5 * random.normal();
  }
  pair.prior_log_variance = Eigen::VectorXd{{-1.0, 0.3, -4.0}};
  return pair;
}

// The formula of B (docs/guarantees.md), in plain variances.
double regularizer_as_written(const GaussianPair& pair, const PriorGrid& grid, double n, double delta) {
  double kl = 0;
  double grid_terms = 0;
  Index i = 0;
  for (std::size_t j = 0; j < pair.group_size.size(); ++j) {
    const double lambda = std::exp(pair.prior_log_variance[static_cast<Index>(j)]);
    const auto size = static_cast<double>(pair.group_size[j]);
    double sum_s = 0, sum_w = 0, sum_log_s = 0;
    for (Index end = i + pair.group_size[j]; i < end; ++i) {
      sum_s += std::exp(pair.log_variance[i]);
      sum_w += std::pow(pair.mean[i] - pair.prior_mean[i], 2);
      sum_log_s += pair.log_variance[i];
    }
    kl += 0.5 * ((sum_s + sum_w) / lambda - size + size * std::log(lambda) - sum_log_s);
    grid_terms += 2 * std::log(grid.b * std::log(grid.lambda_max / lambda));
  }
  const double groups = static_cast<double>(pair.group_size.size());
  return (kl + grid_terms + groups * std::log(std::pow(std::numbers::pi, 2) / 6) +
          std::log(2 * std::sqrt(n) / delta)) /
         n;
}

TEST(PacBayesRegularizer, AgreesWithTheFormulaAsWritten) {
  const GaussianPair pair = example_pair();
  const double value = regularizer(pair, PriorGrid{}, 50000, 1e-5);
  const double written = regularizer_as_written(pair, PriorGrid{}, 50000, 1e-5);
  EXPECT_NEAR(value, written, 1e-12 * written);
  EXPECT_GE(value, written * (1 - 1e-15));
}

TEST(PacBayesRegularizer, HasZeroDivergenceAtThePrior) {
  GaussianPair pair = example_pair();
  pair.mean = pair.prior_mean;
  Index first = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    pair.log_variance.segment(first, pair.group_size[j])
        .setConstant(pair.prior_log_variance[static_cast<Index>(j)]);
    first += pair.group_size[j];
  }
  EXPECT_EQ(gaussian_kl(pair), 0.0);
}

TEST(PacBayesRegularizer, GradientAgreesWithFiniteDifferences) {
  const GaussianPair pair = example_pair();
  const PriorGrid grid;
  const Regularizer at = regularizer_with_gradient(pair, grid, 100, 1e-5);
  EXPECT_EQ(at.value, regularizer(pair, grid, 100, 1e-5));
  const double h = 1e-5;
  const auto slope = [&](auto&& entry) {
    GaussianPair moved = pair;
    entry(moved) += h;
    const double above = regularizer_as_written(moved, grid, 100, 1e-5);
    entry(moved) -= 2 * h;
    return (above - regularizer_as_written(moved, grid, 100, 1e-5)) / (2 * h);
  };
  for (Index i = 0; i < 9; ++i) {
    EXPECT_NEAR(at.d_mean[i], slope([&](GaussianPair& p) -> double& { return p.mean[i]; }), 1e-7);
    EXPECT_NEAR(at.d_log_variance[i], slope([&](GaussianPair& p) -> double& { return p.log_variance[i]; }),
                1e-7);
  }
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(at.d_prior_log_variance[j],
                slope([&](GaussianPair& p) -> double& { return p.prior_log_variance[j]; }), 1e-7);
  }
}

// What training uses: the value is the rounded one's, its derivatives are those of the formula as written,
// also where the variances of a group are tied to its prior's.
TEST(PacBayesRegularizer, FromSumsIsTheSameWithTheSameDerivatives) {
  const PriorGrid grid;
  for (const Index tied : {-1, 2}) {
    GaussianPair pair = example_pair();
    const auto tie = [&](GaussianPair& p) {
      if (tied == 2) p.log_variance.tail(5).setConstant(p.prior_log_variance[2]);
    };
    tie(pair);
    const auto sums_of = [&](Index j) {
      const Index first = j == 0 ? 0 : j == 1 ? 3 : 4;
      const Index size = pair.group_size[static_cast<std::size_t>(j)];
      return GroupSums{static_cast<double>(size),
                       (pair.mean - pair.prior_mean).segment(first, size).squaredNorm(),
                       pair.log_variance.segment(first, size).array().exp().sum(),
                       pair.log_variance.segment(first, size).sum(), j == tied};
    };
    Eigen::VectorXd d_nu(3);
    const double value = regularizer_from_sums(sums_of, pair.prior_log_variance, grid, 100, 1e-5, d_nu);
    EXPECT_NEAR(value, regularizer(pair, grid, 100, 1e-5), 1e-12 * value);
    const Regularizer slow = regularizer_with_gradient(pair, grid, 100, 1e-5);
    for (Index j = 0; j < 3; ++j) {
      const double h = 1e-5;
      GaussianPair moved = pair;
      moved.prior_log_variance[j] += h;
      tie(moved);
      const double above = regularizer_as_written(moved, grid, 100, 1e-5);
      moved.prior_log_variance[j] -= 2 * h;
      tie(moved);
      EXPECT_NEAR(d_nu[j], (above - regularizer_as_written(moved, grid, 100, 1e-5)) / (2 * h), 1e-7) << j;
      if (j == tied) {
        EXPECT_NEAR(d_nu[j], slow.d_prior_log_variance[j] + slow.d_log_variance.tail(5).sum(), 1e-12);
      } else {
        EXPECT_NEAR(d_nu[j], slow.d_prior_log_variance[j], 1e-12);
      }
    }
  }
}

TEST(PacBayesRegularizer, DivergenceOfMillionsOfWeightsIsRoundedUp) {
  // Equal terms, so that the sum is known: 4,000,000 (e^-1 - 1 + 1) / 2 = 2,000,000 / e.
  constexpr Index weights = 4'000'000;
  GaussianPair pair;
  pair.mean = pair.prior_mean = Eigen::VectorXd::Zero(weights);
  pair.log_variance = Eigen::VectorXd::Constant(weights, -2.0);
  pair.prior_log_variance = Eigen::VectorXd::Constant(1, -1.0);
  pair.group_size = {weights};
  const double kl = gaussian_kl(pair);
  const double truth = 2'000'000 / std::numbers::e;
  EXPECT_GE(kl, truth);
  EXPECT_LE(kl, truth * (1 + 2e-13));
}

TEST(PacBayesRegularizer, RefusesWhatTheTheoremDoesNotCover) {
  GaussianPair pair = example_pair();
  EXPECT_INPUT_ERROR(regularizer(pair, PriorGrid{}, 7, 1e-5), "samples: 7 is below 8");
  EXPECT_INPUT_ERROR(regularizer(pair, PriorGrid{}, 100, 0.0), "delta: 0 is outside (0, 1)");
  pair.prior_log_variance[0] = std::log(100.0);
  EXPECT_INPUT_ERROR(regularizer(pair, PriorGrid{}, 100, 1e-5), "is not below lambda_max = 100");
  pair = example_pair();
  pair.prior_mean.conservativeResize(8);
  EXPECT_INPUT_ERROR(regularizer(pair, PriorGrid{}, 100, 1e-5), "prior_mean: 8 entries for 9 weights");
}

TEST(PriorGrid, RoundsToPositiveIntegers) {
  const PriorGrid grid;
  EXPECT_EQ(grid.nearest(std::log(100.0)), 1);
  EXPECT_EQ(grid.nearest(std::log(1000.0)), 1);
  EXPECT_EQ(grid.nearest(grid.log_lambda(37) + 0.001), 37);
  EXPECT_NEAR(grid.position(grid.log_lambda(500)), 500.0, 1e-9);
  GaussianPair pair = example_pair();
  EXPECT_FALSE(is_on_grid(pair, grid));
  for (double& nu : pair.prior_log_variance) nu = grid.log_lambda(grid.nearest(nu));
  EXPECT_TRUE(is_on_grid(pair, grid));
}

TEST(Calibration, OnePassIsTighterThanThePapersManyPasses) {
  const double one_pass = calibrated_risk(5000, 50000, 1e-5);
  const double paper = calibrated_risk_paper(0.1, 20000, 1e-5);
  EXPECT_LT(one_pass, paper);
  EXPECT_NEAR(one_pass, kl_inverse(0.1, std::log(1e5) / 50000), 1e-12);
  EXPECT_NEAR(paper, kl_inverse(0.1, std::log(2e5) / 20000), 1e-12);
  EXPECT_GE(pac_bayes_risk(one_pass, 0.01), one_pass);
  EXPECT_INPUT_ERROR(calibrated_risk(3, 2, 0.1), "failures: 3 is outside 0 .. 2");
  EXPECT_INPUT_ERROR(calibrated_risk_paper(0.1, 0, 0.1), "weight draws: 0 is below 1");
}

TEST(NetworkNormBound, IsExceededWithProbabilityAtMostDelta) {
  // A random two-layer ReLU network 4-6-3; inputs of norm at most 2.
  RandomStream random(7, "network norm", 0);
  const std::vector<Index> sizes{4, 6, 3};
  std::vector<Eigen::MatrixXd> mean, deviation;  // biases as the last column
  std::vector<LayerNorms> layers;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const Index inputs = sizes[layer];
    const Index outputs = sizes[layer + 1];
    mean.emplace_back(outputs, inputs + 1);
    deviation.emplace_back(outputs, inputs + 1);
    for (double& value : mean.back().reshaped()) value = 0.3 * random.normal();
    for (double& value : deviation.back().reshaped()) value = random.uniform(0.05, 0.5);
    const Eigen::MatrixXd variance = deviation.back().cwiseAbs2();
    layers.push_back({mean.back().leftCols(inputs).jacobiSvd().singularValues()[0],
                      mean.back().col(inputs).norm(),
                      std::max(variance.rowwise().sum().maxCoeff(), variance.colwise().sum().maxCoeff()),
                      inputs, outputs});
  }
  const double bound = network_norm_bound(layers, 2.0, 0.05);
  int exceeded = 0;
  double largest = 0;
  constexpr int draws = 20000;
  for (int draw = 0; draw < draws; ++draw) {
    Eigen::VectorXd value = Eigen::VectorXd::NullaryExpr(4, [&] { return random.normal(); });
    value *= 2.0 / value.norm();
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const Eigen::MatrixXd weights =
          mean[layer] + deviation[layer].cwiseProduct(Eigen::MatrixXd::NullaryExpr(
                            mean[layer].rows(), mean[layer].cols(), [&] { return random.normal(); }));
      const Index inputs = weights.cols() - 1;
      value = (weights.leftCols(inputs) * value + weights.col(inputs)).eval();
      if (layer == 0) value = value.cwiseMax(0.0);
    }
    exceeded += value.norm() > bound ? 1 : 0;
    largest = std::max(largest, value.norm());
  }
  EXPECT_LE(exceeded, 0.05 * draws);
  EXPECT_GT(largest, 0.0);
  EXPECT_GT(network_norm_bound(layers, 2.0, 0.01), bound);
}

}  // namespace
}  // namespace surefoot::bounds
