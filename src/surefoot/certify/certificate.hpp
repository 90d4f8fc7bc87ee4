#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/bounds/shift.hpp"
#include "surefoot/certify/guarantee.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/kinds/bands.hpp"
#include "surefoot/certify/kinds/group_average.hpp"
#include "surefoot/certify/kinds/iteration_budget.hpp"
#include "surefoot/certify/kinds/mean.hpp"
#include "surefoot/certify/kinds/quantile.hpp"
#include "surefoot/certify/kinds/sequence.hpp"
#include "surefoot/certify/kinds/success_rate.hpp"
#include "surefoot/certify/provenance.hpp"
#include "surefoot/certify/selection.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// A table whose rows were added to those counted before.
struct AppendedTable {
  std::string source;  ///< file name as given
  std::string sha256;
  Index samples = 0;                      ///< its rows
  std::vector<std::string> reading = {};  ///< as of Variant

  bool operator==(const AppendedTable&) const = default;
};

/// What the rows of a table are.
enum class Sampling {
  problems,  ///< each an independent sample
  groups,    ///< ticks of groups: groups are the independent samples, ticks of one may depend on each other
  sequence,  ///< consecutive ticks of one log, which may depend on each other
};

std::string_view name(Sampling sampling);
Sampling parse_sampling(std::string_view text);

/// Rows that were counted as groups (runs/tick_group.hpp).
struct Groups {
  std::string name;  ///< what a group is, "flight": the name of the column; empty: nobody says
  Index ticks = 0;   ///< rows of all groups
  Index fewest = 0;  ///< of the smallest group
  Index most = 0;    ///< of the largest

  bool operator==(const Groups&) const = default;
};

/// Runs are rollouts of a closed loop, each a sample. What stands for steps are the limits of iterations of a
/// tick, each with rollouts of its own, or the ticks of rollouts with one limit.
struct ClosedLoop {
  Index ticks = 0;  ///< of a rollout
  Index limit = 0;  ///< steps are ticks, of at most so many iterations; 0: steps are limits

  bool operator==(const ClosedLoop&) const = default;
};

/// One set of runs that claims speak of: a solver, a start, a setting.
struct Variant {
  std::string name;
  std::string source;              ///< file name as given, or the family and algorithm of our own run
  std::string sha256;              ///< of the data file; empty for our own runs
  Index samples = 0;               ///< N: problems, groups, or ticks of a log
  Index columns = 0;               ///< steps recorded
  Index first_step = 0;            ///< label of the first column
  Index last_step = 0;             ///< of the last: the horizon
  Index non_finite_runs = 0;       ///< runs with an infinity or NaN, counted as failed from there on
  bool values_rounded_up = false;  ///< order statistics rounded up by at most 0.1 % to bound memory
  /// Every recorded step, where they are not first_step, first_step + 1, ..., last_step; otherwise empty.
  std::vector<Index> recorded_steps = {};
  /// Of a learned optimizer. With `pac_bayes`, claims speak of weights drawn anew for every problem and
  /// follow from counts of runs on the training samples; without, the samples are new ones (hold-out).
  std::optional<Weights> weights = std::nullopt;
  std::optional<PacBayes> pac_bayes = std::nullopt;
  /// Which samples were counted, where that is known.
  std::optional<SampleProvenance> provenance = std::nullopt;
  std::vector<std::string> reading =
      {};  ///< how a table was read: where its steps come from, what was skipped
  std::optional<Independence> independence = std::nullopt;  ///< none: rows were not looked at
  std::optional<Selection> selection = std::nullopt;        ///< of a table of text: which of its cells count
  /// In their order; `source`, `sha256` and `reading` are of the first table, all else is of all rows. Claims
  /// must hold at every number of runs (holds_anytime).
  std::vector<AppendedTable> appended = {};
  std::optional<Groups> groups = std::nullopt;  ///< none: rows are problems, or ticks of a log
};

/// Rows of its table: ticks of all groups, or its samples.
Index rows_of(const Variant& variant);

/// Sets columns, first_step, last_step and recorded_steps of a variant that recorded these steps.
void set_recorded_steps(Variant& variant, const std::vector<Index>& steps);
/// Whether the variant recorded the step, as far as the certificate says which.
bool records(const Variant& variant, Index step);

/// Whether steps between the first and the last were not recorded; known of certificates of format 1 too.
bool has_gaps(const Variant& variant);

/// A part of the confidence budget: `claims` claims of `delta` each.
struct Share {
  std::string purpose;
  Index claims = 0;
  double delta_each = 0;
};

enum class Simultaneity {
  all,   ///< all claims hold together with the stated confidence (union bound)
  each,  ///< each claim alone holds with the stated confidence
};
std::string_view name(Simultaneity simultaneous);
Simultaneity parse_simultaneity(std::string_view text);

/// The format that to_json writes. Format 1 stays readable: its certificates verify for ever.
inline constexpr int current_format = 2;

/// The wording of new certificates (sentences.hpp). 1: assumptions of format 1, no statements. 2: independent
/// and identically distributed; settling claims say up to which iteration. 3: assumptions speak of
/// what is declared, and a success rate is quoted with the largest share that any claim implies
/// (implied.hpp).
inline constexpr int current_wording = 3;

struct Certificate;
/// Whether every claim holds at every number of runs at once: the declared method of risks is anytime.
bool holds_anytime(const Certificate& certificate);

/// Names of metric, unit, title and variants stand in the sentences: one line each, and no longer than this.
inline constexpr std::size_t longest_name = 200;
/// Why it cannot be such a name; empty if it can. `what` it names stands in the answer.
std::string fault_of_name(std::string_view what, std::string_view name);
/// InputError with the fault, if there is one.
void require_name(std::string_view what, std::string_view name);

/// What the one column of a scalar is called inside; nobody reads it.
inline constexpr Index scalar_step = 0;

struct Certificate {
  int format = current_format;  ///< of its text (certificate_json.hpp)
  std::string title;
  std::string metric = "metric";
  std::string unit;
  /// One number per problem: no steps, and success is at most the tolerance.
  bool scalar = false;
  double delta = 0.01;  ///< total: confidence is 1 - delta
  Simultaneity simultaneous = Simultaneity::all;
  std::vector<Index> steps;  ///< steps that success and quantile claims speak of
  std::vector<double> tolerances;
  std::vector<double> quantiles;
  std::vector<double> grid;  ///< tolerances of quantile method `grid`; empty otherwise
  /// Risk bound of methods `grid` and `paper`; anytime: all claims are by that method.
  bounds::RiskMethod grid_method = bounds::RiskMethod::exact;
  Index value_limit = 0;  ///< numbers kept exactly for order statistics; beyond it they are rounded up
  std::vector<Variant> variants;
  std::vector<Share> shares;
  std::vector<SuccessClaim> success;
  std::vector<QuantileClaim> quantile;
  std::vector<BudgetClaim> budget;
  std::vector<BandClaim> bands;
  std::vector<AverageClaim> average;
  std::vector<SequenceClaim> sequence;
  std::vector<MeanClaim> mean;
  int wording = current_wording;         ///< of its statements and assumptions
  std::vector<std::string> assumptions;  ///< in words
  std::string run = "null";              ///< JSON: seed and settings of our own runs; null for others' tables
  /// JSON: the command that makes the runs again (app/rerun.hpp); null if there is none.
  std::string rerun = "null";
  /// JSON: the proof of a worst case that the user states to apply (worst_case_part.hpp); null if there is
  /// none.
  std::string worst_case = "null";
  /// Other distributions that claims are stated under too (shift_part.hpp).
  std::optional<bounds::Shift> shift;
  std::optional<MetricRange> range;  ///< of the metric, where means are claimed
  std::optional<ClosedLoop> loop;    ///< none: runs are of one problem each
  std::string version;
};

/// What the claims of the certificate are of.
Sampling sampling_of(const Certificate& certificate);

}  // namespace surefoot::certify
