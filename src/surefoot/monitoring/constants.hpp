#pragma once

#include "surefoot/core/types.hpp"

#include <surefoot/monitor.h>

#include <array>
#include <string>
#include <vector>

namespace surefoot::monitoring {

/// Odds of the rates that a monitor looks for, over the odds of the certified one.
inline constexpr std::array<double, SUREFOOT_MONITOR_RATIOS> watched_odds{1.5, 2, 3, 5, 8, 15};

/// Likelihood ratios of a rate theta against r, theta / r after a failure and (1 - theta) / (1 - r) after a
/// success, where the odds of theta are `odds` times those of r. Both are below the true ones by at least 8
/// units of rounding: a step of a monitor makes an error of two, so that rounded evidence never exceeds the
/// true one.
struct LikelihoodRatios {
  double failed = 1;
  double succeeded = 1;
};
LikelihoodRatios likelihood_ratios(double rate, double odds);

/// When an alarm is raised.
struct AlarmRule {
  /// The detector: the mean number of solves to a false alarm, in [1, 1e15].
  double arl = 1e6;
  /// The test, if above 0: the probability that it ever raises a false alarm, in [1e-15, 1).
  double alpha = 0;

  void validate() const;
  [[nodiscard]] bool is_test() const { return alpha > 0; }
  /// Evidence from which on an alarm is raised: the ARL, or 1/alpha rounded up.
  [[nodiscard]] double threshold() const;
};

/// A solve fails unless its metric is below (strict) or at most `value`; it does so with probability at most
/// `rate`.
struct WatchedRate {
  double value = 0;
  bool strict = true;
  double rate = 0;
};

/// The constants of a monitor of several rates. With `others` more pieces of evidence (a reference, say) that
/// are averaged with theirs, each as much as one of them.
///
/// A rate of 0 is contradicted by one failure: then the evidence is as large as a monitor can hold, and 0
/// (detector) or 1 (test) before it.
class MonitorConstants {
 public:
  /// InputError for a rate outside [0, 1), a value that is NaN, or more rates than a monitor has room for.
  MonitorConstants(const std::vector<WatchedRate>& rates, const AlarmRule& rule, int others = 0);
  MonitorConstants(const MonitorConstants&) = delete;
  MonitorConstants& operator=(const MonitorConstants&) = delete;

  [[nodiscard]] const surefoot_monitor_constants& get() const { return constants_; }

 private:
  std::vector<surefoot_monitor_claim> claims_;
  surefoot_monitor_constants constants_{};
};

/// The constants as a C header with a variable of that name; `about` are lines of its comment. InputError if
/// `name` is no name in C.
std::string c_header(const MonitorConstants& constants, const std::string& name,
                     const std::vector<std::string>& about);

}  // namespace surefoot::monitoring
