#pragma once

#include "surefoot/algorithms/adaptive_scs.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/certify/until.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/experiments/rerun.hpp"
#include "surefoot/families/family_files.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/runs/named_metric.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/terminations.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A solver on a family of the user's own, run and certified: what `run qp` and `run cone` do.
namespace surefoot::experiments {

inline constexpr Index problems_of_block = 4096;  ///< where problems are made or read a block at a time

/// Solver settings by name: the package as it is installed, the same without what it adapts, or the paper's.
enum class Preset { defaults, fixed, paper };
std::string_view to_string(Preset preset);
/// "package" is an older name of fixed.
Preset parse_preset(std::string_view name);

/// OSQP with the settings of a preset.
algorithms::OsqpOptions osqp_preset(Preset preset);
/// SCS with the settings of a preset.
algorithms::ScsOptions scs_preset(Preset preset);
/// "iterations" or "off"; InputError says why not "time".
bool parse_adaptive_rho(std::string_view text);
std::string_view adaptive_rho_name(bool adapts);

/// What a command must say to run the solver with the same settings again.
RerunOptions rerun_settings(const algorithms::OsqpOptions& osqp, const std::string& preset);
RerunOptions rerun_settings(const algorithms::ScsOptions& scs, const std::string& preset);

struct FamilyRunOptions {
  std::string metric = runs::usual_metric;
  Index iterations = runs::usual_iterations;  ///< of each run
  std::string start = {};                     ///< table of starting iterates, among the files; empty: cold
  bool save_traces = false;
  bool allow_dependence = false;
  std::string worst_case = {};  ///< "averaged:ALPHA"; empty: none
  std::optional<double> dist0 = std::nullopt;
  std::optional<double> estimated_dist0 = std::nullopt;
  std::uint64_t memory_limit = 0;  ///< 0: what is there
  bool checkpoints = false;        ///< solutions are then put together once more
  /// Problems are run in their order until this claim holds, or max_runs of them (0: all).
  std::optional<certify::Until> until = std::nullopt;
  Index max_runs = 0;

  void validate() const;
};

/// A solver on the problems that were read.
struct SolverRun {
  std::shared_ptr<const void> problems;  ///< what `data` are views of
  std::unique_ptr<algorithms::Operator> op;
  certify::ProblemData data;
  /// Accurate solutions of all instances.
  std::function<problems::Table(const Interrupt&)> solve;
  std::optional<RerunFile> weights = std::nullopt;  ///< of what is learned, and the option that names them
  std::optional<problems::Table> starts = std::nullopt;  ///< iterates that a learned start gives
  bool stops = false;                                    ///< its stopping test, if it has one, is obeyed
};
SolverRun osqp_run(problems::Qp problem, const algorithms::OsqpOptions& options);
SolverRun scs_run(problems::ConeProgram problem, const algorithms::ScsOptions& options);
SolverRun osqp_run(families::FamilyFiles& files, const algorithms::OsqpOptions& options);
SolverRun scs_run(families::FamilyFiles& files, const algorithms::ScsOptions& options,
                  const problems::Cones& cones);

/// OSQP or SCS with a learned schedule (`surefoot train`, model = "schedule") at its means. InputError if the
/// weights are no schedule of this solver, or depend on these very problems.
SolverRun scheduled_run(families::FamilyFiles& files, const std::filesystem::path& weights);
SolverRun scheduled_run(families::FamilyFiles& files, const problems::Cones& cones,
                        const std::filesystem::path& weights);

/// Whether a value of --start is a file of weights, not a table of iterates.
bool names_weights(const std::string& start);
/// A solver with any settings, from the learned start of `surefoot train` (model = "warm-start") at its
/// means. InputError if the weights are no start for such problems, or depend on these very ones.
SolverRun started_run(families::FamilyFiles& files, const algorithms::OsqpOptions& options,
                      const std::filesystem::path& weights);
SolverRun started_run(families::FamilyFiles& files, const algorithms::ScsOptions& options,
                      const problems::Cones& cones, const std::filesystem::path& weights);

struct FamilyResult {
  certify::Certificate certificate;
  std::string traces;            ///< as .npy, if they are saved
  std::string terminations;      ///< as CSV, if the solver has a stopping test
  std::string termination_line;  ///< what it came to, in words
  std::string solver_line;       ///< which solver was run, in words
  bool decided = true;           ///< the claim that was waited for holds
  std::string until_line;        ///< where it stands, in words
};

/// Digests of the files, as options name them: what a result depends on.
io::Configuration data_of(const families::FamilyFiles& files,
                          const std::optional<RerunFile>& weights = std::nullopt);
std::vector<RerunFile> rerun_files_of(const families::FamilyFiles& files,
                                      const std::optional<RerunFile>& weights = std::nullopt);
/// How problems of these files were run, as JSON, from what the solver says of itself; its line goes into the
/// result.
std::string record_of_files(const std::string& settings, const families::FamilyFiles& files,
                            const FamilyRunOptions& options, FamilyResult& result,
                            const std::optional<RerunFile>& weights = std::nullopt);
/// The first `count` problems by the digests of their files: all but where a solver starts.
certify::SampleRange problems_by_digest(const families::FamilyFiles& files, Index count);

class FamilyRun {
 public:
  /// Reads the starts and refuses what cannot be certified: too little memory, dependence between the
  /// problems, a worst case that the solver does not have. `family` names it in errors.
  FamilyRun(const std::string& family, families::FamilyFiles& files, SolverRun solver,
            FamilyRunOptions options, certify::Options claims);

  [[nodiscard]] const algorithms::Operator& op() const { return *solver_.op; }
  [[nodiscard]] std::string solver() const { return std::string(op().name()); }
  [[nodiscard]] io::Configuration data() const { return data_of(files_, solver_.weights); }
  [[nodiscard]] std::vector<RerunFile> rerun_files() const { return rerun_files_of(files_, solver_.weights); }
  /// The problems by the digests of their files: all but where the solver starts.
  [[nodiscard]] certify::SampleRange problems() const;

  /// Runs all problems, counting as it goes, and certifies; a part of the journal, which must not outlive
  /// this object.
  [[nodiscard]] FamilyResult count(certify::CountJournal& journal);

 private:
  void require_memory() const;
  [[nodiscard]] std::optional<certify::StatedWorstCase> stated_worst_case() const;
  void keep_in_checkpoints(certify::CountJournal& journal);
  [[nodiscard]] std::string record(FamilyResult& result) const;
  [[nodiscard]] certify::Certificate run_until(const runs::Metric& metric, runs::RunOptions run_options,
                                               const runs::Start& start,
                                               const certify::TraceListener& listener,
                                               certify::CountJournal& journal, FamilyResult& result);

  families::FamilyFiles& files_;
  SolverRun solver_;
  FamilyRunOptions options_;
  certify::Options claims_;
  problems::Table starts_;
  problems::Table traces_;
  runs::Terminations terminations_;
  certify::Independence independence_;
  Index counted_ = 0;          ///< problems; 0: all
  std::string run_or_failed_;  ///< by problem, where runs are made until a claim holds
  std::optional<certify::StatedWorstCase> stated_;
};

}  // namespace surefoot::experiments
