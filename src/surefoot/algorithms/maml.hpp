#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/problems/regression_tasks.hpp"

#include <cstdint>
#include <memory>

namespace surefoot::algorithms {

struct MamlOptions {
  Index hidden = 40;   ///< units of each of the two hidden layers
  double step = 0.01;  ///< gamma of the inner steps; 0: the start stays, for training without adaptation
  Precision precision = Precision::twice;  ///< of the inner steps and losses
  double initial_deviation = 0.01;  ///< of the means that training begins with; 0: sqrt(2 / inputs), biases 0
  std::uint64_t seed = 0;           ///< of these

  void validate() const;
};

/// Model-agnostic meta-learning: the state z holds all weights of a network 1-H-H-1 with ReLU, the start is
/// the drawn meta weights theta, and a step learns from the task's own points:
///   z+ = z - gamma grad L(z),  L(z) = mean_i (g_z(a_i) - y_i)^2 over the training points.
/// step_vjp is exact second order: c - gamma H c with the Hessian of L applied to c (B. Pearlmutter, "Fast
/// exact multiplication by the Hessian", Neural Computation 6, 1994). Quantities: objective, the mean squared
/// error over the test points; largest_error, the largest |g_z(a_i) - y_i| there. Blocks of weights: weight0
/// (H), bias0, weight1 (H x H, row j leads from unit j of the first layer), bias1, weight2 (H), bias2 (1).
/// C. Finn, P. Abbeel, S. Levine, "Model-agnostic meta-learning for fast adaptation of deep networks", ICML
/// 2017.
std::unique_ptr<LearnedOperator> make_maml(std::shared_ptr<const problems::RegressionTasks> tasks,
                                           MamlOptions options = {});

/// g_z at the given inputs, for pictures: z as read() gives it.
problems::Vector maml_curve(const problems::Vector& z, const problems::Vector& inputs);

}  // namespace surefoot::algorithms
