#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/runs/metric.hpp"
#include "surefoot/runs/run.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace surefoot::certify {

/// Purposes of the random streams that weights are drawn from here; training has others.
inline constexpr std::string_view stratified_purpose = "calibration weights";
inline constexpr std::string_view paper_purpose = "calibration weights, shared";
inline constexpr std::string_view hold_out_purpose = "hold-out weights";

/// A learned optimizer with its weights, as an ordinary one: load() also gives every lane its weights, so
/// that runs::run() stays the only loop. Instance i draws from the stream (seed, purpose, repeat x instances
/// + i); or every instance runs at the means.
class SampledOperator final : public algorithms::Operator {
 public:
  /// Runs at the means.
  explicit SampledOperator(const algorithms::LearnedOperator& op) : op_(op) {}
  SampledOperator(const algorithms::LearnedOperator& op, std::uint64_t seed, std::string_view purpose,
                  Index repeat)
      : op_(op),
        draws_(true),
        base_{seed, purpose,
              static_cast<std::uint64_t>(repeat) * static_cast<std::uint64_t>(op.instances())} {}

  [[nodiscard]] std::string_view name() const override { return op_.name(); }
  [[nodiscard]] algorithms::Settings settings() const override { return op_.settings(); }
  /// "means" where nothing is drawn.
  [[nodiscard]] std::string_view sampling() const override { return draws_ ? op_.sampling() : "means"; }
  [[nodiscard]] Index instances() const override { return op_.instances(); }
  [[nodiscard]] Index state_size() const override { return op_.state_size(); }
  [[nodiscard]] Index iterate_size() const override { return op_.iterate_size(); }
  [[nodiscard]] Index primal_size() const override { return op_.primal_size(); }
  [[nodiscard]] Index width() const override { return op_.width(); }
  [[nodiscard]] std::unique_ptr<algorithms::Workspace> make_workspace() const override {
    return op_.make_workspace();
  }
  void load(Index first, Index count, algorithms::Workspace& workspace) const override;
  void start(algorithms::Batch z, algorithms::Workspace& workspace) const override {
    op_.start(z, workspace);
  }
  void step(Index k, algorithms::Batch z, algorithms::Workspace& workspace, double* residual) const override {
    op_.step(k, z, workspace, residual);
  }
  void read(algorithms::ConstBatch z, algorithms::Workspace& workspace, Index first, Index count,
            double* out) const override {
    op_.read(z, workspace, first, count, out);
  }
  void write(algorithms::ConstBatch iterate, algorithms::Workspace& workspace,
             algorithms::Batch z) const override {
    op_.write(iterate, workspace, z);
  }
  [[nodiscard]] bool knows(algorithms::Quantity quantity) const override { return op_.knows(quantity); }
  void prepare_measures(algorithms::Workspace& workspace) const override { op_.prepare_measures(workspace); }
  void measure(algorithms::Quantity quantity, Index k, algorithms::ConstBatch z,
               algorithms::Workspace& workspace, double* value) const override {
    op_.measure(quantity, k, z, workspace, value);
  }

 private:
  const algorithms::LearnedOperator& op_;
  bool draws_ = false;
  algorithms::WeightDraw base_;
};

/// What runs with which weights: the operator is told to run with the posterior's.
struct LearnedModel {
  algorithms::LearnedOperator& op;
  const learning::Posterior& posterior;
  runs::Metric metric;
  Index steps = 0;          ///< K
  std::string name = {};    ///< of the variant; empty: the operator's
  std::string source = {};  ///< of the weights: file name; empty: "weights"
  std::string precision = "double";
};

struct CalibrationOptions {
  Design design = Design::stratified;
  Index draws = 1;          ///< R independent weight vectors per sample, or H for all samples
  Index seed = 0;           ///< of the drawn weights
  Index first = 0;          ///< first of the bound's samples: instances of the operator
  Index count = 0;          ///< N; 0: all from `first` on
  Index prior_samples = 0;  ///< other samples that the prior mean was trained on
  std::optional<SampleRange> samples = std::nullopt;  ///< the ones counted, for the record
  /// Told the runs done so far and in all, from time to time.
  std::function<void(Index done, Index all)> progress = nullptr;
  CountJournal* journal = nullptr;  ///< the runs are a piece of it

  void validate() const;
};

/// Runs the posterior on the bound's samples and counts the failures at all steps and tolerances of the
/// resolved options in one pass. InputError unless the weights fit and the prior is on its grid.
Calibrated calibrate(const LearnedModel& model, const PacBayesOptions& resolved_options,
                     const CalibrationOptions& options);

struct HoldOutOptions {
  bool at_means = false;  ///< the deterministic network; otherwise fresh weights for every sample
  Index seed = 0;         ///< of the drawn weights
  Index first = 0;        ///< first of the fresh samples
  Index count = 0;        ///< 0: all from `first` on
  std::optional<SampleRange> samples = std::nullopt;  ///< the ones counted, for the record
  CountJournal* journal = nullptr;                    ///< the runs of each model are a piece of it
};

/// Certifies on samples that training has not seen: pairs of fresh weights and a fresh problem are
/// independent and of one distribution, so counting is exact, quantiles by order statistics included.
Certificate certify_hold_out(const LearnedModel& model, Options options, const HoldOutOptions& hold_out);
/// Several on the same samples and metric, within one confidence budget: one may then choose among them.
Certificate certify_hold_out(const std::vector<LearnedModel>& models, Options options,
                             const HoldOutOptions& hold_out);

/// The steps that a run of K steps records for the metric.
std::vector<Index> recorded_steps(const runs::Metric& metric, Index steps);

}  // namespace surefoot::certify
