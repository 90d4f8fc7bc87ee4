#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/experiments/setting_space.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// A race of settings: all of a grid on a few problems, the better ones on more of them, then what is near
/// the best. It chooses and claims nothing: its winner is certified on other problems.
namespace surefoot::experiments {

/// A candidate that is to run on problems first .. first + count - 1 of the race.
struct RaceWork {
  SettingValues candidate;
  Index first = 0;
  Index count = 0;
};
/// The steps after which each problem is solved, infinite where it never is: `count` numbers for each work,
/// the same whenever it is asked.
using RaceTimes = std::function<std::vector<std::vector<double>>(const std::vector<RaceWork>& works)>;

struct RaceOptions {
  Index problems = 0;   ///< that there are
  double level = 0.9;   ///< candidates are compared by this quantile of their times, smoothed
  double never = 1000;  ///< what a time that is infinite counts as
  Index runs = 0;       ///< at most: a candidate on a problem is one run
  Index grid = 0;       ///< instead of a race: a grid of so many points, each on all problems
  /// Asked before each rung that makes runs, but for the first: true ends the race. None: there is no limit
  /// of time.
  std::function<bool()> late = nullptr;

  void validate() const;
};

/// A candidate and what its runs took.
struct Racer {
  SettingValues candidate;
  std::vector<double> times;  ///< of the first problems of the race
  double score = infinity;    ///< of all of them
};

/// One rung: candidates that were all brought to the same problems.
struct Rung {
  Index candidates = 0;
  Index problems = 0;
  Index runs = 0;           ///< that were made for it
  bool near = false;        ///< of candidates near the best, not of the grid
  SettingValues best = {};  ///< of the rung
  double score = infinity;
};

struct RaceResult {
  SettingValues winner;
  std::vector<Racer> racers;  ///< in the order in which they began
  std::vector<Rung> rungs;
  Index runs = 0;          ///< as many with RaceOptions::runs make the same race
  bool converged = false;  ///< nothing was left to try
  [[nodiscard]] const Racer& racer(const SettingValues& candidate) const;
};

/// The smoothed quantile: a mean of order statistics with the weights of a normal distribution around the
/// rank level * n, whose deviation is that of the rank. `never` stands for infinite times. Smoother than one
/// order statistic of whole numbers, so that near candidates can be told apart.
double smoothed_quantile(std::vector<double> times, double level, double never);

/// The race, `first` candidates beside the grid; one that is empty stands for settings that are no point of
/// the space, and has no neighbours. The rungs do not depend on `runs` and `late`, which only say where they
/// end: so many runs as a race made in its time make the same one.
RaceResult race(const SettingSpace& space, const std::vector<SettingValues>& first,
                const RaceOptions& options, const RaceTimes& times);

/// Runs that the first rung needs.
Index fewest_race_runs(const SettingSpace& space, const std::vector<SettingValues>& first, Index problems);

}  // namespace surefoot::experiments
