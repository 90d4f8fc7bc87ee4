#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot {
class ByteReader;
class ByteWriter;
}  // namespace surefoot

namespace surefoot::runs {

/// Maxima are rounded up once there are more than a so much smaller number of them than of values.
inline constexpr Index maxima_share = 8;

/// What is counted over the runs of one variant. A run is a row phi_{k_0}, phi_{k_1}, ...: one number per
/// step.
struct TallySpec {
  std::vector<Index> steps;        ///< label of each column, strictly increasing
  std::vector<double> tolerances;  ///< strictly increasing; failure at step k is phi_k >= tolerance
  /// One number per run, which has no steps: one column, and failure is phi > tolerance ("at most").
  bool scalar = false;
  std::vector<std::size_t> claim_columns;  ///< columns that quantile claims speak of
  std::vector<double> grid;  ///< strictly increasing; counted at claim_columns instead of keeping values
  bool keep_values = true;   ///< keep the values of claim_columns for order statistics
  bool keep_maxima = false;  ///< keep values, and the largest value from there on, for bands (Tally::maxima)
  bool grouped = false;      ///< a run is a group of ticks (tick_group.hpp): the largest of them at each step
  bool keep_shares = false;  ///< of groups: the share of failed ticks at claim_columns, by tolerance
  /// By claim column: values there are said to lie in [0, range], and the first run that leaves it is noted.
  /// Empty: nothing is said. Values are then kept.
  std::vector<double> ranges = {};
  Index value_limit = Index{1} << 26;  ///< numbers kept exactly; beyond it they are rounded up (below)

  void validate() const;
  bool operator==(const TallySpec&) const = default;
};

/// The smallest double >= x with so many binary digits after the leading one; infinities and NaN stay.
double rounded_up(double x, int digits);

/// A value and how often it comes.
struct ValueCount {
  double value = 0;
  Index count = 0;
};

/// A run whose value at a claim column is not in its range.
struct OutsideRange {
  Index row = 0;  ///< its number, as told to add_run
  Index step = 0;
  double value = 0;
  double range = 0;

  bool operator==(const OutsideRange&) const = default;
};

class TickGroup;

/// Order statistics of one column in bounded memory. Values are kept exactly while they fit; a store that was
/// told to round keeps counts of values rounded up to 10 binary digits after the leading one (relative
/// 2^-10), so that an order statistic is never below the true one. Runs that failed by divergence count as
/// +infinity. Several threads may read one store at once: values are sorted by whoever reads first.
class ValueStore {
 public:
  void add(double value);
  void merge(const ValueStore& other);
  void round_up();
  [[nodiscard]] bool rounded() const { return rounded_; }
  [[nodiscard]] Index size() const { return size_; }
  /// The rank-th smallest value, 1 <= rank <= size().
  [[nodiscard]] double order_statistic(Index rank) const;
  /// How many values are <= v, and how many are < v.
  [[nodiscard]] Index count_at_most(double v) const;
  [[nodiscard]] Index count_below(double v) const;
  /// The different values, increasing.
  [[nodiscard]] std::vector<ValueCount> different_values() const;

  /// Everything, in an order that does not depend on how the values came.
  void write_state(ByteWriter& to) const;
  /// Refuses what no store can hold.
  static ValueStore read_state(ByteReader& from);

 private:
  void compact() const;
  void compact_to_read() const;
  Index size_ = 0;
  bool rounded_ = false;
  mutable bool sorted_ = true;
  mutable std::vector<double> values_;
  mutable std::vector<ValueCount> bins_;
};

/// Counts of everything that claims need; adding rows in any order or grouping gives the same counts.
class Tally {
 public:
  explicit Tally(TallySpec spec);

  /// One run: spec.steps.size() numbers. From the first infinite or NaN entry on, the run has failed.
  /// Where runs are groups: a group of one tick. `row` is its number, for outside().
  void add_run(const double* values, Index row = 0);
  /// One group of ticks, made for this specification.
  void add_group(const TickGroup& group, Index row = 0);
  void merge(const Tally& other);
  /// Rounds values up at once where this many runs in all will make that necessary: a part of a large tally
  /// then needs no more room than the whole.
  void expect(Index samples_in_all);

  /// Everything as bytes: equal counts of equal runs give equal bytes, however they were added and merged.
  [[nodiscard]] std::string state() const;
  /// The tally with that state. Throws InputError if the bytes are damaged, of another version, of another
  /// specification, or counts that no runs have.
  static Tally from_state(const TallySpec& spec, std::string_view bytes);

  [[nodiscard]] const TallySpec& spec() const { return spec_; }
  [[nodiscard]] Index samples() const { return samples_; }
  /// Runs with an infinite or NaN entry.
  [[nodiscard]] Index non_finite_runs() const { return non_finite_runs_; }

  /// F(column, tolerance): runs with phi >= tolerance at that step; of scalars, with phi > tolerance.
  [[nodiscard]] Index failures(std::size_t column, std::size_t tolerance) const;
  /// The same for spec().grid; `claim_column` counts within spec().claim_columns.
  [[nodiscard]] Index grid_failures(std::size_t claim_column, std::size_t grid_index) const;
  [[nodiscard]] const ValueStore& values(std::size_t claim_column) const;
  /// V = the largest phi from that column to the last, infinite for a run that fails anywhere there. Kept
  /// exactly for an eighth of value_limit numbers, rounded up beyond.
  [[nodiscard]] const ValueStore& maxima(std::size_t claim_column) const;
  [[nodiscard]] bool values_rounded_up() const { return !stores_.empty() && stores_.front().rounded(); }
  /// Of groups: the share of ticks with phi >= tolerance, of every group, rounded up; spec().keep_shares.
  [[nodiscard]] const ValueStore& failed_shares(std::size_t claim_column, std::size_t tolerance) const;
  /// The run with the smallest number that leaves spec().ranges, at the first such step; none if all are
  /// inside.
  [[nodiscard]] const std::optional<OutsideRange>& outside() const { return outside_; }
  /// Of groups: ticks in all, and of the smallest and the largest group.
  [[nodiscard]] Index ticks() const { return ticks_; }
  [[nodiscard]] Index fewest_ticks() const { return fewest_ticks_; }
  [[nodiscard]] Index most_ticks() const { return most_ticks_; }

  /// By column: runs whose settling time (first step from which phi stays below the tolerance to the last
  /// column) is at most steps[column].
  [[nodiscard]] std::vector<Index> settled(std::size_t tolerance) const;
  /// By column: runs that have been below the tolerance at some step up to steps[column].
  [[nodiscard]] std::vector<Index> hit(std::size_t tolerance) const;

 private:
  TallySpec spec_;
  Index samples_ = 0;
  Index non_finite_runs_ = 0;
  std::vector<Index> failure_bins_;   // columns x (tolerances + 1): how many tolerances the value reaches
  std::vector<Index> grid_bins_;      // quantile columns x (grid + 1)
  std::vector<Index> settling_bins_;  // tolerances x (columns + 1); the last: never
  std::vector<Index> hit_bins_;       // tolerances x (columns + 1); the last: never
  std::vector<ValueStore> stores_;
  std::vector<ValueStore> maxima_;
  std::vector<ValueStore> shares_;  // claim columns x tolerances
  Index ticks_ = 0;
  Index fewest_ticks_ = 0;
  Index most_ticks_ = 0;
  std::optional<OutsideRange> outside_;
  std::vector<Index> settled_scratch_;
  std::vector<Index> hit_scratch_;

  void count_run(const double* values, Index row);
  void note_outside(const OutsideRange& found);
  void note_ticks(Index ticks, Index fewest, Index most);
  void round_if_many(Index samples);
};

/// The tally of all processes (core/ranks.hpp) from each one's own; every rank gets it.
[[nodiscard]] Tally sum_over_ranks(Tally own);

}  // namespace surefoot::runs
