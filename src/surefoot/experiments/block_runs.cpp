#include "surefoot/experiments/block_runs.hpp"

#include "surefoot/core/part.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/runs/named_metric.hpp"

#include <algorithm>

namespace surefoot::experiments {

runs::Metric metric_of_block(const std::string& name, const SolverRun& run) {
  const RanksAlone alone;  // solutions of problems that no other process has
  return runs::named_metric(name, *run.op, [&] { return run.solve(host().check); });
}

double numbers_of_block(const algorithms::Operator& op, const std::string& metric, Index problems) {
  const double copies = runs::needs_solutions(metric) ? 10 : 5;
  return copies * static_cast<double>(std::min(problems_of_block, problems)) *
         static_cast<double>(op.iterate_size() + op.state_size());
}

void count_blocks(const BlockRuns& blocks, certify::RunCounter& counter, certify::CountJournal& journal) {
  Progress progress("running " + blocks.solver);
  const Index count = (blocks.problems + blocks.block_size - 1) / blocks.block_size;
  const Part own = part_of(count, ranks().rank(), ranks().count());
  const Index begin = own.first * blocks.block_size;
  const Index end = std::min(blocks.problems, own.end() * blocks.block_size);
  runs::RunOptions options;
  options.steps = blocks.iterations;
  Index finished = 0;
  for (Index at = begin; at < end; at += blocks.block_size) {
    const Index size = std::min(blocks.block_size, end - at);
    if (!counter.is_done(at, size)) {
      journal.interrupt();
      const SolverRun run = blocks.block(at, size);
      counter.run_own(*run.op, metric_of_block(blocks.metric, run), runs::cold_start(), options, at,
                      [&](Index, const double*) {
                        progress.update(static_cast<double>(++finished), static_cast<double>(end - begin),
                                        "problems");
                      });
    }
    finished = at + size - begin;
  }
}

}  // namespace surefoot::experiments
