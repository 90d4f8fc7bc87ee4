#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/until.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/experiments/child_programs.hpp"
#include "surefoot/runs/tally.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Any program, run on one random problem after the other and certified: what `run command` does.
namespace surefoot::experiments {

struct CommandRunOptions {
  std::vector<std::string> command;  ///< program and arguments; {seed} in them is the number of the problem
  Index first_seed = 0;
  Index samples = 0;                    ///< runs, where there is no claim to wait for
  std::optional<certify::Until> until;  ///< a claim that runs are made for until it holds,
  Index max_runs = 100'000;             ///< or so many are made
  double seconds = infinity;            ///< time limit of a run; one that takes longer has failed
  Index at_once = 1;                    ///< programs that run at the same time
  Index first_step = 1;                 ///< of the first number of a row
  bool allow_dependence = false;
  std::uint64_t memory_limit = 0;  ///< 0: what is there
  bool checkpoints = false;        ///< rows are then put together once more

  void validate() const;
  /// Runs that are made at most.
  [[nodiscard]] Index most_runs() const { return until ? max_runs : samples; }
  /// The command of a problem.
  [[nodiscard]] std::vector<std::string> command_of(Index seed) const;
};

/// The numbers of a row: all that a program may print is one line of numbers, between them commas,
/// semicolons, tabs or spaces. None if it is anything else.
std::optional<std::vector<double>> parse_row(std::string_view output);

/// A row, or how there is none.
struct ProgramOutcome {
  std::vector<double> row;
  std::string failure;  ///< empty: there is a row
  std::string said;
};
ProgramOutcome outcome_of(const ChildEnd& end);

/// The words with every {NAME} in them replaced.
std::vector<std::string> filled_in(std::vector<std::string> words,
                                   const std::vector<std::pair<std::string, std::string>>& values);
/// The program without its folder.
std::string program_name(const std::vector<std::string>& command);

struct CommandResult {
  certify::Certificate certificate;
  std::string traces;         ///< all rows as .npy, failed ones infinite
  bool decided = true;        ///< the claim that was waited for holds
  std::string until_line;     ///< where it stands, in words; empty if there is none
  std::string failures_line;  ///< runs that gave no row, in words; empty if all did
};

/// Runs begin in the order of their seeds and are counted in that order, however they end: the runs of a
/// certificate are the first n seeds. A run that crashes, takes too long, or prints no row is counted as a
/// failure at every step.
class CommandRun {
 public:
  CommandRun(CommandRunOptions options, certify::Options claims);

  /// Makes the runs and certifies them; a piece of the journal.
  [[nodiscard]] CommandResult count(certify::CountJournal& journal);

 private:
  /// Runs that have failed in one way.
  struct Failures {
    Index count = 0;
    Index first_seed = 0;
    std::string first;  ///< what the first of them said
  };
  [[nodiscard]] bool finished() const;
  void add(ProgramOutcome outcome);
  void add_row(const double* row);
  void know_columns(Index columns);
  void look_for_dependence(bool allow) const;
  void make_runs(certify::CountJournal& journal);
  [[nodiscard]] certify::Certificate certificate() const;
  [[nodiscard]] std::string state() const;
  void restore(const std::string& state);
  [[nodiscard]] std::string record() const;
  [[nodiscard]] std::string failures_text() const;

  CommandRunOptions options_;
  certify::Options given_;   ///< claims as they were declared
  certify::Options claims_;  ///< resolved, once columns are known
  Index runs_ = 0;
  Index columns_ = 0;  ///< 0: no run has printed a row yet
  std::vector<double> values_;
  std::map<std::string, Failures> failures_;
  std::vector<Index> steps_;
  std::optional<runs::Tally> tally_;
  std::optional<certify::DependenceCheck> check_;
  std::optional<certify::UntilLooks> looks_;
  bool holds_ = false;
};

}  // namespace surefoot::experiments
