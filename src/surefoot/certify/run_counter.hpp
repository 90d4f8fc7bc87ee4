#pragma once

#include "surefoot/certify/count_journal.hpp"
#include "surefoot/core/index_ranges.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/tally.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace surefoot::certify {

/// Called with every trace, one at a time: metric.first_step() .. K.
using TraceListener = std::function<void(Index instance, const double* trace)>;

/// Counts runs from many threads: a few tallies with a lock each, merged at the end. Counts do not depend on
/// the order, so neither does the sum, which is that of all processes. With a journal it is one of its
/// pieces: runs that an earlier process counted are not made again.
class RunCounter {
 public:
  static constexpr int tallies = 16;

  explicit RunCounter(const runs::TallySpec& spec, CountJournal* journal = nullptr);

  /// Runs the operator and counts. The run of instance i has the number `base` + i among all that are counted
  /// here.
  void run(const algorithms::Operator& op, const runs::Metric& metric, const runs::Start& start,
           runs::RunOptions options, Index base = 0, const TraceListener& listener = nullptr);
  /// Runs that this process and those before it in its place have counted.
  [[nodiscard]] Index counted() const;
  /// The counts of all processes.
  [[nodiscard]] runs::Tally finish();

 private:
  static constexpr std::size_t shard_count = tallies;
  static constexpr std::size_t lanes = 16;
  struct Shard {
    explicit Shard(const runs::TallySpec& spec) : tally(spec) {}
    std::mutex mutex;
    runs::Tally tally;
  };

  [[nodiscard]] bool keeps() const { return journal_ != nullptr && journal_->keeps(); }
  void add(Index number, Index instance, const double* trace, const TraceListener& listener);
  [[nodiscard]] bool is_done(Index first, Index count) const;
  [[nodiscard]] bool is_new(Index number);
  [[nodiscard]] runs::Tally sum() const;
  void keep();
  [[nodiscard]] std::string state();
  void restore(const std::string& state);

  runs::TallySpec spec_;
  CountJournal* journal_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::shared_mutex adding_;  // exclusively: between runs, so that the counts and what is done agree
  mutable std::mutex done_mutex_;
  IndexRanges done_;
  std::mutex listening_;
};

}  // namespace surefoot::certify
