#include "surefoot/certify/run_counter.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <utility>

namespace surefoot::certify {

namespace {

/// Residuals are roots of sums of squares: what is smaller may be measured as 0.
constexpr double smallest_tolerance = 1e-150;

}  // namespace

RunCounter::RunCounter(const runs::TallySpec& spec, CountJournal* journal)
    : RunCounter(std::vector<runs::TallySpec>{spec}, journal) {}

RunCounter::RunCounter(const std::vector<runs::TallySpec>& specs, CountJournal* journal)
    : specs_(specs), journal_(journal) {
  const std::size_t each = std::max<std::size_t>(1, tallies / specs_.size());
  for (const runs::TallySpec& spec : specs_) {
    for (const double tolerance : spec.tolerances) {
      require(!(tolerance > 0 && tolerance < smallest_tolerance),
              "tolerances: {} is below {}, where the squares in the metrics of a run are lost", tolerance,
              smallest_tolerance);
    }
    Shards& shards = groups_.emplace_back();
    for (std::size_t i = 0; i < each; ++i) shards.push_back(std::make_unique<Shard>(spec));
  }
  if (journal_ == nullptr) return;
  if (const std::optional<std::string> left = journal_->begin()) restore(*left);
}

void RunCounter::run(const algorithms::Operator& op, const runs::Metric& metric, const runs::Start& start,
                     const runs::RunOptions& options, Index base, const TraceListener& listener) {
  runs::RunOptions shared = options;
  shared.shared = true;
  run_numbered(
      op, {metric}, start, shared, {base, 0}, [](std::size_t, Index) { return 0; }, listener);
}

void RunCounter::run_own(const algorithms::Operator& op, const runs::Metric& metric, const runs::Start& start,
                         const runs::RunOptions& options, Index base, const TraceListener& listener) {
  runs::RunOptions own = options;
  own.shared = false;
  run_numbered(
      op, {metric}, start, own, {base, 0}, [](std::size_t, Index) { return 0; }, listener);
}

void RunCounter::expect(Index runs) {
  for (const Shards& shards : groups_)
    for (const std::unique_ptr<Shard>& shard : shards) shard->tally.expect(runs);
}

void RunCounter::run_grouped(const algorithms::Operator& op, const std::vector<runs::Metric>& metrics,
                             const runs::Start& start, const runs::RunOptions& options,
                             const GroupOf& group_of) {
  runs::RunOptions shared = options;
  shared.shared = true;
  run_numbered(op, metrics, start, shared, {0, op.instances()}, group_of, nullptr);
}

void RunCounter::run_numbered(const algorithms::Operator& op, const std::vector<runs::Metric>& metrics,
                              const runs::Start& start, runs::RunOptions options, const Numbers& numbers,
                              const GroupOf& group_of, const TraceListener& listener) {
  if (journal_ != nullptr) {
    options.wanted = [&](Index first, Index count) {
      bool done = true;
      for (std::size_t metric = 0; metric < metrics.size(); ++metric)
        done = done && is_done(numbers.of(metric, first), count);
      if (done) return false;
      journal_->interrupt();
      return true;
    };
  }
  try {
    runs::run(op, metrics, start, options, [&](std::size_t metric, Index instance, const double* trace) {
      add(group_of(metric, instance), numbers.of(metric, instance), instance, trace, listener);
      if (keeps() && journal_->due()) keep();
    });
  } catch (const Interrupted&) {
    if (keeps()) keep();
    throw;
  }
}

void RunCounter::add(std::size_t group, Index number, Index instance, const double* trace,
                     const TraceListener& listener) {
  const std::shared_lock adding(adding_);
  if (!is_new(number)) return;
  {
    const Shards& shards = groups_.at(group);
    Shard& shard = *shards[static_cast<std::size_t>(number) / lanes % shards.size()];
    const std::scoped_lock lock(shard.mutex);
    shard.tally.add_run(trace, number);
  }
  if (listener) {
    const std::scoped_lock lock(listening_);
    listener(instance, trace);
  }
}

bool RunCounter::is_done(Index first, Index count) const {
  const std::scoped_lock lock(done_mutex_);
  return done_.contains(first, count);
}

// A block may have been counted in part.
bool RunCounter::is_new(Index number) {
  if (!keeps()) return true;
  const std::scoped_lock lock(done_mutex_);
  if (done_.contains(number)) return false;
  done_.add(number);
  return true;
}

Index RunCounter::counted() const {
  const std::scoped_lock lock(done_mutex_);
  return done_.size();
}

runs::Tally RunCounter::finish() {
  return std::move(finish_groups().front());
}

std::vector<runs::Tally> RunCounter::finish_groups() {
  if (keeps()) journal_->end(state());
  std::vector<runs::Tally> counts;
  for (const Shards& shards : groups_) counts.push_back(runs::sum_over_ranks(sum(shards)));
  return counts;
}

runs::Tally RunCounter::sum(const Shards& shards) {
  runs::Tally total = shards.front()->tally;
  for (std::size_t i = 1; i < shards.size(); ++i) total.merge(shards[i]->tally);
  return total;
}

void RunCounter::keep() {
  journal_->keep(state());
}

std::string RunCounter::state() {
  const std::unique_lock between_runs(adding_);
  ByteWriter to;
  done_.write_state(to);
  for (const Shards& shards : groups_) to.text(sum(shards).state());
  to.text_by([&](ByteWriter& companion) {
    if (journal_->companion.save) journal_->companion.save(companion);
  });
  return to.take();
}

void RunCounter::restore(const std::string& state) {
  ByteReader from(state, "counts of a checkpoint");
  done_ = IndexRanges::read_state(from);
  Index counted = 0;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    runs::Tally& tally = groups_[group].front()->tally;
    tally = runs::Tally::from_state(specs_[group], from.text());
    counted += tally.samples();
  }
  const std::string_view companion = from.text_view();
  if (journal_->companion.restore) journal_->companion.restore(companion);
  from.finish();
  require(counted == done_.size(), "counts of a checkpoint: {} runs are done, {} counted", done_.size(),
          counted);
}

}  // namespace surefoot::certify
