#include "surefoot/algorithms/code_networks.hpp"

#include "surefoot/algorithms/alista.hpp"
#include "surefoot/algorithms/glista.hpp"
#include "surefoot/algorithms/lista.hpp"
#include "surefoot/algorithms/tilista.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/testing/operator_contract.hpp"

#include "support/dense_codes.hpp"
#include "support/input_error.hpp"
#include "support/simulations.hpp"

#include <gtest/gtest.h>

namespace surefoot::algorithms {
namespace {

using problems::Matrix;
using problems::Vector;

constexpr Index layers = 4;

SharedCodes small_codes(Index count = 40) {
  return std::make_shared<problems::SparseCodes>(
      families::SparseCoding(3, {.measurements = 20, .variables = 37, .density = 0.15})
          .draw(families::SampleSet::training, count));
}

/// Weights at which a run is interesting: steps and thresholds that select, all entries different.
struct Weights {
  std::vector<double> mean;
  std::vector<double> variance;
};
Weights weights_for(const LearnedOperator& op, double threshold, double variance) {
  Weights weights{op.initial().mean, {}};
  RandomStream stream(5, "test weights", 0);
  for (std::size_t b = 0; b < op.weights().blocks.size(); ++b) {
    const WeightBlock& block = op.weights().blocks[b];
    const Index first = op.weights().offset(b);
    for (Index i = first; i < first + block.size(); ++i) {
      if (block.name == "threshold") weights.mean[i] = threshold;
      if (block.name == "overshoot") weights.mean[i] = 0.2;
      if (block.cols == 1) weights.mean[i] *= stream.uniform(0.8, 1.0);
    }
  }
  weights.variance.assign(weights.mean.size(), variance);
  return weights;
}

void expect_learned_contract(LearnedOperator& op, double variance = 1e-4) {
  const Weights weights = weights_for(op, 0.15, variance);
  op.assign(weights.mean, weights.variance);
  testing::expect_operator_contract(op, {}, {.steps = layers});
  testing::expect_weight_vjp_matches_differences(op, layers, weights.mean, weights.variance, 1e-5);
}

TEST(CodeNetworks, RunOnSamplesThatReplacedOthers) {
  const SharedCodes original = small_codes();
  const auto codes = std::make_shared<problems::SparseCodes>(*original);
  for (const std::string_view name : code_network_names) {
    *codes = *original;
    const auto op = make_code_network(name, codes, {.steps = layers});
    families::flip_signs(*original, 1, 0, *codes);
    op->instances_changed();
    const auto same = make_code_network(name, codes, {.steps = layers});
    const auto other = make_code_network(name, original, {.steps = layers});
    const Weights weights = weights_for(*op, 0.15, 0);
    const auto iterates = [&](LearnedOperator& each) {
      each.assign(weights.mean, weights.variance);
      runs::RunOptions options;
      options.steps = layers;
      return runs::run_iterates(certify::SampledOperator(each), {}, options);
    };
    EXPECT_EQ(iterates(*op), iterates(*same)) << name;
    EXPECT_NE(iterates(*op), iterates(*other)) << name;
  }
}

TEST(Alista, PassesTheContract) {
  expect_learned_contract(*make_alista(small_codes(), {.steps = layers}));
}
TEST(Glista, PassesTheContract) {
  expect_learned_contract(*make_glista(small_codes(), {.steps = layers}));
}
TEST(Tilista, PassesTheContract) {
  const auto op = make_tilista(small_codes(), {.steps = layers});
  expect_learned_contract(*op, 0.0);
  // A step's derivative is exact with noise, too; through several it is up to the order of the variance.
  const Weights weights = weights_for(*op, 0.15, 1e-4);
  op->assign(weights.mean, weights.variance);
  testing::expect_operator_contract(*op, {}, {.steps = layers});
  testing::expect_weight_vjp_matches_differences(*op, 1, weights.mean, weights.variance, 1e-5);
}
TEST(Lista, PassesTheContractWithOneVarianceAndWithMany) {
  const auto op = make_lista(small_codes(), {.steps = layers});
  expect_learned_contract(*op);
  Weights weights = weights_for(*op, 0.15, 1e-4);
  RandomStream stream(6, "test variances", 0);
  for (double& variance : weights.variance) variance *= stream.uniform(0.2, 2.0);
  op->assign(weights.mean, weights.variance);
  testing::expect_operator_contract(*op, {}, {.steps = layers});
  testing::expect_weight_vjp_matches_differences(*op, layers, weights.mean, weights.variance, 1e-5);
}

// The formulas of the headers for one instance, with weights drawn one by one.
struct PlainRun {
  const problems::SparseCodes& codes;
  std::vector<double> theta;
  const WeightLayout& layout;
  Vector b;

  [[nodiscard]] double number(const std::string& block, Index k) const {
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
      if (layout.blocks[i].name == block) return theta[layout.offset(i) + k];
    }
    throw std::logic_error(block);
  }
  [[nodiscard]] Matrix matrix(const std::string& block, Index row, Index rows) const {
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
      const Index cols = layout.blocks[i].cols;
      if (layout.blocks[i].name == block)
        return Eigen::Map<const problems::Table>(theta.data() + layout.offset(i) + row * cols, rows, cols);
    }
    throw std::logic_error(block);
  }
  static Vector soft_all(const Vector& u, double t) {
    return u.unaryExpr([t](double x) { return std::copysign(std::max(std::abs(x) - t, 0.0), x); });
  }
  [[nodiscard]] Vector step(const std::string& model, Index k, const Vector& z) const {
    const Index n = codes.variables();
    if (model == "lista") {
      Vector a = matrix("observation", k * n, n) * b;
      if (k > 0) a += matrix("recurrence", (k - 1) * n, n) * z;
      return soft_all(a, number("threshold", k));
    }
    const Matrix W = model == "tilista" ? matrix("matrix", 0, b.size()) : analytic_weights(codes.D);
    const double gamma = number("step", k);
    const double psi = number("threshold", k);
    if (model != "glista") return soft_all(z - gamma * W.transpose() * (codes.D * z - b), psi);
    Vector x = z;
    for (Index i = 0; k > 0 && i < n; ++i)
      x[i] *= 1 + number("gain", k - 1) * psi * std::exp(-number("decay", k - 1) * std::abs(z[i]));
    const Vector tilde = soft_all(x - gamma * W.transpose() * (codes.D * x - b), psi);
    Vector next(n);
    for (Index i = 0; i < n; ++i) {
      const double o = 1 + number("overshoot", k) / (std::abs(tilde[i] - z[i]) + 0.1);
      next[i] = o * tilde[i] + (1 - o) * z[i];
    }
    return next;
  }
  [[nodiscard]] Vector run(const std::string& model, Index steps) const {
    Vector z = Vector::Zero(codes.variables());
    for (Index k = 0; k < steps; ++k) z = step(model, k, z);
    return z;
  }
};

std::unique_ptr<LearnedOperator> make(const std::string& model, const SharedCodes& codes,
                                      Precision precision = Precision::twice) {
  const CodeNetworkOptions options{.steps = layers, .precision = precision};
  if (model == "alista") return make_alista(codes, options);
  if (model == "glista") return make_glista(codes, options);
  if (model == "tilista") return make_tilista(codes, options);
  return make_lista(codes, options);
}

const std::vector<std::string> models{"alista", "glista", "tilista", "lista"};

TEST(CodeNetworks, AtTheMeansAreTheirFormulas) {
  const SharedCodes codes = small_codes(5);
  for (const std::string& model : models) {
    const auto op = make(model, codes);
    const Weights weights = weights_for(*op, 0.1, 0.0);
    op->assign(weights.mean, weights.variance);
    testing::OperatorBlock block(*op, 0, 5, false);
    for (Index k = 0; k < layers; ++k) block.step(k);
    for (Index i = 0; i < 5; ++i) {
      const PlainRun plain{*codes, weights.mean, op->weights(), codes->b.row(i).transpose()};
      const Vector z = plain.run(model, layers);
      for (Index r = 0; r < z.size(); ++r)
        ASSERT_NEAR(block.state()[r * op->width() + i], z[r], 1e-12) << model << " " << i << " " << r;
    }
    EXPECT_INPUT_ERROR(block.step(layers),
                       fmt::format("step: {} of a network with {} layers", layers, layers))
        << "there is no layer K";
  }
}

TEST(CodeNetworks, SinglePrecisionAgreesWithDouble) {
  const SharedCodes codes = small_codes(5);
  for (const std::string& model : models) {
    const auto twice = make(model, codes);
    const auto once = make(model, codes, Precision::single);
    const Weights weights = weights_for(*twice, 0.1, 1e-6);
    for (LearnedOperator* op : {twice.get(), once.get()}) op->assign(weights.mean, weights.variance);
    testing::OperatorBlock a(*twice, 0, 5, false);
    testing::OperatorBlock b(*once, 0, 5, false);
    for (Index k = 0; k < layers; ++k) a.step(k), b.step(k);
    for (std::size_t i = 0; i < a.state().size(); ++i) ASSERT_NEAR(a.state()[i], b.state()[i], 1e-5) << model;
  }
}

// Pre-activations (LISTA) and products through the basis of the residuals (TiLISTA) have the law of drawn
// weights: distances to the code after K steps agree in mean, variance and failures.
/// One instance in every lane.
SharedCodes one_code_everywhere() {
  auto codes = std::make_shared<problems::SparseCodes>(*small_codes(1));
  const problems::SparseCodes one = *codes;
  codes->b = one.b.replicate(code_lanes, 1).eval();
  for (int lane = 1; lane < code_lanes; ++lane) {
    codes->entry.insert(codes->entry.end(), one.entry.begin(), one.entry.end());
    codes->value.insert(codes->value.end(), one.value.begin(), one.value.end());
    codes->begin.push_back(static_cast<Index>(codes->entry.size()));
  }
  return codes;
}

TEST(CodeNetworks, DrawsHaveTheLawOfDrawnWeights) {
  const SharedCodes codes = one_code_everywhere();
  const Vector solution = test::dense_codes(*codes).row(0).transpose();
  for (const std::string& model : models) {
    const auto op = make(model, codes);
    const Weights weights = weights_for(*op, 0.1, 4e-3);
    op->assign(weights.mean, weights.variance);
    const Index runs = ::test_support::simulations(6400);
    std::vector<double> fast;
    std::vector<double> first_entry;
    for (Index first = 0; first < runs; first += op->width()) {
      testing::OperatorBlock block(*op, 0, op->width());
      op->draw({1, "law", static_cast<std::uint64_t>(first)}, block.workspace());
      for (Index k = 0; k < layers; ++k) block.step(k);
      for (Index lane = 0; lane < op->width(); ++lane) {
        double sum = 0;
        for (Index i = 0; i < solution.size(); ++i)
          sum += std::pow(block.state()[i * op->width() + lane] - solution[i], 2);
        fast.push_back(std::sqrt(sum));
      }
    }
    std::vector<double> slow;
    for (Index run = 0; run < runs; ++run) {
      RandomStream stream(2, "law", static_cast<std::uint64_t>(run));
      PlainRun plain{*codes, weights.mean, op->weights(), codes->b.row(0).transpose()};
      for (std::size_t i = 0; i < plain.theta.size(); ++i)
        plain.theta[i] += std::sqrt(weights.variance[i]) * stream.normal();
      slow.push_back((plain.run(model, layers) - solution).norm());
    }
    const auto moments = [](const std::vector<double>& v) {
      const Eigen::Map<const Eigen::ArrayXd> a(v.data(), static_cast<Index>(v.size()));
      return std::pair(a.mean(), (a - a.mean()).square().mean());
    };
    const auto [fast_mean, fast_variance] = moments(fast);
    const auto [slow_mean, slow_variance] = moments(slow);
    const double n = static_cast<double>(runs);
    EXPECT_NEAR(fast_mean, slow_mean, 4 * std::sqrt(2 * slow_variance / n)) << model;
    EXPECT_NEAR(fast_variance / slow_variance, 1, 12 / std::sqrt(n)) << model;
    std::vector<double> sorted = slow;
    std::sort(sorted.begin(), sorted.end());
    for (const double quantile : {0.1, 0.5, 0.9}) {
      const double tolerance = sorted[static_cast<std::size_t>(quantile * n)];
      const auto failures = std::count_if(fast.begin(), fast.end(), [&](double x) { return x >= tolerance; });
      EXPECT_NEAR(static_cast<double>(failures) / n, 1 - quantile,
                  4 * std::sqrt(2 * quantile * (1 - quantile) / n))
          << model << " " << quantile;
    }
  }
}

TEST(Lista, DoesWhatAlistaDoesWithItsWeights) {
  const SharedCodes codes = small_codes(5);
  const auto alista = make("alista", codes);
  const auto lista = make("lista", codes);
  const Weights weights = weights_for(*alista, 0.1, 0.0);
  alista->assign(weights.mean, weights.variance);
  const std::span<const double> all(weights.mean);
  const std::vector<double> same = lista_from_alista(codes->D, all.first(layers), all.subspan(layers));
  lista->assign(same, std::vector<double>(same.size(), 0.0));
  testing::OperatorBlock a(*alista, 0, 5, false);
  testing::OperatorBlock b(*lista, 0, 5, false);
  for (Index k = 0; k < layers; ++k) a.step(k), b.step(k);
  for (std::size_t i = 0; i < a.state().size(); ++i) ASSERT_NEAR(a.state()[i], b.state()[i], 1e-12);
}

TEST(Tilista, RefusesVariancesThatDiffer) {
  const auto op = make_tilista(small_codes(), {.steps = layers});
  Weights weights = weights_for(*op, 0.1, 1e-4);
  weights.variance.back() = 2e-4;
  EXPECT_INPUT_ERROR(op->assign(weights.mean, weights.variance), "variance");
}

TEST(AnalyticWeights, SatisfyTheirConstraintsAndConditions) {
  const Matrix D = families::SparseCoding(4, {.measurements = 12, .variables = 30}).dictionary();
  const Matrix W = analytic_weights(D);
  const Matrix G = W.transpose() * D;
  EXPECT_LT((G.diagonal().array() - 1).abs().maxCoeff(), 1e-12);
  // Stationarity of ||W'D||_F^2 under w_i'd_i = 1: DD'w_i is parallel to d_i.
  for (Index i = 0; i < D.cols(); ++i) {
    const Vector gradient = D * (D.transpose() * W.col(i));
    EXPECT_LT((gradient - gradient.dot(D.col(i)) * D.col(i)).norm(), 1e-10);
  }
}

TEST(CodeNetworks, ChargeNoWeightThatDoesNotAct) {
  const SharedCodes codes = small_codes(3);
  EXPECT_EQ(make("alista", codes)->weights().size(), 2 * layers);
  EXPECT_EQ(make("glista", codes)->weights().size(), 5 * layers - 2);
  EXPECT_EQ(make("tilista", codes)->weights().size(), 2 * layers + 20 * 37);
  EXPECT_EQ(make("lista", codes)->weights().size(), layers + (layers - 1) * 37 * 37 + layers * 37 * 20);
}

}  // namespace
}  // namespace surefoot::algorithms
