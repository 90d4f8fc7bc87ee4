#pragma once

#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/rollouts.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/experiments/loop_files.hpp"
#include "surefoot/experiments/rerun.hpp"
#include "surefoot/families/family_files.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/report/loop_page.hpp"
#include "surefoot/runs/closed_loop.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A controller in closed loop with a plant, many rollouts of it, certified: what `run loop` does.
namespace surefoot::experiments {

struct LoopRunOptions {
  Index rollouts = 1000;
  Index ticks = 100;
  /// Iterations of a tick. They are declared before the rollouts are seen: the smallest with a guarantee is
  /// found by tests in the order of this list from its end on, each at the whole delta (method every-step of
  /// iteration budgets), so that the choice is paid for.
  std::vector<Index> limits{5, 10, 20, 50};
  bool stop = false;  ///< ticks end at OSQP's own stopping test if that is before the limit
  runs::LoopStart start = runs::LoopStart::kept;
  std::uint64_t seed = 0;
  double exact_eps = 1e-6;  ///< tolerances of the solves that count as exact
  Index exact_limit =
      10'000;  ///< their iterations at most; a rollout with a tick that needs more has no exact cost
  Index tube_limit = 0;   ///< of the limits; 0: the largest
  double tube_share = 0;  ///< of rollouts, in the tube at each tick; 0: 0.99, or what so many support
  double delta = 0.01;    ///< of all certificates together, which share it equally
  std::vector<double> shares{0.9, 0.99, 0.999};  ///< of rollouts that the smallest limit is asked for
  std::vector<double> violation_tolerances{certify::no_violation, 1e-6, 1e-3, 1e-2};
  std::vector<double> cost_tolerances{1e-3, 1e-2, 1e-1};
  std::vector<double> failed_tolerances{0.01, 0.1, 0.5};
  std::vector<double> series_tolerances{1, 2, 5, 10};
  bool allow_dependence = false;   ///< of initial states that are a table
  std::uint64_t memory_limit = 0;  ///< 0: what is there
  bool checkpoints = false;        ///< tables are then put together once more

  void validate() const;
  [[nodiscard]] Index limit_of_tube() const { return tube_limit > 0 ? tube_limit : limits.back(); }
};

struct LoopResult {
  /// By the folder they are written to: "violation", "cost", "failed", "series", "tube".
  std::vector<std::pair<std::string, certify::Certificate>> certificates;
  report::LoopPicture picture;
  std::string rollouts;              ///< as CSV: the numbers of every rollout
  std::vector<std::string> summary;  ///< for a terminal
};

class LoopRun {
 public:
  /// Reads the files and refuses what cannot be run: too little memory, files that do not fit each other.
  LoopRun(std::string family, families::FamilyFiles& files, const algorithms::OsqpOptions& osqp,
          LoopRunOptions options);

  [[nodiscard]] const LoopRunOptions& options() const { return options_; }
  [[nodiscard]] io::Configuration data() const;
  [[nodiscard]] std::vector<RerunFile> rerun_files() const;

  /// Runs the exact loop, if there are costs, and that of every limit, each a part of the journal, and
  /// certifies.
  [[nodiscard]] LoopResult run(certify::CountJournal& journal);

 private:
  /// Columns of what a loop leaves behind: numbers of rollouts, then the states of all ticks if they are
  /// kept.
  enum Column : Index {
    violation_column,
    cost_column,
    failed_column,
    series_column,
    iterations_column,
    columns
  };
  [[nodiscard]] problems::Table run_limit(Index limit, bool exact, bool keep_states);
  void require_memory() const;
  /// In what files say of each rollout: initial states and disturbances.
  void look_for_dependence();
  [[nodiscard]] certify::Certificate certify_values(const std::string& metric, const problems::Table& values,
                                                    const std::vector<double>& tolerances,
                                                    double delta) const;
  [[nodiscard]] certify::Certificate certify_tube(const problems::Table& loop, double share,
                                                  double delta) const;
  [[nodiscard]] std::string record() const;
  [[nodiscard]] double share_of_tube(double delta) const;

  std::string family_;
  families::FamilyFiles& files_;
  algorithms::OsqpOptions osqp_;
  LoopRunOptions options_;
  LoopSetup setup_;
  std::string settings_;  // of the solver, JSON
  std::optional<certify::Independence> independence_;
};

}  // namespace surefoot::experiments
