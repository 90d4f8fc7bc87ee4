#pragma once

#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/provenance.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/experiments/run_command.hpp"
#include "surefoot/experiments/tuning.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Settings of any program: what `tune command` searches.
namespace surefoot::experiments {

/// Of a slow program: what is lost where it is stopped.
inline constexpr Index command_runs_of_piece = 64;

struct CommandTuneOptions {
  TuneOptions tune;
  std::vector<std::string> command;  ///< with {seed} and a {NAME} for each setting
  std::string over;                  ///< axes as text
  std::string defaults;              ///< "rho=0.1": settings to compare with; empty: none
  Index samples = 0;                 ///< problems: seeds from the first on
  Index first_seed = 0;
  double seconds = 60;  ///< time limit of a run; one that takes longer has failed
  Index at_once = 1;
  Index first_step = 1;
  std::string metric = "metric";
  std::string unit = {};
  bool allow_dependence = false;
  std::uint64_t memory_limit = 0;  ///< 0: what is there

  void validate() const;
};

/// A program whose runs are rows of numbers. A run that crashes, takes too long or prints no row, or one of
/// another length than the others, is counted as a failure at every step.
class CommandTunable final : public Tunable {
 public:
  /// Makes the first few runs to learn how long rows are. InputError if none of them prints one.
  CommandTunable(CommandTuneOptions options, Interrupt interrupt);

  [[nodiscard]] const SettingSpace& space() const override { return space_; }
  [[nodiscard]] bool has_default() const override { return default_.has_value(); }
  [[nodiscard]] std::optional<SettingValues> default_candidate() const override { return default_; }
  [[nodiscard]] std::string metric() const override { return options_.metric; }
  [[nodiscard]] std::string unit() const override { return options_.unit; }
  [[nodiscard]] Index iterations() const override { return steps_.back(); }
  [[nodiscard]] Index runs_of_piece() const override { return command_runs_of_piece; }
  std::vector<std::vector<double>> times(const std::vector<TuneWork>& works, double tolerance) override;
  TuneTraces traces(const std::optional<SettingValues>& candidate, Part problems) override;
  /// Runs that gave no row.
  std::string take_notes() override;
  void add_notes(std::string_view notes) override;

  /// Runs that gave no row, in words; empty if all did.
  [[nodiscard]] std::string failures_text() const;
  /// The command with these settings, {seed} left in it.
  [[nodiscard]] std::vector<std::string> command_with(const SettingTexts& settings) const;

 private:
  struct Job {
    SettingValues candidate;
    Index problem = 0;
  };
  /// Outcomes in the order of the jobs.
  [[nodiscard]] std::vector<ProgramOutcome> outcomes(const std::vector<Job>& jobs);
  void count_failure(const ProgramOutcome& outcome, Index seed);
  [[nodiscard]] std::vector<double> row_of(ProgramOutcome outcome, Index problem);
  void learn_steps();
  void require_memory(Index columns) const;

  CommandTuneOptions options_;
  Interrupt interrupt_;
  SettingSpace space_;
  std::optional<SettingValues> default_;
  std::vector<Index> steps_;
  struct Failures {
    Index count = 0;
    Index first_seed = 0;
    std::string first;
  };
  using FailuresByKind = std::map<std::string, Failures>;
  static void add(FailuresByKind& to, const std::string& how, const Failures& failures);
  FailuresByKind failures_;  ///< of all runs
  FailuresByKind noted_;     ///< of those since the last notes
};

/// Problems of the command as samples with a name: its words as they are, and seeds. Whoever runs the same
/// words has the same problems.
certify::SampleRange seeds_of_command(const CommandTuneOptions& options, Part problems);

/// What the certificate says of its runs.
std::string tune_command_record(const CommandTunable& subject, const CommandTuneOptions& options,
                                const TuneResult& result);

/// What the rows of certified runs show of dependence. InputError if they do and that is not allowed.
certify::Independence independence_of_rows(const TuneTraces& traces, const std::string& name, bool allow);

}  // namespace surefoot::experiments
