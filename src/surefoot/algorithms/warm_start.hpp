#pragma once

#include "surefoot/algorithms/detail/relu_network.hpp"
#include "surefoot/problems/matrix.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace surefoot::algorithms {

struct WarmStartOptions {
  std::vector<Index> hidden{10};  ///< sizes of the hidden layers
  /// What the network sees of parameter i: (x_i - input_center_i) / input_scale_i; empty: 0 and 1. From the
  /// family's definition or from other samples, never from those of a bound.
  problems::Vector input_center;
  problems::Vector input_scale;
  double output_scale = 1;  ///< what the network says times this is the start, > 0
  Index outputs = 0;        ///< leading numbers of the start that are predicted, others cold; 0: all
  Sampling sampling = Sampling::pre_activations;
  /// Of the means that training begins with, N(0, this^2); 0: by a layer's inputs n, weights N(0, 2 / n),
  /// biases N(0, 1 / n) (K. He et al., "Delving deep into rectifiers", ICCV 2015).
  double initial_deviation = 0.01;
  double initial_bias = 0;  ///< added to the biases of hidden layers: keeps units from being cut off
  std::uint64_t seed = 0;   ///< of the means

  /// start_size: numbers of a start.
  void validate(Index parameters, Index start_size) const;
};

/// A learned start of a classical optimizer: z^0 = output_scale network((x - center) / scale) from the
/// parameter x of the instance, then the optimizer's own steps, z^{k+1} = T_k(z^k, x). The network's start is
/// in units of the optimizer's state: its rows, or the numbers that start_from() takes. R. Sambharya, G.
/// Hall, B. Amos, B. Stellato, "Learning to warm-start fixed-point optimization algorithms", JMLR 25, 2024.
class WarmStart final : public LearnedOperator {
 public:
  /// parameters: one row per instance of the solver, whose step must be differentiable.
  WarmStart(std::shared_ptr<const Operator> solver, std::shared_ptr<const problems::Table> parameters,
            WarmStartOptions options = {});

  [[nodiscard]] const ReluNetwork& network() const { return network_; }
  [[nodiscard]] const WarmStartOptions& options() const { return options_; }
  /// The largest norm of what the network sees over these parameters.
  [[nodiscard]] double largest_input() const;

  [[nodiscard]] std::string_view name() const override { return name_; }
  /// The network's, and those of the optimizer that it starts.
  [[nodiscard]] Settings settings() const override;
  [[nodiscard]] std::string_view sampling() const override { return to_string(options_.sampling); }
  [[nodiscard]] Index instances() const override { return solver_->instances(); }
  [[nodiscard]] Index state_size() const override { return solver_->state_size(); }
  [[nodiscard]] Index iterate_size() const override { return solver_->iterate_size(); }
  [[nodiscard]] Index primal_size() const override { return solver_->primal_size(); }
  [[nodiscard]] Index width() const override { return solver_->width(); }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override { return solver_->knows(quantity); }
  void prepare_measures(Workspace& workspace) const override;
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;

  [[nodiscard]] const WeightLayout& weights() const override { return network_.layout(); }
  /// Means by initial_deviation, hidden biases around initial_bias; prior means zero.
  [[nodiscard]] InitialWeights initial() const override;
  void assign(std::span<const double> mean, std::span<const double> variance) override;
  void draw(const WeightDraw& draw, Workspace& workspace) const override;
  void use_means(Workspace& workspace) const override;
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override;
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override;
  void start_vjp(ConstBatch cotangent, Workspace& workspace) const override;
  void collect(Workspace& workspace, std::span<double> d_mean,
               std::span<double> d_log_variance) const override;

 private:
  struct Room;
  std::shared_ptr<const Operator> solver_;
  Index start_size_ = 0;  // numbers of a start
  std::shared_ptr<const problems::Table> parameters_;
  WarmStartOptions options_;
  ReluNetwork network_;
  std::string name_;
};

}  // namespace surefoot::algorithms
