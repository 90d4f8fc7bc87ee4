#pragma once

#include "surefoot/algorithms/operator.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::algorithms {

/// A named block of weights, rows x cols numbers, row-major. All weights of a block share a prior variance.
struct WeightBlock {
  std::string name;
  Index rows = 0;
  Index cols = 1;
  [[nodiscard]] Index size() const { return rows * cols; }
};

/// The weights of a learned optimizer: its blocks one after the other in one vector. Every weight of the
/// layout acts on the K steps that are run: none is charged in the KL for nothing.
struct WeightLayout {
  std::vector<WeightBlock> blocks;
  [[nodiscard]] Index size() const;
  /// Position of the first weight of block b.
  [[nodiscard]] Index offset(std::size_t block) const;
};

/// Names the random weights of a block of lanes: lane j draws from the streams (seed, purpose, first_draw +
/// j). A purpose is used once in a project: calibration's differ from training's.
struct WeightDraw {
  std::uint64_t seed = 0;
  std::string_view purpose;
  std::uint64_t first_draw = 0;
};

/// Where training begins, and the means of the prior; neither may depend on the samples of a bound.
struct InitialWeights {
  std::vector<double> mean;        ///< w
  std::vector<double> prior_mean;  ///< w0
};

/// Numbers inside an operator: single is for training, double for certificates.
enum class Precision { single, twice };
std::string_view to_string(Precision precision);
Precision parse_precision(std::string_view name);

/// An optimizer with weights theta ~ N(w, diag s), each lane with a draw of its own: theta = w + sqrt(s) xi.
///
/// Life of a block: load(); draw() or use_means(); start(); step(0), ...; for training then
/// step_vjp(K-1), ..., step_vjp(0), start_vjp(); and after the last block of a worker collect(). step_vjp(k)
/// may use what the last step(k) left behind in the workspace: it must have been taken from the same z.
///
/// How a draw is made is the operator's business: it may draw pre-activations (a Gaussian layer's output
/// given its input) wherever that has the same law as drawing weights, and reports say so.
/// Unlike load() and step(), assign() changes the operator: no block may be under way.
class LearnedOperator : public Operator, public DifferentiableStep {
 public:
  /// "weights", or "pre-activations" where those are drawn instead.
  [[nodiscard]] std::string_view sampling() const override { return "weights"; }
  [[nodiscard]] virtual const WeightLayout& weights() const = 0;
  /// Zeros unless the operator knows better.
  [[nodiscard]] virtual InitialWeights initial() const;
  /// Means and variances (weights().size() each) that the following blocks run with.
  virtual void assign(std::span<const double> mean, std::span<const double> variance) = 0;

  /// Told when the data of the instances have been replaced by their owner; no block may be under way.
  virtual void instances_changed() {}

  /// Gives every lane of the loaded block weights of its own.
  virtual void draw(const WeightDraw& draw, Workspace& workspace) const = 0;
  /// Lets every lane of the loaded block run at the means.
  virtual void use_means(Workspace& workspace) const = 0;

  /// Told after load() if vjps will follow the steps and nobody else changes what calls leave for each other,
  /// states and cotangents: what a call knows of them may be used by the next. Cotangents begin with zeros.
  virtual void prepare_vjps(Workspace& /*workspace*/) const {}

  /// step() from one place to another; override it where that saves a copy.
  virtual void step_to(Index k, ConstBatch before, Batch after, Workspace& workspace) const;

  /// step_vjp (of DifferentiableStep) also adds to the workspace the derivatives by means and log variances;
  /// so does this for a start that depends on weights.
  virtual void start_vjp(ConstBatch cotangent, Workspace& workspace) const;
  /// Adds what the vjps of this workspace left behind to d_mean and d_log_variance, and clears it.
  virtual void collect(Workspace& workspace, std::span<double> d_mean,
                       std::span<double> d_log_variance) const = 0;

  /// For blocks of very many weights, whose derivatives are to be read once, where they are used: true for a
  /// block that collect_all() leaves out and collect_range() gives.
  [[nodiscard]] virtual bool collects_in_ranges(std::size_t /*block*/) const { return false; }
  /// collect() of several workspaces in their order, but for blocks that are collected in ranges.
  virtual void collect_all(std::span<Workspace* const> workspaces, std::span<double> d_mean,
                           std::span<double> d_log_variance) const;
  /// After collect_all(): adds the derivatives of weights begin .. end-1 of a block, counted from its first,
  /// and clears them. Called once for every weight, from any thread.
  virtual void collect_range(std::span<Workspace* const> workspaces, std::size_t block, Index begin,
                             Index end, double* d_mean, double* d_log_variance) const;

  [[nodiscard]] const DifferentiableStep* differentiable() const override { return this; }
};

}  // namespace surefoot::algorithms
