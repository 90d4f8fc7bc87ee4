#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/claim_text.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/core/part.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/racing.hpp"
#include "surefoot/experiments/setting_space.hpp"
#include "surefoot/problems/matrix.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The best settings, with a guarantee: what `tune` does. Settings are chosen on the first part of the
/// problems by any method that is quick (racing.hpp); the chosen ones and those that a user would have had
/// are then run once on the other part, which nothing was chosen by, and certified there. No claim pays for
/// the candidates. What is claimed, all of it together with confidence 1 - delta:
///   the iterations within which a share Q of new problems is below the tolerance and stays so, of the tuned
///   and of the default settings: delta / 4 each, or delta for the tuned ones if there is no default;
///   the comparison of both, problem by problem (certify/paired.hpp): delta / 2.
namespace surefoot::experiments {

/// Runs that a search may make, for each of its problems, unless a user says otherwise.
inline constexpr Index usual_runs_by_problem = 40;
/// Problems that a search needs at least.
inline constexpr Index fewest_search_problems = 8;

/// Of the problems, on either side: how many are needed is then bounded.
inline constexpr double least_search_share = 0.01;

struct TuneOptions {
  std::string target;            ///< "90% below 1e-4": the share and the tolerance
  double search_share = 0.5;     ///< of the problems, from the first on
  double delta = 0.01;           ///< of all that is claimed
  Index runs = 0;                ///< of the search; 0: usual_runs_by_problem, unless there is a time
  double seconds = 0;            ///< instead: no rung of the search begins later
  Index grid = 0;                ///< instead: a grid of so many points on all problems of the search
  bool learn_then_test = false;  ///< for comparison, on all problems
  std::uint64_t seed = 0;        ///< of the order in which the search takes its problems
  bool checkpoints = false;      ///< times and traces are then put together once more

  void validate() const;
  /// The target in parts; InputError if it is no share below a tolerance.
  [[nodiscard]] certify::ClaimText claim() const;
  /// What the certificate pays, one of its budgets, and the comparison of both.
  [[nodiscard]] double certificate_delta(bool has_default) const { return has_default ? delta / 2 : delta; }
  [[nodiscard]] double budget_delta(bool has_default) const { return has_default ? delta / 4 : delta; }
  [[nodiscard]] double paired_delta() const { return delta / 2; }
};

/// Problems of the search and of the certificate. InputError says how many are needed if there are too few.
struct TuneSplit {
  Part search;
  Part certified;
};
TuneSplit split_problems(Index problems, const TuneOptions& options, bool has_default);
/// Problems of both parts in turn: rows in this order show whether the parts have something in common.
std::vector<Index> in_turn(const TuneSplit& split);
/// InputError if rows of both parts in turn are not independent: problems that settings were chosen by would
/// certify them. No certificate could say so, which is why it is not allowed, unless the certified part shows
/// dependence by itself and that was.
void require_apart(const certify::Independence& of_both, const certify::Independence& of_certified,
                   const std::string& name);

/// What the search and the certified runs of `columns` steps keep.
void add_tuning(MemoryNeeds& needs, const SettingSpace& space, Index problems, Index columns,
                const TuneOptions& options, bool has_default);

/// Candidates on problems by their numbers.
struct TuneWork {
  SettingValues candidate;
  std::vector<Index> problems;
};

/// All values of the metric: a row per problem, a column per step.
struct TuneTraces {
  problems::Table values;
  std::vector<Index> steps;
};

/// What is tuned: any solver whose runs are rows of numbers.
class Tunable {
 public:
  Tunable() = default;
  virtual ~Tunable() = default;
  Tunable(const Tunable&) = delete;
  Tunable& operator=(const Tunable&) = delete;

  [[nodiscard]] virtual const SettingSpace& space() const = 0;
  /// Whether there are settings to compare with, and the candidate that they are, if they are one. If not,
  /// they race as the empty candidate.
  [[nodiscard]] virtual bool has_default() const = 0;
  [[nodiscard]] virtual std::optional<SettingValues> default_candidate() const = 0;
  [[nodiscard]] virtual std::string metric() const = 0;
  [[nodiscard]] virtual std::string unit() const { return ""; }
  /// The last step of a run.
  [[nodiscard]] virtual Index iterations() const = 0;
  /// Runs between two checkpoints, where a run may take long; 0: those of a few candidates.
  [[nodiscard]] virtual Index runs_of_piece() const { return 0; }
  /// For each work and problem the first step from which on the metric stays below the tolerance, up to the
  /// last one; infinite if there is none.
  virtual std::vector<std::vector<double>> times(const std::vector<TuneWork>& works, double tolerance) = 0;
  /// Runs of a candidate on consecutive problems; none, or an empty one: of the default.
  virtual TuneTraces traces(const std::optional<SettingValues>& candidate, Part problems) = 0;

  /// What is to be known of the runs made since it was asked last besides their results, as bytes: a
  /// checkpoint keeps it, and gives it back in place of the runs.
  virtual std::string take_notes() { return ""; }
  virtual void add_notes(std::string_view /*notes*/) {}
};

/// The first of the steps from which on a run stays below the tolerance; infinite if there is none.
double settling_step(const double* values, const std::vector<Index>& steps, double tolerance);

/// The other sound way, for comparison: Learn-then-Test (A. Angelopoulos, S. Bates, E. Candes, M. Jordan, L.
/// Lei, 2021) on all problems. The first grid of the space and the default are declared before any run; each
/// of them is certified on all problems with its part of what the tuned budget pays, a union over all of
/// them, and the best may be taken. It may stand in the place of the tuned budget only if that was decided
/// before the run: the better of both numbers is not paid for.
struct LearnThenTest {
  Index candidates = 0;  ///< that are paid for
  double delta_each = 0;
  Index samples = 0;
  Index rank = 0;  ///< of the order statistic of the times; 0: too few problems
  SettingTexts best;
  std::optional<Index> steps;  ///< none: the share is not certified
};

struct TuneResult {
  RaceResult race;
  TuneSplit split;
  SettingTexts winner;
  bool default_wins = false;  ///< it was the best of all that raced; winner is empty if it is no candidate
  certify::Certificate certificate;  ///< variants "default" (if there is one) and "tuned"
  std::optional<certify::PairedComparison> paired;
  std::optional<TuneTraces> default_traces;
  TuneTraces tuned_traces;
  std::optional<LearnThenTest> all_tested;  ///< if it was asked for
  /// The certified iterations; none: the share is not certified.
  std::optional<Index> before;
  std::optional<Index> after;
};

/// Searches, then certifies. The journal keeps what is done; the search, where it is the same, is replayed
/// from it, with the time that it took and where its time was over. InputError if no candidate reaches the
/// target on the problems of the search: with the best seen and what it reaches.
TuneResult tune(Tunable& subject, Index problems, const TuneOptions& options, certify::CountJournal& journal);

LearnThenTest learn_then_test(Tunable& subject, Index problems, const TuneOptions& options,
                              certify::CountJournal& journal);
std::string to_text(const LearnThenTest& found);

/// What the search came to, as JSON: target, split, rungs, winner; `all`: every candidate with its score too.
std::string search_record(const Tunable& subject, const TuneOptions& options, const TuneResult& result,
                          bool all);

/// The result in a few lines: before, after, on which problems, with which confidence; then the paired
/// sentences.
std::string tune_text(const TuneOptions& options, const TuneResult& result);

}  // namespace surefoot::experiments
