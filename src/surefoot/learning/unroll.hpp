#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/learning/loss.hpp"

#include <memory>
#include <span>

namespace surefoot::learning {

/// The only reverse sweep: K steps of a block of instances, their states kept, then the derivatives of the
/// losses back through them. One per thread.
class Unroll {
 public:
  /// The operator and the loss must outlive it.
  Unroll(const algorithms::LearnedOperator& op, const Loss& loss, Index steps);

  /// Runs instances first .. first+count-1 with weights of their own (`draw`) or at the means (null), and
  /// writes the loss of each, `count` numbers; one that is not finite is infinity.
  void forward(Index first, Index count, const algorithms::WeightDraw* draw, double* losses);
  /// Adds sum_j seed_j d loss_j / d(means, log variances) of the block that forward() ran; instances whose
  /// loss is infinite are left out.
  void backward(const double* seed);
  /// Holds what backward() has summed up, for the operator's collect().
  [[nodiscard]] algorithms::Workspace& workspace() { return *workspace_; }

 private:
  [[nodiscard]] algorithms::Batch state(Index k);
  void add_loss(Index k, double weight);
  void add_cotangent(Index k, double weight, const double* seed);

  const algorithms::LearnedOperator& op_;
  const Loss& loss_;
  Index steps_;
  Index width_;
  Index rows_;
  Index count_ = 0;
  std::unique_ptr<algorithms::Workspace> workspace_;
  algorithms::Buffer states_;     // (K + 1) x rows x width
  algorithms::Buffer target_;     // rows x width
  algorithms::Buffer scale_;      // per lane: 1 or 1 / ||z*||^2
  algorithms::Buffer loss_sum_;   // per lane
  algorithms::Buffer value_;      // per lane
  algorithms::Buffer cotangent_;  // rows x width
  algorithms::Buffer carried_;    // rows x width: what the residual hands to the iterate before
};

}  // namespace surefoot::learning
