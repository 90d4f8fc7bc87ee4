#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/problems/matrix.hpp"

#include <functional>
#include <memory>
#include <string>

namespace surefoot::runs {

/// What a user's own metric sees after k steps: iterates of instances first .. first + count - 1, entry i of
/// instance first + j at iterate.row(i)[j]; lanes from `count` on repeat the last instance.
struct MetricInput {
  algorithms::ConstBatch iterate;
  Index k = 0;
  Index first = 0;
  Index count = 0;
};

/// How good an iterate is, smaller is better; one number per instance and step. Row k of a trace uses what k
/// applications of the step can tell: phi(z^k) with k = 0, 1, ... for a metric of an iterate, ||z^k -
/// z^{k-1}|| with k = 1, 2, ... for the fixed-point residual.
struct Metric {
  enum class Kind { residual, quantity, objective_gap, distance, nmse, block_distance, own };
  using Own = std::function<void(const MetricInput& input, double* value)>;

  std::string name;
  std::string unit;
  Kind kind = Kind::residual;
  algorithms::Quantity quantity = algorithms::Quantity::objective;
  std::shared_ptr<const problems::Table> reference;  ///< one row per instance
  Index first = 0;                                   ///< entries of the iterate that are compared
  Index count = 0;
  Index block = 0;  ///< entries per block
  Own own;

  /// The step of a trace's first column: 1 for the residual, 0 for others.
  [[nodiscard]] Index first_step() const { return kind == Kind::residual ? 1 : 0; }
};

using Solutions = std::shared_ptr<const problems::Table>;

/// ||z^k - z^{k-1}||_2 of the operator's fixed-point vector.
Metric fixed_point_residual();
/// The operator's quantity: primal residual, dual residual, constraint violation, objective.
Metric quantity(algorithms::Quantity quantity);
/// |f(x) - f*|; optima: N x 1.
Metric objective_gap(Solutions optima);
/// ||z - z*||_2 over entries first .. first + count - 1 of the iterate; count 0: all columns of `solutions`,
/// which has one row per instance and holds the compared entries only.
Metric distance(Solutions solutions, Index first = 0, Index count = 0);
/// 10 log10(||z - z*||^2 / ||z*||^2) in dB over the same entries; never below -3000 dB. Norms are of numbers
/// of any size, without overflow; not a number, which is a failure, where z* = z = 0.
Metric nmse(Solutions solutions, Index first = 0, Index count = 0);
/// The largest ||z_B - z*_B||_2 over consecutive blocks B of `block` entries: states of a trajectory.
Metric block_distance(Solutions solutions, Index block, Index first = 0, Index count = 0);
/// A user's own.
Metric own_metric(std::string name, Metric::Own function, std::string unit = "");

/// Evaluates one metric on the blocks of one thread.
class MetricRoom {
 public:
  /// Throws InputError if the metric does not fit the operator.
  MetricRoom(const Metric& metric, const algorithms::Operator& op);
  void load(Index first, Index count);
  /// Another instance in one lane; not for a user's own metric.
  void load_lane(Index lane, Index instance);
  /// One number per lane, after k steps; not for the residual.
  void evaluate(Index k, algorithms::ConstBatch z, algorithms::Workspace& workspace, double* value);

 private:
  template <int L>
  void compare(Index first_lane, double* value) const;
  [[nodiscard]] double decibels(Index lane, double squares) const;
  /// The largest distance of a block, whatever the size of its numbers.
  [[nodiscard]] double largest_distance(Index lane, Index block) const;
  [[nodiscard]] double reference_norm(Index lane) const;

  const Metric& metric_;
  const algorithms::Operator& op_;
  Index first_ = 0;
  Index count_ = 0;
  problems::Vector reference_;  // count x width lanes
  problems::Vector squares_;    // per lane: ||z*||^2
  problems::Vector iterate_;
};

}  // namespace surefoot::runs
