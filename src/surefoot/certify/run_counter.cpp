#include "surefoot/certify/run_counter.hpp"

#include "surefoot/core/bytes.hpp"

#include <utility>

namespace surefoot::certify {

RunCounter::RunCounter(const runs::TallySpec& spec, CountJournal* journal) : spec_(spec), journal_(journal) {
  for (std::size_t i = 0; i < shard_count; ++i) shards_.push_back(std::make_unique<Shard>(spec));
  if (journal_ == nullptr) return;
  if (const std::optional<std::string> left = journal_->begin()) restore(*left);
}

void RunCounter::run(const algorithms::Operator& op, const runs::Metric& metric, const runs::Start& start,
                     runs::RunOptions options, Index base, const TraceListener& listener) {
  options.shared = true;
  if (journal_ != nullptr) {
    options.wanted = [&](Index first, Index count) {
      if (is_done(base + first, count)) return false;
      journal_->interrupt();
      return true;
    };
  }
  try {
    runs::run(op, {metric}, start, options, [&](std::size_t, Index instance, const double* trace) {
      add(base + instance, instance, trace, listener);
      if (keeps() && journal_->due()) keep();
    });
  } catch (const Interrupted&) {
    if (keeps()) keep();
    throw;
  }
}

void RunCounter::add(Index number, Index instance, const double* trace, const TraceListener& listener) {
  const std::shared_lock adding(adding_);
  if (!is_new(number)) return;
  {
    Shard& shard = *shards_[static_cast<std::size_t>(number) / lanes % shard_count];
    const std::scoped_lock lock(shard.mutex);
    shard.tally.add_run(trace);
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
  if (keeps()) journal_->end(state());
  return runs::sum_over_ranks(sum());
}

runs::Tally RunCounter::sum() const {
  runs::Tally total = shards_.front()->tally;
  for (std::size_t i = 1; i < shard_count; ++i) total.merge(shards_[i]->tally);
  return total;
}

void RunCounter::keep() {
  journal_->keep(state());
}

std::string RunCounter::state() {
  const std::unique_lock between_runs(adding_);
  ByteWriter to;
  done_.write_state(to);
  to.text(sum().state());
  to.text(journal_->companion.save ? journal_->companion.save() : "");
  return to.take();
}

void RunCounter::restore(const std::string& state) {
  ByteReader from(state, "counts of a checkpoint");
  done_ = IndexRanges::read_state(from);
  shards_.front()->tally = runs::Tally::from_state(spec_, from.text());
  const std::string companion = from.text();
  if (journal_->companion.restore) journal_->companion.restore(companion);
  from.finish();
  require(shards_.front()->tally.samples() == done_.size(),
          "counts of a checkpoint: {} runs are done, {} counted", done_.size(),
          shards_.front()->tally.samples());
}

}  // namespace surefoot::certify
