#include "surefoot/algorithms/alista.hpp"
#include "surefoot/algorithms/glista.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/families/sparse_coding.hpp"

#include "support/operator_contract.hpp"

#include <gtest/gtest.h>

namespace surefoot::algorithms {
namespace {

using problems::Matrix;
using problems::Vector;

constexpr Index K = 4;

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
  testing::expect_operator_contract(op, {}, {.steps = K});
  testing::expect_weight_vjp_matches_differences(op, K, weights.mean, weights.variance, 1e-5);
}

TEST(Alista, PassesTheContract) {
  expect_learned_contract(*make_alista(small_codes(), {.steps = K}));
}
TEST(Glista, PassesTheContract) {
  expect_learned_contract(*make_glista(small_codes(), {.steps = K}));
}

}  // namespace
}  // namespace surefoot::algorithms
