#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/provenance.hpp"
#include "surefoot/core/family_key.hpp"
#include "surefoot/experiments/run_family.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// A solver on a family of ours, run and certified: what `run family` does. Problems are drawn by their
/// numbers, a block at a time, and forgotten: memory does not depend on how many there are.
namespace surefoot::experiments {

struct DrawnFamily {
  std::string name;     ///< "robust-kalman"
  std::string summary;  ///< of its problems and its solver, for users
  FamilyKey key;        ///< all constants of the distribution
  std::string set;      ///< of SampleRange
  /// The solver on problems first .. first + count - 1.
  std::function<SolverRun(std::uint64_t seed, Index first, Index count, Preset preset)> draw;
};

const std::vector<DrawnFamily>& drawn_families();
/// InputError lists the names.
const DrawnFamily& drawn_family(const std::string& name);

struct DrawnRunOptions {
  std::string metric = runs::usual_metric;
  Index iterations = runs::usual_iterations;  ///< of each run
  Index samples = 0;
  Index first = 0;  ///< number of the first problem
  Index seed = 0;
  Preset preset = Preset::paper;
  std::uint64_t memory_limit = 0;  ///< 0: what is there
  bool checkpoints = false;
  Index block_size = problems_of_block;  ///< problems that are there at once, of each process

  void validate() const;
};

class DrawnRun {
 public:
  /// Numbers kept exactly for order statistics; a quarter of what other runs keep, which is 1.5 GB.
  static constexpr Index values_kept = Index{1} << 24;

  /// Refuses what cannot be certified, or takes too much memory.
  DrawnRun(const std::string& family, DrawnRunOptions options, certify::Options claims);

  /// "SCS", as the solver calls itself.
  [[nodiscard]] const std::string& solver() const { return solver_; }
  [[nodiscard]] certify::SampleRange problems() const;
  /// Runs all problems, counting as it goes; a part of the journal.
  [[nodiscard]] certify::Certificate count(certify::CountJournal& journal) const;

 private:
  [[nodiscard]] SolverRun drawn(Index first, Index count) const;
  [[nodiscard]] runs::Metric metric_of(const SolverRun& run) const;
  void require_memory(const algorithms::Operator& op) const;

  const DrawnFamily& family_;
  DrawnRunOptions options_;
  certify::Options claims_;
  std::string solver_;
  std::string record_;  ///< what the solver says of itself
};

}  // namespace surefoot::experiments
