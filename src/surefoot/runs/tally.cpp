#include "surefoot/runs/tally.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/work_interrupt.hpp"
#include "surefoot/runs/tick_group.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace surefoot::runs {

namespace {

void require_increasing(const char* what, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(std::isfinite(values[i]), "{}: {} is not a finite number", what, values[i]);
    require(i == 0 || values[i - 1] < values[i], "{}: {} does not come after {}; the list must increase",
            what, values[i], values[i - 1]);
  }
}

constexpr int kept_digits = 10;

// How many of the tolerances a value fails.
std::size_t reached(const TallySpec& spec, double value) {
  std::size_t count = 0;
  for (const double tolerance : spec.tolerances)
    count += value > tolerance || (value == tolerance && !spec.scalar) ? 1 : 0;
  return count;
}

void add_counts(std::vector<Index>& to, const std::vector<Index>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// Sum of bins first..last-1 of one row of a table of bins.
Index sum_bins(const std::vector<Index>& bins, std::size_t row, std::size_t width, std::size_t first,
               std::size_t last) {
  Index sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += bins.at(row * width + i);
  return sum;
}

// Running sums of the first `columns` bins of a row of columns + 1 bins.
std::vector<Index> cumulative(const std::vector<Index>& bins, std::size_t row, std::size_t columns) {
  std::vector<Index> sums(columns);
  const auto first = bins.begin() + static_cast<std::ptrdiff_t>(row * (columns + 1));
  std::partial_sum(first, first + static_cast<std::ptrdiff_t>(columns), sums.begin());
  return sums;
}

constexpr std::string_view state_version = "surefoot tally 4";
constexpr std::string_view state_name = "state of a tally";

void write_spec(ByteWriter& to, const TallySpec& spec) {
  to.list(spec.steps);
  to.list(spec.tolerances);
  to.number(spec.scalar);
  to.list(spec.claim_columns);
  to.list(spec.grid);
  to.number(spec.keep_values);
  to.number(spec.keep_maxima);
  to.number(spec.grouped);
  to.number(spec.keep_shares);
  to.number(spec.value_limit);
  to.list(spec.ranges);
}

TallySpec read_spec(ByteReader& from) {
  TallySpec spec;
  spec.steps = from.list<Index>();
  spec.tolerances = from.list<double>();
  spec.scalar = from.number<unsigned char>() != 0;
  spec.claim_columns = from.list<std::size_t>();
  spec.grid = from.list<double>();
  spec.keep_values = from.number<unsigned char>() != 0;
  spec.keep_maxima = from.number<unsigned char>() != 0;
  spec.grouped = from.number<unsigned char>() != 0;
  spec.keep_shares = from.number<unsigned char>() != 0;
  spec.value_limit = from.number<Index>();
  spec.ranges = from.list<double>();
  return spec;
}

// Every run is in one bin of each row of a table of bins.
void read_bins(ByteReader& from, std::vector<Index>& bins, std::size_t width, Index samples) {
  std::vector<Index> read = from.list<Index>();
  require(read.size() == bins.size(), "{}: {} counts where there are {}", state_name, read.size(),
          bins.size());
  for (std::size_t row = 0; row < read.size(); row += width) {
    Index left = samples;
    for (std::size_t i = row; i < row + width; ++i) {
      require(read[i] >= 0 && read[i] <= left, "{}: a count of {} where {} runs are left", state_name,
              read[i], left);
      left -= read[i];
    }
    require(left == 0, "{}: {} of {} runs are not counted", state_name, left, samples);
  }
  bins = std::move(read);
}

}  // namespace

// Adding to the bit pattern carries into the exponent; for negative numbers dropping bits moves towards zero,
// which is up. Zero has no sign.
double rounded_up(double x, int digits) {
  if (!std::isfinite(x)) return x;
  const std::uint64_t dropped = (std::uint64_t{1} << (std::numeric_limits<double>::digits - 1 - digits)) - 1;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  if (x > 0) bits += dropped;
  bits &= ~dropped;
  std::memcpy(&x, &bits, sizeof bits);
  return x + 0.0;
}

void TallySpec::validate() const {
  require(!steps.empty(), "steps: there is no column");
  for (std::size_t i = 1; i < steps.size(); ++i) {
    require(steps[i - 1] < steps[i], "steps: {} does not come after {}; they must increase", steps[i],
            steps[i - 1]);
  }
  require(!scalar || steps.size() == 1, "steps: {} columns, a scalar has one", steps.size());
  require_increasing("tolerances", tolerances);
  require_increasing("grid", grid);
  for (std::size_t i = 0; i < claim_columns.size(); ++i) {
    require(claim_columns[i] < steps.size(), "claim column {} of {}", claim_columns[i], steps.size());
    require(!keep_maxima || i == 0 || claim_columns[i - 1] < claim_columns[i],
            "claim column {} does not come after {}", claim_columns[i], i == 0 ? 0 : claim_columns[i - 1]);
  }
  require(value_limit >= 0, "value_limit: {} is negative", value_limit);
  require(ranges.empty() || ranges.size() == claim_columns.size(), "ranges: {} of {} claim columns",
          ranges.size(), claim_columns.size());
  for (const double range : ranges)
    require(range > 0 && std::isfinite(range), "ranges: {} is not positive and finite", range);
  require(grouped || !keep_shares, "shares of failed ticks are of groups");
}

void ValueStore::add(double value) {
  ++size_;
  // Zero loses its sign: both compare equal, so which of them is an order statistic would depend on the
  // order.
  values_.push_back(rounded_ ? rounded_up(value, kept_digits) : value + 0.0);
  sorted_ = false;
  // As many as there are different ones: sorting them in costs each a few steps, and they need less than
  // bins.
  constexpr std::size_t fewest = 1 << 12;
  if (rounded_ && values_.size() >= std::max(fewest, bins_.size())) compact();
}

void ValueStore::round_up() {
  if (rounded_) return;
  rounded_ = true;
  for (double& value : values_) value = rounded_up(value, kept_digits);
  compact();
}

void ValueStore::merge(const ValueStore& other) {
  WorkInterrupt::check();
  if (other.rounded_) round_up();
  size_ += other.size_;
  other.compact_to_read();
  if (other.rounded_) {
    std::vector<ValueCount> merged;
    compact();
    std::merge(bins_.begin(), bins_.end(), other.bins_.begin(), other.bins_.end(), std::back_inserter(merged),
               [](const ValueCount& a, const ValueCount& b) { return a.value < b.value; });
    bins_.clear();
    for (const ValueCount& bin : merged) {
      if (!bins_.empty() && bins_.back().value == bin.value) {
        bins_.back().count += bin.count;
      } else {
        bins_.push_back(bin);
      }
    }
    return;
  }
  for (const double value : other.values_)
    values_.push_back(rounded_ ? rounded_up(value, kept_digits) : value);
  sorted_ = false;
  if (rounded_) compact();
}

void ValueStore::compact() const {
  if (!sorted_ || rounded_) sort_interruptibly(values_);
  sorted_ = true;
  if (!rounded_ || values_.empty()) return;
  std::vector<ValueCount> merged;
  merged.reserve(bins_.size() + 64);
  auto old = bins_.begin();
  const auto append = [&](double value, Index count) {
    if (!merged.empty() && merged.back().value == value) {
      merged.back().count += count;
    } else {
      merged.push_back({value, count});
    }
  };
  for (const double value : values_) {
    for (; old != bins_.end() && old->value <= value; ++old) append(old->value, old->count);
    append(value, 1);
  }
  for (; old != bins_.end(); ++old) append(old->value, old->count);
  bins_ = std::move(merged);
  values_.clear();
}

void ValueStore::compact_to_read() const {
  // One for all stores: they stay copyable, and it is held while a store is read for the first time.
  static std::mutex reading;
  const std::scoped_lock lock(reading);
  compact();
}

double ValueStore::order_statistic(Index rank) const {
  require(rank >= 1 && rank <= size_, "rank: {} is outside 1 .. {}", rank, size_);
  compact_to_read();
  if (!rounded_) return values_[static_cast<std::size_t>(rank - 1)];
  Index seen = 0;
  for (const ValueCount& bin : bins_) {
    seen += bin.count;
    if (seen >= rank) return bin.value;
  }
  return infinity;
}

Index ValueStore::count_below(double v) const {
  compact_to_read();
  if (!rounded_) return std::lower_bound(values_.begin(), values_.end(), v) - values_.begin();
  Index count = 0;
  for (const ValueCount& bin : bins_) count += bin.value < v ? bin.count : 0;
  return count;
}

Index ValueStore::count_at_most(double v) const {
  compact_to_read();
  if (!rounded_) return std::upper_bound(values_.begin(), values_.end(), v) - values_.begin();
  Index count = 0;
  for (const ValueCount& bin : bins_) count += bin.value <= v ? bin.count : 0;
  return count;
}

std::vector<ValueCount> ValueStore::different_values() const {
  compact_to_read();
  if (rounded_) return bins_;
  std::vector<ValueCount> different;
  for (const double value : values_) {
    if (different.empty() || different.back().value != value) different.push_back({value, 0});
    ++different.back().count;
  }
  return different;
}

void ValueStore::write_state(ByteWriter& to) const {
  compact_to_read();
  to.number(rounded_);
  std::vector<double> values = values_;
  std::vector<Index> counts;
  for (const ValueCount& bin : bins_) {
    values.push_back(bin.value);
    counts.push_back(bin.count);
  }
  to.list(values);
  to.list(counts);
}

ValueStore ValueStore::read_state(ByteReader& from) {
  ValueStore store;
  store.rounded_ = from.number<unsigned char>() != 0;
  std::vector<double> values = from.list<double>();
  const std::vector<Index> counts = from.list<Index>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool follows =
        i == 0 || values[i - 1] < values[i] || (!store.rounded_ && values[i - 1] == values[i]);
    require(!std::isnan(values[i]) && follows, "{}: value {} is out of order", state_name, values[i]);
    require(!store.rounded_ || rounded_up(values[i], kept_digits) == values[i], "{}: value {} is not rounded",
            state_name, values[i]);
    values[i] += 0.0;
  }
  require(counts.size() == (store.rounded_ ? values.size() : 0), "{}: {} values and {} counts", state_name,
          values.size(), counts.size());
  if (!store.rounded_) {
    store.size_ = static_cast<Index>(values.size());
    store.values_ = std::move(values);
    return store;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    require(counts[i] > 0 && counts[i] <= std::numeric_limits<Index>::max() - store.size_,
            "{}: a value comes {} times", state_name, counts[i]);
    store.size_ += counts[i];
    store.bins_.push_back({values[i], counts[i]});
  }
  return store;
}

Tally::Tally(TallySpec spec)
    : spec_(std::move(spec)),
      failure_bins_(spec_.steps.size() * (spec_.tolerances.size() + 1)),
      grid_bins_(spec_.grid.empty() ? 0 : spec_.claim_columns.size() * (spec_.grid.size() + 1)),
      settling_bins_(spec_.tolerances.size() * (spec_.steps.size() + 1)),
      hit_bins_(settling_bins_.size()),
      stores_(spec_.keep_maxima || !spec_.ranges.empty() || (spec_.keep_values && spec_.grid.empty())
                  ? spec_.claim_columns.size()
                  : 0),
      maxima_(spec_.keep_maxima ? spec_.claim_columns.size() : 0),
      shares_(spec_.keep_shares ? spec_.claim_columns.size() * spec_.tolerances.size() : 0),
      settled_scratch_(spec_.tolerances.size()),
      hit_scratch_(spec_.tolerances.size()) {
  spec_.validate();
}

void Tally::add_run(const double* values, Index row) {
  if (!spec_.grouped) return count_run(values, row);
  TickGroup alone(spec_);
  alone.add_tick(spec_, values);
  add_group(alone, row);
}

void Tally::add_group(const TickGroup& group, Index row) {
  require(spec_.grouped && group.ticks() > 0, "a group of {} ticks is added to counts of {}", group.ticks(),
          spec_.grouped ? "groups" : "runs");
  note_ticks(group.ticks(), group.ticks(), group.ticks());
  for (std::size_t i = 0; i < shares_.size(); ++i) shares_[i].add(group.failed_share(i));
  count_run(group.largest().data(), row);
}

void Tally::note_ticks(Index ticks, Index fewest, Index most) {
  fewest_ticks_ = ticks_ == 0 ? fewest : std::min(fewest_ticks_, fewest);
  most_ticks_ = std::max(most_ticks_, most);
  ticks_ += ticks;
}

void Tally::note_outside(const OutsideRange& found) {
  const auto place = [](const OutsideRange& each) {
    return std::tuple(each.row, each.step, std::bit_cast<std::uint64_t>(each.value));
  };
  if (!outside_ || place(found) < place(*outside_)) outside_ = found;
}

void Tally::count_run(const double* values, Index row) {
  const std::size_t columns = spec_.steps.size();
  const std::size_t tolerances = spec_.tolerances.size();
  std::size_t finite = 0;
  while (finite < columns && std::isfinite(values[finite])) ++finite;
  ++samples_;
  non_finite_runs_ += finite < columns ? 1 : 0;
  const auto value_at = [&](std::size_t column) { return column < finite ? values[column] : infinity; };

  std::fill(settled_scratch_.begin(), settled_scratch_.end(), Index{0});
  std::fill(hit_scratch_.begin(), hit_scratch_.end(), static_cast<Index>(columns));
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t bin = reached(spec_, value_at(column));
    ++failure_bins_[column * (tolerances + 1) + bin];
    for (std::size_t t = 0; t < bin; ++t) settled_scratch_[t] = static_cast<Index>(column) + 1;
    for (std::size_t t = bin; t < tolerances; ++t) {
      hit_scratch_[t] = std::min(hit_scratch_[t], static_cast<Index>(column));
    }
  }
  for (std::size_t t = 0; t < tolerances; ++t) {
    ++settling_bins_[t * (columns + 1) + static_cast<std::size_t>(settled_scratch_[t])];
    ++hit_bins_[t * (columns + 1) + static_cast<std::size_t>(hit_scratch_[t])];
  }

  const std::size_t grid_width = spec_.grid.size() + 1;
  for (std::size_t i = 0; i < spec_.claim_columns.size(); ++i) {
    const double value = value_at(spec_.claim_columns[i]);
    if (!spec_.ranges.empty() && !(value >= 0 && value <= spec_.ranges[i]))
      note_outside({row, spec_.steps[spec_.claim_columns[i]], value, spec_.ranges[i]});
    if (!stores_.empty()) stores_[i].add(value);
    if (!spec_.grid.empty()) {
      const auto bin = std::upper_bound(spec_.grid.begin(), spec_.grid.end(), value) - spec_.grid.begin();
      ++grid_bins_[i * grid_width + static_cast<std::size_t>(bin)];
    }
  }
  if (!maxima_.empty()) {
    double largest = -infinity;
    std::size_t column = columns;
    for (std::size_t i = maxima_.size(); i-- > 0;) {
      while (column > spec_.claim_columns[i]) largest = std::max(largest, value_at(--column));
      maxima_[i].add(largest);
    }
  }
  round_if_many(samples_);
}

void Tally::merge(const Tally& other) {
  samples_ += other.samples_;
  non_finite_runs_ += other.non_finite_runs_;
  if (other.outside_) note_outside(*other.outside_);
  if (other.ticks_ > 0) note_ticks(other.ticks_, other.fewest_ticks_, other.most_ticks_);
  add_counts(failure_bins_, other.failure_bins_);
  add_counts(grid_bins_, other.grid_bins_);
  add_counts(settling_bins_, other.settling_bins_);
  add_counts(hit_bins_, other.hit_bins_);
  for (std::size_t i = 0; i < stores_.size(); ++i) stores_[i].merge(other.stores_[i]);
  for (std::size_t i = 0; i < maxima_.size(); ++i) maxima_[i].merge(other.maxima_[i]);
  for (std::size_t i = 0; i < shares_.size(); ++i) shares_[i].merge(other.shares_[i]);
  round_if_many(samples_);
}

void Tally::expect(Index samples_in_all) {
  round_if_many(samples_in_all);
}

void Tally::round_if_many(Index samples) {
  if (!shares_.empty() && samples > spec_.value_limit / static_cast<Index>(shares_.size()))
    for (ValueStore& store : shares_) store.round_up();
  if (stores_.empty()) return;
  const auto more_than = [&](Index limit) { return samples > limit / static_cast<Index>(stores_.size()); };
  if (more_than(spec_.value_limit))
    for (ValueStore& store : stores_) store.round_up();
  if (more_than(spec_.value_limit / maxima_share))
    for (ValueStore& store : maxima_) store.round_up();
}

std::string Tally::state() const {
  ByteWriter to;
  to.text(state_version);
  write_spec(to, spec_);
  to.number(samples_);
  to.number(non_finite_runs_);
  for (const Index ticks : {ticks_, fewest_ticks_, most_ticks_}) to.number(ticks);
  to.number(outside_.has_value());
  if (outside_) {
    to.number(outside_->row);
    to.number(outside_->step);
    to.number(outside_->value);
    to.number(outside_->range);
  }
  for (const auto* bins : {&failure_bins_, &grid_bins_, &settling_bins_, &hit_bins_}) to.list(*bins);
  for (const auto* stores : {&stores_, &maxima_, &shares_})
    for (const ValueStore& store : *stores) store.write_state(to);
  return to.take();
}

Tally Tally::from_state(const TallySpec& spec, std::string_view bytes) {
  ByteReader from(bytes, state_name);
  require(from.text() == state_version, "{}: is not of this version ('{}')", state_name, state_version);
  require(read_spec(from) == spec, "{}: counts something else (other steps, tolerances, grid or claims)",
          state_name);
  Tally tally(spec);
  tally.samples_ = from.number<Index>();
  tally.non_finite_runs_ = from.number<Index>();
  require(tally.samples_ >= 0 && tally.non_finite_runs_ >= 0 && tally.non_finite_runs_ <= tally.samples_,
          "{}: {} of {} runs are not finite", state_name, tally.non_finite_runs_, tally.samples_);
  tally.ticks_ = from.number<Index>();
  tally.fewest_ticks_ = from.number<Index>();
  tally.most_ticks_ = from.number<Index>();
  const bool none = tally.samples_ == 0 || !spec.grouped;
  require(none ? tally.ticks_ == 0
               : tally.fewest_ticks_ >= 1 && tally.fewest_ticks_ <= tally.most_ticks_ &&
                     tally.ticks_ >= tally.samples_ && tally.most_ticks_ <= tally.ticks_,
          "{}: {} runs have {} ticks", state_name, tally.samples_, tally.ticks_);
  if (from.number<unsigned char>() != 0) {
    OutsideRange found;
    found.row = from.number<Index>();
    found.step = from.number<Index>();
    found.value = from.number<double>();
    found.range = from.number<double>();
    require(!(found.value >= 0 && found.value <= found.range), "{}: {} is noted and not outside", state_name,
            found.value);
    tally.outside_ = found;
  }
  const std::size_t tolerance_bins = spec.tolerances.size() + 1;
  const std::size_t step_bins = spec.steps.size() + 1;
  read_bins(from, tally.failure_bins_, tolerance_bins, tally.samples_);
  read_bins(from, tally.grid_bins_, spec.grid.size() + 1, tally.samples_);
  read_bins(from, tally.settling_bins_, step_bins, tally.samples_);
  read_bins(from, tally.hit_bins_, step_bins, tally.samples_);
  for (auto* stores : {&tally.stores_, &tally.maxima_, &tally.shares_}) {
    for (ValueStore& store : *stores) {
      store = ValueStore::read_state(from);
      require(store.size() == tally.samples_, "{}: {} values of {} runs", state_name, store.size(),
              tally.samples_);
      require(store.rounded() == stores->front().rounded(), "{}: some values are rounded and some not",
              state_name);
    }
  }
  from.finish();
  tally.round_if_many(tally.samples_);
  return tally;
}

Index Tally::failures(std::size_t column, std::size_t tolerance) const {
  const std::size_t width = spec_.tolerances.size() + 1;
  return sum_bins(failure_bins_, column, width, tolerance + 1, width);
}

Index Tally::grid_failures(std::size_t claim_column, std::size_t grid_index) const {
  const std::size_t width = spec_.grid.size() + 1;
  return sum_bins(grid_bins_, claim_column, width, grid_index + 1, width);
}

const ValueStore& Tally::values(std::size_t claim_column) const {
  return stores_.at(claim_column);
}

const ValueStore& Tally::maxima(std::size_t claim_column) const {
  return maxima_.at(claim_column);
}

const ValueStore& Tally::failed_shares(std::size_t claim_column, std::size_t tolerance) const {
  return shares_.at(claim_column * spec_.tolerances.size() + tolerance);
}

std::vector<Index> Tally::settled(std::size_t tolerance) const {
  return cumulative(settling_bins_, tolerance, spec_.steps.size());
}

std::vector<Index> Tally::hit(std::size_t tolerance) const {
  return cumulative(hit_bins_, tolerance, spec_.steps.size());
}

Tally sum_over_ranks(Tally own) {
  if (!ranks().several()) return own;
  const TallySpec spec = own.spec();
  own.expect(ranks().sum(own.samples()));
  const std::string whole =
      ranks().reduce([&] { return own.state(); },
                     [&](std::string_view state) { own.merge(Tally::from_state(spec, state)); });
  return ranks().first() ? own : Tally::from_state(spec, whole);
}

}  // namespace surefoot::runs
