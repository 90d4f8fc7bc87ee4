#pragma once

#include "surefoot/algorithms/operator.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace surefoot::learning {

enum class LossKind {
  regression,  ///< ||z^k - z*||^2
  nmse,        ///< ||z^k - z*||^2 / ||z*||^2; the metric of certificates is 10 log10 of it
  objective,   ///< the operator's objective at z^k
  optimality,  ///< the operator's optimality residual at z^k
  residual,    ///< ||z^k - z^{k-1}||
};
std::string_view to_string(LossKind kind);
LossKind parse_loss(std::string_view name);
/// Whether it is a quantity that the operator measures.
bool is_measured(LossKind kind);
/// Whether it needs Loss::target.
bool compares_with_solutions(LossKind kind);

/// What a run is trained for, one number per instance: the loss of the last iterate, or a weighted sum over
/// steps. Losses of an iterate see the operator's state.
struct Loss {
  LossKind kind = LossKind::nmse;
  /// z* of instances first .. first+count-1 (lanes from `count` on repeat the last), for regression and nmse:
  /// state_size() x width.
  std::function<void(Index first, Index count, algorithms::Batch target)> target;
  /// Weights of the losses after 1, 2, ..., K steps; empty: the last alone.
  std::vector<double> step_weights;

  void validate(Index steps) const;
  /// Weight of the loss after k steps, 1 <= k <= steps.
  [[nodiscard]] double weight(Index k, Index steps) const;
};

}  // namespace surefoot::learning
