#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/step_schedule.hpp"
#include "surefoot/algorithms/warm_start.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/experiments/learned_setting.hpp"
#include "surefoot/families/sample_set.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/problems/regression_tasks.hpp"
#include "surefoot/problems/sparse_codes.hpp"
#include "surefoot/runs/metric.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

/// Learned optimizers on samples of their families, by their settings (learned_setting.hpp).
namespace surefoot::experiments {

/// Tables that take long to make go through this: whoever keeps checkpoints hands out one of an earlier
/// process (kept_table).
using Keep = std::function<problems::Table(const std::function<problems::Table()>&)>;
inline problems::Table make_now(const std::function<problems::Table()>& make) {
  return make();
}

struct BenchRequest {
  families::SampleSet set = families::SampleSet::training;
  Index count = 0;
  Index first = 0;
  algorithms::Precision precision = algorithms::Precision::twice;
  std::uint64_t seed = 0;     ///< of the weights that training begins with
  std::string metric = {};    ///< of certificates; empty: the model's first
  bool for_training = false;  ///< with `target` and `refresh`, where the model has them
  bool solutions = true;      ///< for training: whether the loss compares with them
  Keep keep = make_now;
};

struct LearnedBench {
  std::unique_ptr<algorithms::LearnedOperator> op;
  runs::Metric metric;
  /// z* of samples, for losses that compare with it (learning::Loss::target); null: none.
  std::function<void(Index first, Index count, algorithms::Batch target)> target = nullptr;
  /// Other samples of the same law in the place of these, for (seed, epoch); null: the family has none.
  std::function<void(std::uint64_t seed, Index epoch)> refresh = nullptr;
  /// Of FolderStart, where its setting leaves it to the solutions.
  double output_scale = 0;
};
LearnedBench make_bench(const LearnedSetting& setting, const BenchRequest& request);

/// Numbers of 8 bytes that samples of the family and their operators keep, each.
double numbers_by_sample(const LearnedSetting& setting, algorithms::Precision precision);
/// Those that grow with every step: known before anything is made.
struct StepNumbers {
  double states = 0;   ///< of a block of lanes
  double weights = 0;  ///< of the network
};
/// Zeros where nothing grows.
StepNumbers numbers_by_step(const LearnedSetting& setting);

/// Means of this model that do what weights of another model do; empty: there are none, and the weights must
/// be of this model.
std::vector<double> converted_means(const LearnedSetting& setting, const learning::Posterior& other);
/// Means that are known without training; InputError for models without such.
std::vector<double> analytic_means(const LearnedSetting& setting);

certify::ProblemData data_of(const families::FolderProblems& problems);
/// The problems of a folder; InputError if some are there twice or depend on each other: training rows and
/// new ones lie in the same files, and such a row would be of both.
families::FolderProblems read_independent(families::FolderOptions& folder);

/// The optimizer that a schedule is of, with the settings that hold where nothing is learned.
std::shared_ptr<const algorithms::Operator> make_solver(const ScheduledSolver& model,
                                                        const families::FolderProblems& problems);

// What experiments use of their own models.

/// 10 log10(||z - z*||^2 / ||z*||^2) dB of codes kept sparse; never below -3000 dB.
runs::Metric code_nmse(std::shared_ptr<const problems::SparseCodes> codes);

/// A warm start with what it is made of.
template <class Solver>
struct StartBench {
  std::shared_ptr<const problems::Table> parameters;
  std::shared_ptr<const Solver> solver;
  std::unique_ptr<algorithms::WarmStart> warm = nullptr;
};

StartBench<algorithms::Operator> make_start(const GradientStart& model, std::uint64_t family_seed,
                                            const BenchRequest& request);

/// The second problems of control loops: each loop begins at random, its first plan moves it by one step, a
/// disturbance acts, and the state then measured is the sample.
struct ControlBench : StartBench<algorithms::Osqp> {
  problems::Table plans;  ///< solutions of the first problems
};
ControlBench make_start(const ControlStart& model, std::uint64_t family_seed, const BenchRequest& request);
/// Solutions of problems of control, exact for all purposes.
problems::Table control_solutions(const ControlStart& model, const problems::Qp& problem, const Keep& keep);

/// Problems first .. first + count - 1 of a folder.
struct FolderStartBench : StartBench<algorithms::Operator> {
  std::shared_ptr<const families::FolderProblems> problems;
};
FolderStartBench make_start(const FolderStart& model, const BenchRequest& request);
/// The same for problems that are there already, and the user's table `parameters` of them, if any.
FolderStartBench make_start(const FolderStart& model, families::FolderProblems problems,
                            const problems::Table* given, const BenchRequest& request);
/// Accurate solutions, as iterates of the solver.
problems::Table folder_solutions(const FolderStart& model, const FolderStartBench& bench, const Keep& keep);

/// Where the weights at their means let the solver begin: its iterates, (x, y, s) of SCS if they have that
/// many numbers.
problems::Table start_iterates(const FolderStartBench& bench, const learning::Posterior& weights,
                               Index iterate_size);

using Tasks = std::shared_ptr<const problems::RegressionTasks>;
Tasks draw_tasks(const MetaLearning& model, std::uint64_t family_seed, const BenchRequest& request);
std::unique_ptr<algorithms::LearnedOperator> make_meta(const MetaLearning& model, Tasks tasks,
                                                       const BenchRequest& request = {});

}  // namespace surefoot::experiments
