#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/part.hpp"
#include "surefoot/runs/metric.hpp"
#include "surefoot/runs/start.hpp"

#include <functional>
#include <vector>

namespace surefoot::runs {

struct RunOptions {
  Index steps = 500;  ///< K, applications of the step
  Index first = 0;    ///< first instance
  Index count = 0;    ///< instances; 0: all from `first` on
  /// Each process (core/ranks.hpp) runs its part of the instances, and its sinks receive those alone; false:
  /// every process runs all.
  bool shared = false;
  std::vector<Index> iterate_steps{};  ///< steps (0 .. K, ascending) whose iterates go to the iterate sink
  /// If > 0, a block of instances ends as soon as the residuals of all of them are at most this; the iterate
  /// sink then receives the iterates reached for all steps left. Needs `metrics` to be empty. Off by default.
  double stop_residual = 0;
  /// If set, receives what the stopping test says of each instance after its last step. In any thread,
  /// several at once. Needs an operator with a stopping test.
  std::function<void(Index instance, const algorithms::Ending& ending)> ending_sink = nullptr;
  /// If set, called before every step of a block, in any thread. What it throws ends the run and reaches the
  /// caller: how a user stops a long run.
  Interrupt interrupt = nullptr;
  /// If set, called before every block, in any thread: whether to run instances first .. first + count - 1.
  /// What it throws ends the run once the blocks that have begun are finished.
  std::function<bool(Index first, Index count)> wanted = nullptr;

  void validate() const;
};

/// The instances that this process runs: all of the options, or its part of their blocks.
Part own_instances(const algorithms::Operator& op, const RunOptions& options);

/// Receives the trace of one metric and instance: the value at steps metric.first_step() .. K. From the first
/// infinite or NaN value on, of the metric or of the fixed-point residual, all values are +infinity. Called
/// in any thread, several at once; each (metric, instance) once.
using TraceSink = std::function<void(std::size_t metric, Index instance, const double* trace)>;
/// Receives the iterate (iterate_size() numbers) of one instance after iterate_steps[position] steps.
using IterateSink = std::function<void(std::size_t position, Index instance, const double* iterate)>;

/// The only loop over iterations: runs the operator from the start on all instances, in blocks of
/// op.width() over threads, and evaluates the metrics as it goes. Iterates are never stored: memory is
/// threads x width x (state + K x metrics) numbers besides what the sinks keep. Results are the same bits
/// whatever the number of threads. An instance that has ended (Operator::finished) is not run further, its
/// last values are repeated: its lane takes the next instance where the operator can reload, else the block
/// ends with the last of its instances.
void run(const algorithms::Operator& op, const std::vector<Metric>& metrics, const Start& start,
         const RunOptions& options, const TraceSink& trace_sink, const IterateSink& iterate_sink = nullptr);

/// Where each process has filled rows own.first .. of the table, gives all of them to each.
void share_rows(problems::Table& table, Part own);

/// All values of one metric: row = instance, column = step.
struct Trace {
  std::string metric;
  std::string unit;
  Index first_step = 0;
  problems::Table values;
};
/// Runs and keeps the traces, one per metric; processes share the work, and each has all traces.
std::vector<Trace> run_traces(const algorithms::Operator& op, const std::vector<Metric>& metrics,
                              const Start& start = {}, const RunOptions& options = {});

/// Iterates after options.steps steps (or where they stopped): one row per instance. Processes share the
/// work, and each has all rows.
problems::Table run_iterates(const algorithms::Operator& op, const Start& start, const RunOptions& options);

struct SolveOptions {
  double residual = 1e-12;        ///< fixed-point residual to reach
  Index max_steps = 100000;       ///< error if it is not reached
  Interrupt interrupt = nullptr;  ///< as of RunOptions
};
/// Solutions by running the operator itself until its residual is small: one row per instance, the iterate.
/// Throws InputError naming the first instance that does not get there.
problems::Table solve(const algorithms::Operator& op, const SolveOptions& options = {},
                      const Start& start = {});

}  // namespace surefoot::runs
