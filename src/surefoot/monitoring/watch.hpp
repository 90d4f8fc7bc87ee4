#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/monitoring/conformal.hpp"
#include "surefoot/monitoring/constants.hpp"
#include "surefoot/monitoring/evidence_history.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Certificates in service: a stream of solves against what was certified.
namespace surefoot::monitoring {

struct WatchedClaim {
  std::string text;  ///< in the grammar of claims, "99% below 1e-3 after 20"
  WatchedRate rate;
};

/// What is watched, and how.
struct WatchOptions {
  std::vector<WatchedClaim> claims;
  AlarmRule rule;
  /// The stream says 0 or 1 (failed) of the only claim, instead of a metric.
  bool outcomes = false;
  /// Values of the metric while all was well, one per problem; none: only rates are watched.
  std::vector<double> reference;
  std::uint64_t seed = 0;  ///< of the order of equal values

  // Where the claims come from, for what is said and for states; empty: from nowhere.
  std::string certificate;  ///< its digest
  std::string variant;
  std::string metric = "metric";
  double delta = 0;  ///< the certificate may be false with this probability

  void validate() const;
};

struct ClaimAlarm {
  double evidence = 0;  ///< of this claim alone
  Index failures = 0;   ///< since its rate seems to have changed
  Index solves = 0;
};

/// An alarm: solve and line count from 1.
struct Alarm {
  Index solve = 0;
  Index line = 0;
  double evidence = 0;
  std::vector<ClaimAlarm> claims;
  std::size_t strongest = 0;  ///< claim with the most evidence
  std::optional<double> reference_evidence = {};
};

/// What a line of a stream was.
enum class LineKind {
  solve,
  gap,         ///< blank: no solve, nothing is concluded
  unreadable,  ///< no number: a solve that failed
};

/// Detector or test over a stream. The same stream gives the same alarms and the same state, whether or not
/// it was saved and restored in between, and those of surefoot/monitor.h with the constants of `export`.
class Watch {
 public:
  explicit Watch(WatchOptions options);

  /// The metric of a solve, or its outcome: 0, and 1 where it failed. NaN is a failure. True: an alarm, which
  /// last_alarm() describes. InputError for an outcome that is neither.
  bool update(double value);
  /// A line of a stream. What is no number fails all claims.
  struct Read {
    LineKind kind = LineKind::solve;
    bool alarm = false;
  };
  Read read_line(std::string_view line);
  /// How read_line would take it; changes nothing.
  [[nodiscard]] LineKind kind_of(std::string_view line) const;

  [[nodiscard]] const WatchOptions& options() const { return options_; }
  [[nodiscard]] Index solves() const { return static_cast<Index>(monitor_.solves); }
  [[nodiscard]] Index lines() const { return lines_; }
  [[nodiscard]] Index gaps() const { return gaps_; }
  [[nodiscard]] Index unreadable() const { return unreadable_; }
  [[nodiscard]] Index alarms() const { return static_cast<Index>(monitor_.alarms); }
  /// Of all claims and the reference together; an alarm is raised at threshold().
  [[nodiscard]] double evidence() const { return evidence_; }
  [[nodiscard]] double threshold() const { return options_.rule.threshold(); }
  [[nodiscard]] double claim_evidence(std::size_t claim) const;
  [[nodiscard]] std::optional<double> reference_evidence() const;
  [[nodiscard]] Index failures(std::size_t claim) const;
  /// Whether a test has come to its end: it raises one alarm.
  [[nodiscard]] bool decided() const { return options_.rule.is_test() && alarms() > 0; }
  /// The latest alarms, at most 100.
  [[nodiscard]] const std::vector<Alarm>& latest_alarms() const { return latest_; }
  [[nodiscard]] const Alarm& last_alarm() const { return latest_.back(); }
  [[nodiscard]] const EvidenceHistory& history() const { return history_; }

  /// Everything that options depend on, by name; a state is restored only where all of it is the same.
  [[nodiscard]] io::Configuration configuration() const;
  /// A state as it lies in a file (io/checkpoint_file.hpp).
  [[nodiscard]] std::string saved() const;
  /// InputError names the first difference; `name` is the file.
  void restore(std::string_view bytes, const std::string& name);

 private:
  bool advance(std::uint32_t failed, double value);
  void raise();

  static constexpr std::size_t most_alarms = 100;

  WatchOptions options_;
  std::string reference_digest_;
  std::unique_ptr<MonitorConstants> constants_;
  surefoot_monitor monitor_{};
  std::optional<ConformalRanks> ranks_;
  std::optional<RankEvidence> rank_evidence_;
  double evidence_ = 0;
  Index lines_ = 0;
  Index gaps_ = 0;
  Index unreadable_ = 0;
  std::vector<Alarm> latest_;
  EvidenceHistory history_;
};

}  // namespace surefoot::monitoring
