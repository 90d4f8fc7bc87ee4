#pragma once

#include "surefoot/core/family_key.hpp"
#include "surefoot/experiments/field.hpp"
#include "surefoot/families/family_key.hpp"
#include "surefoot/families/sparse_coding_files.hpp"
#include "surefoot/learning/loss.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/learning/train.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

/// The registry of learned optimizers: which model runs on which family, with which settings. A learned
/// optimizer is an alternative of LearnedOptions, its fields in visit_network() and a row of
/// learned_optimizers(); training files, metadata of weights, checkpoints and `calibrate` follow from these.
/// What runs it (`bench`) is in learned_NAME.cpp, see learned_bench.hpp.
namespace surefoot::experiments {

struct BenchRequest;
struct LearnedBench;
struct LearnedSetting;
struct StepNumbers;

/// Learned soft-thresholding (ALISTA, GLISTA, TiLISTA, LISTA) of sparse codes; the model's name tells which.
struct CodeNetworks {
  families::SparseCodingOptions family = {};
  families::SparseCodingFiles files = {};  ///< what of it is the user's own
  [[nodiscard]] Index unrolled(Index steps) const { return steps; }
  /// Reads the files.
  [[nodiscard]] families::OwnSparseCoding law(std::uint64_t seed) const;
  [[nodiscard]] LearnedBench bench(const LearnedSetting& setting, const BenchRequest& request) const;
  [[nodiscard]] double numbers_by_sample(const LearnedSetting& setting,
                                         algorithms::Precision precision) const;
  [[nodiscard]] StepNumbers numbers_by_step(const LearnedSetting& setting) const;
  /// LISTA and TiLISTA can begin as ALISTA.
  [[nodiscard]] std::vector<double> converted_means(const LearnedSetting& setting,
                                                    const learning::Posterior& other) const;
  /// LISTA can begin as ALISTA with steps 1 and thresholds 0.6 * 0.7^k.
  [[nodiscard]] std::vector<double> analytic_means(const LearnedSetting& setting) const;
};

/// A learned start of gradient descent on unconstrained quadratic programs (L2WS).
struct GradientStart {
  families::UnconstrainedQpOptions family = {};
  Index hidden = 10;         ///< units of the hidden layer
  double output_scale = 10;  ///< what the network says times this is the start
  Index unroll = 15;         ///< steps that training goes through; certificates count all of them
  [[nodiscard]] Index unrolled(Index /*steps*/) const { return unroll; }
  [[nodiscard]] LearnedBench bench(const LearnedSetting& setting, const BenchRequest& request) const;
  [[nodiscard]] double numbers_by_sample(const LearnedSetting& setting,
                                         algorithms::Precision precision) const;
};

/// Meta-learned weights of a network that a task then adapts by gradient descent (MAML).
struct MetaLearning {
  families::SinusoidsOptions family = {};
  Index hidden = 40;   ///< units of each of the two hidden layers
  double step = 0.01;  ///< of adaptation
  [[nodiscard]] Index unrolled(Index steps) const { return steps; }
  [[nodiscard]] LearnedBench bench(const LearnedSetting& setting, const BenchRequest& request) const;
  [[nodiscard]] double numbers_by_sample(const LearnedSetting& setting,
                                         algorithms::Precision precision) const;
};

/// A learned start of OSQP in model predictive control, trained for the distance from the solution.
struct ControlStart {
  families::ModelPredictiveControlOptions family = {};
  std::vector<Index> hidden{128, 128, 128};  ///< units of the hidden layers
  double rho = 0.5;                          ///< of OSQP
  [[nodiscard]] Index unrolled(Index /*steps*/) const { return 0; }
  [[nodiscard]] LearnedBench bench(const LearnedSetting& setting, const BenchRequest& request) const;
  [[nodiscard]] double numbers_by_sample(const LearnedSetting& setting,
                                         algorithms::Precision precision) const;
};

/// Settings of a classical optimizer's steps, one after the other, for the problems of a folder.
struct ScheduledSolver {
  static constexpr const char* usual_solver = "usual";
  families::FolderOptions family = {};
  /// osqp (qp), scs (cone), gradient-descent (quadratic), ista, fista (lasso); usual: the first of the kind.
  std::string solver = usual_solver;
  // What holds where nothing is learned: where the schedule begins, its prior mean, and what follows it.
  double rho = 0.1;        ///< of OSQP
  double scale = 0.1;      ///< of SCS
  double alpha = 0;        ///< relaxation of both; 0: the solver's usual one
  Index scaling = 10;      ///< of OSQP: passes of equilibration
  bool scale_each = true;  ///< of OSQP: each problem equilibrated on its own; false: all share their factors
  double step = 0;         ///< of the others; 0: 1 / L
  [[nodiscard]] std::string method() const;
  [[nodiscard]] Index unrolled(Index steps) const { return steps; }
  [[nodiscard]] LearnedBench bench(const LearnedSetting& setting, const BenchRequest& request) const;
  [[nodiscard]] double numbers_by_sample(const LearnedSetting& setting,
                                         algorithms::Precision precision) const;
  /// Silver step sizes, for all but OSQP and SCS.
  [[nodiscard]] std::vector<double> analytic_means(const LearnedSetting& setting) const;
};

/// A learned start of OSQP or SCS for the problems of a folder, from what tells one from another.
struct FolderStart {
  families::FolderOptions family = {};
  std::vector<Index> hidden{128, 128};  ///< units of the hidden layers
  Index unroll = 10;        ///< steps that training goes through: the loss is of the iterate after them
  double output_scale = 0;  ///< what the network says times this is the start; 0: by the solutions
  double rho = 0.1;         ///< of OSQP
  double scale = 0.1;       ///< of SCS
  double alpha = 0;         ///< relaxation; 0: the solver's usual one
  Index scaling = 10;       ///< of OSQP: passes of equilibration
  bool scale_each = true;   ///< of OSQP: each problem equilibrated on its own
  /// families::ParameterMap::text(), found and scaled on these problems, which no bound may be of.
  std::string inputs;
  Index scaled_first = 0;
  Index scaled_count = 0;  ///< 0: not found yet
  [[nodiscard]] Index unrolled(Index /*steps*/) const { return unroll; }
  [[nodiscard]] LearnedBench bench(const LearnedSetting& setting, const BenchRequest& request) const;
  [[nodiscard]] double numbers_by_sample(const LearnedSetting& setting,
                                         algorithms::Precision precision) const;
};

/// What only one model has: the constants of its family and the settings of its network.
using LearnedOptions =
    std::variant<CodeNetworks, GradientStart, MetaLearning, ControlStart, ScheduledSolver, FolderStart>;

/// Which family and model weights were trained for, and on which samples.
struct LearnedSetting {
  std::string model = "alista";
  std::uint64_t family_seed = 0;
  /// Training samples first .. first + samples - 1; 0, of a folder: the first half of its problems.
  Index samples = 50000;
  Index first = 0;   ///< parts of one set of samples
  Index steps = 10;  ///< K, that certificates count
  /// Training samples that the weights depend on, also through what they started from: first and last. -1:
  /// not on record.
  Index seen_first = -1;
  Index seen_last = -1;
  LearnedOptions options = {};

  /// Everything above, and the fields of `options`: the one list.
  [[nodiscard]] std::vector<Field> fields();

  [[nodiscard]] FamilyKey family() const;
  /// The files of a family that is a folder; null: samples are drawn.
  [[nodiscard]] families::FolderOptions* folder();
  [[nodiscard]] const families::FolderOptions* folder() const;
  /// Whether samples are rows of a user's files, the same rows in every set.
  [[nodiscard]] bool has_rows() const;
  /// What only the user's files say, where it is not known yet: their digests and what follows from them, the
  /// cones, how many problems are learned from, and what tells these from one another. `read`, if not null,
  /// gets the files.
  void identify(std::vector<families::FamilyFiles::Read>* read = nullptr);
  /// Where the user's files are now: in `problems`, or, if that is empty, as they are named, from here or
  /// from the folder of the weights or the one around it. InputError if they are not there.
  void find_files(const std::filesystem::path& problems, const std::filesystem::path& weights);
  /// Steps that training goes through.
  [[nodiscard]] Index unrolled() const;
  /// Whether both are of the same model on the same family.
  [[nodiscard]] bool same_model(const LearnedSetting& other) const;
  /// InputError names the value that is out of its range.
  void validate() const;
};

/// A metric that certificates of a learned optimizer may be about.
struct ClaimedMetric {
  std::string name;
  std::vector<double> tolerances;  ///< unless others are asked for
};

struct LearnedOptimizer {
  LearnedSetting defaults;  ///< its name is defaults.model
  learning::LossKind loss = learning::LossKind::nmse;
  std::vector<ClaimedMetric> metrics;        ///< the first one unless another is asked for
  std::vector<learning::Stage> stages = {};  ///< where a training file has none; empty: it must have some

  /// InputError lists the names. Empty: the first.
  [[nodiscard]] const ClaimedMetric& metric(const std::string& name) const;
};
const std::vector<LearnedOptimizer>& learned_optimizers();
/// InputError lists the names.
const LearnedOptimizer& learned_optimizer(const std::string& model);
/// "alista, glista, ..."
std::string learned_optimizer_names();

}  // namespace surefoot::experiments
