#pragma once

#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/experiments/run_family.hpp"

#include <functional>
#include <string>

/// Problems that are made or read a block at a time, run, counted and forgotten: memory does not depend on
/// how many there are.
namespace surefoot::experiments {

struct BlockRuns {
  Index problems = 0;
  Index iterations = 0;
  std::string metric;
  std::string solver;  ///< for what is said while it runs
  /// The solver on problems first .. first + count - 1; asked for in their order.
  std::function<SolverRun(Index first, Index count)> block;
  Index block_size = problems_of_block;  ///< problems that are there at once, of each process
};

/// The metric of a block. Its solutions are this process' own work: no other process has these problems.
runs::Metric metric_of_block(const std::string& name, const SolverRun& run);

/// Numbers that a block takes: as it is read or drawn, as the solver has it, and what it makes of it;
/// solutions, their rounds and the metric's own.
double numbers_of_block(const algorithms::Operator& op, const std::string& metric, Index problems);

/// Runs and counts this process' blocks. Which problems are a block does not depend on the processes.
void count_blocks(const BlockRuns& blocks, certify::RunCounter& counter, certify::CountJournal& journal);

}  // namespace surefoot::experiments
