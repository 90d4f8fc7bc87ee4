#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/runs/metric.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::test {

/// The smallest learned optimizer: instance i adds its weight theta[cell_i] at every step, so z^k = k theta.
/// With one cell and targets x ~ N(mu, 1), k theta - x is normal and every risk is a number; with many cells
/// it can learn its samples by heart.
class ToyLearned final : public algorithms::LearnedOperator {
 public:
  ToyLearned(std::vector<Index> cells, Index cell_count) : cells_(std::move(cells)) {
    layout_.blocks = {{"theta", cell_count, 1}};
    mean_.assign(static_cast<std::size_t>(cell_count), 0.0);
    deviation_ = mean_;
  }

  [[nodiscard]] std::string_view name() const override { return "toy"; }
  [[nodiscard]] Index instances() const override { return static_cast<Index>(cells_.size()); }
  [[nodiscard]] Index state_size() const override { return 1; }
  [[nodiscard]] Index primal_size() const override { return 1; }
  [[nodiscard]] const algorithms::WeightLayout& weights() const override { return layout_; }
  void assign(std::span<const double> mean, std::span<const double> variance) override {
    mean_.assign(mean.begin(), mean.end());
    deviation_.assign(variance.begin(), variance.end());
    for (double& value : deviation_) value = std::sqrt(value);
  }

  [[nodiscard]] std::unique_ptr<algorithms::Workspace> make_workspace() const override {
    return std::make_unique<Room>();
  }
  void load(Index first, Index count, algorithms::Workspace& workspace) const override {
    Room& room = static_cast<Room&>(workspace);
    for (Index j = 0; j < width(); ++j)
      room.cell[static_cast<std::size_t>(j)] =
          static_cast<std::size_t>(cells_[static_cast<std::size_t>(first + std::min(j, count - 1))]);
  }
  void draw(const algorithms::WeightDraw& draw, algorithms::Workspace& workspace) const override {
    Room& room = static_cast<Room&>(workspace);
    for (std::size_t j = 0; j < room.cell.size(); ++j) {
      RandomStream random(draw.seed, draw.purpose, draw.first_draw + j);
      room.theta[j] = mean_[room.cell[j]] + deviation_[room.cell[j]] * random.normal();
    }
  }
  void use_means(algorithms::Workspace& workspace) const override {
    Room& room = static_cast<Room&>(workspace);
    for (std::size_t j = 0; j < room.cell.size(); ++j) room.theta[j] = mean_[room.cell[j]];
  }
  void start(algorithms::Batch z, algorithms::Workspace&) const override {
    for (Index j = 0; j < z.width; ++j) z.row(0)[j] = 0;
  }
  void step(Index, algorithms::Batch z, algorithms::Workspace& workspace, double* residual) const override {
    const Room& room = static_cast<const Room&>(workspace);
    for (Index j = 0; j < z.width; ++j) {
      const double theta = room.theta[static_cast<std::size_t>(j)];
      z.row(0)[j] += theta;
      if (residual != nullptr) residual[j] = std::abs(theta);
    }
  }
  void step_vjp(Index, algorithms::ConstBatch, algorithms::Batch, algorithms::Workspace&) const override {}
  void collect(algorithms::Workspace&, std::span<double>, std::span<double>) const override {}

 private:
  struct Room final : algorithms::Workspace {
    std::array<std::size_t, 8> cell{};
    std::array<double, 8> theta{};
  };
  algorithms::WeightLayout layout_;
  std::vector<Index> cells_;
  std::vector<double> mean_;
  std::vector<double> deviation_;
};

/// N(mean, variance) on every weight against N(0, lambda), lambda at grid position a.
inline learning::Posterior toy_posterior(const std::vector<double>& mean, double variance, Index position) {
  learning::Posterior posterior;
  const auto count = static_cast<Index>(mean.size());
  posterior.layout.blocks = {{"theta", count, 1}};
  auto& pair = posterior.gaussians;
  pair.mean = Eigen::Map<const Eigen::VectorXd>(mean.data(), count);
  pair.log_variance = Eigen::VectorXd::Constant(count, std::log(variance));
  pair.prior_mean = Eigen::VectorXd::Zero(count);
  pair.group_size = {count};
  pair.prior_log_variance = Eigen::VectorXd::Constant(1, posterior.grid.log_lambda(position));
  posterior.metadata = {{"model", "toy"}};
  return posterior;
}

/// |z^k - x_i|.
inline runs::Metric toy_metric(std::vector<double> targets) {
  return runs::own_metric(
      "distance", [targets = std::move(targets)](const runs::MetricInput& input, double* value) {
        for (Index j = 0; j < input.iterate.width; ++j) {
          const Index i = input.first + std::min(j, input.count - 1);
          value[j] = std::abs(input.iterate.row(0)[j] - targets[static_cast<std::size_t>(i)]);
        }
      });
}

/// P(|k theta - x| < eps) for theta ~ N(w, s), x ~ N(mu, 1).
inline double toy_success(Index k, double w, double s, double mu, double eps) {
  const double steps = static_cast<double>(k);
  const double mean = steps * w - mu;
  const double deviation = std::sqrt(steps * steps * s + 1.0);
  const auto cdf = [&](double t) { return 0.5 * std::erfc(-(t - mean) / (deviation * std::sqrt(2.0))); };
  return cdf(eps) - cdf(-eps);
}

}  // namespace surefoot::test
