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

/// Which of a counter's groups the run of an instance belongs to, by the number of its metric.
using GroupOf = std::function<std::size_t(std::size_t metric, Index instance)>;

/// Counts runs from many threads, in one or more groups: a few tallies with a lock each, merged at the end.
/// Counts do not depend on the order, so neither does the sum, which is that of all processes. With a journal
/// it is one of its pieces: runs that an earlier process counted are not made again.
class RunCounter {
 public:
  static constexpr int tallies = 16;  ///< of all groups together, or one of each

  explicit RunCounter(const runs::TallySpec& spec, CountJournal* journal = nullptr);
  /// One group for each spec.
  explicit RunCounter(const std::vector<runs::TallySpec>& specs, CountJournal* journal = nullptr);

  /// Runs the operator and counts. The run of instance i has the number `base` + i among all that are counted
  /// here.
  void run(const algorithms::Operator& op, const runs::Metric& metric, const runs::Start& start,
           const runs::RunOptions& options, Index base = 0, const TraceListener& listener = nullptr);
  /// The same for problems that this process alone has: those of others, and other blocks, have numbers of
  /// their own.
  void run_own(const algorithms::Operator& op, const runs::Metric& metric, const runs::Start& start,
               const runs::RunOptions& options, Index base, const TraceListener& listener = nullptr);
  /// Before the first run: so many will be counted here and by other processes, so that values are rounded up
  /// at once where that many make it necessary.
  void expect(Index runs);
  /// Runs first .. first + count - 1 were counted before.
  [[nodiscard]] bool is_done(Index first, Index count) const;
  /// Runs the operator once for all metrics; only one such run may be counted here.
  void run_grouped(const algorithms::Operator& op, const std::vector<runs::Metric>& metrics,
                   const runs::Start& start, const runs::RunOptions& options, const GroupOf& group_of);
  /// Runs that this process and those before it in its place have counted.
  [[nodiscard]] Index counted() const;
  /// The counts of all processes: of the only group, or of each.
  [[nodiscard]] runs::Tally finish();
  [[nodiscard]] std::vector<runs::Tally> finish_groups();

 private:
  static constexpr std::size_t lanes = 16;
  struct Shard {
    explicit Shard(const runs::TallySpec& spec) : tally(spec) {}
    std::mutex mutex;
    runs::Tally tally;
  };
  using Shards = std::vector<std::unique_ptr<Shard>>;
  /// The numbers of the runs: that of metric m and instance i is base + m stride + i.
  struct Numbers {
    Index base = 0;
    Index stride = 0;
    [[nodiscard]] Index of(std::size_t metric, Index instance) const {
      return base + static_cast<Index>(metric) * stride + instance;
    }
  };

  [[nodiscard]] bool keeps() const { return journal_ != nullptr && journal_->keeps(); }
  void run_numbered(const algorithms::Operator& op, const std::vector<runs::Metric>& metrics,
                    const runs::Start& start, runs::RunOptions options, const Numbers& numbers,
                    const GroupOf& group_of, const TraceListener& listener);
  void add(std::size_t group, Index number, Index instance, const double* trace,
           const TraceListener& listener);
  [[nodiscard]] bool is_new(Index number);
  [[nodiscard]] static runs::Tally sum(const Shards& shards);
  void keep();
  [[nodiscard]] std::string state();
  void restore(const std::string& state);

  std::vector<runs::TallySpec> specs_;
  CountJournal* journal_;
  std::vector<Shards> groups_;
  std::shared_mutex adding_;  // exclusively: between runs, so that the counts and what is done agree
  mutable std::mutex done_mutex_;
  IndexRanges done_;
  std::mutex listening_;
};

}  // namespace surefoot::certify
