#include "surefoot/experiments/racing.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace surefoot::experiments {
namespace {

constexpr Index growth = 3;           // of problems from rung to rung; as many times fewer candidates
constexpr Index fewest_racers = 4;    // until they have run on all problems
constexpr Index finest_level = 5;     // steps of the first grid over 2^5
constexpr double near_enough = 1.02;  // a neighbour that is this much worse on few problems runs on more

Index first_problems(Index problems) {
  return std::min(problems, std::clamp(problems / 40, Index{8}, Index{64}));
}

double deviations(double rank, double mean, double deviation) {
  return 0.5 * std::erf((rank - mean) / (deviation * std::sqrt(2.0)));
}

std::vector<SettingValues> with_first(std::vector<SettingValues> grid,
                                      const std::vector<SettingValues>& first) {
  std::vector<SettingValues> all = first;
  for (SettingValues& each : grid) {
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(std::move(each));
  }
  return all;
}

class Race {
 public:
  Race(const SettingSpace& space, const RaceOptions& options, const RaceTimes& times)
      : space_(space), options_(options), times_(times) {}

  RaceResult run(const std::vector<SettingValues>& first) {
    if (options_.grid > 0) {
      rung(with_first(space_.fine_grid(options_.grid).points, first), options_.problems, false);
      result_.converged = true;
    } else if (const std::vector<SettingValues> left = race_of_grid(with_first(space_.coarse_grid(), first));
               !stopped_) {
      refine(left.front().empty() && left.size() > 1 ? left[1] : left.front());
    }
    const Racer* best = nullptr;
    for (const Racer& racer : result_.racers) {
      if (best == nullptr || racer.times.size() > best->times.size() ||
          (racer.times.size() == best->times.size() && racer.score < best->score))
        best = &racer;
    }
    result_.winner = best->candidate;
    return std::move(result_);
  }

 private:
  [[nodiscard]] Racer& racer(const SettingValues& candidate) {
    const auto [place, is_new] = places_.emplace(candidate, result_.racers.size());
    if (is_new) result_.racers.push_back({candidate, {}, infinity});
    return result_.racers[place->second];
  }

  [[nodiscard]] std::vector<SettingValues> neighbours(const SettingValues& candidate, Index level) const {
    return candidate.empty() ? std::vector<SettingValues>{} : space_.neighbours(candidate, level);
  }

  [[nodiscard]] double score(const Racer& racer, Index problems) const {
    return smoothed_quantile({racer.times.begin(), racer.times.begin() + problems}, options_.level,
                             options_.never);
  }

  /// Brings all candidates to `problems` problems; the best first. Empty: it was not begun.
  std::vector<SettingValues> rung(const std::vector<SettingValues>& candidates, Index problems, bool near) {
    std::vector<RaceWork> works;
    Index runs = 0;
    for (const SettingValues& candidate : candidates) {
      const auto has = static_cast<Index>(places_.contains(candidate) ? racer(candidate).times.size() : 0);
      if (has >= problems) continue;
      works.push_back({candidate, has, problems - has});
      runs += problems - has;
    }
    // A rung without runs takes no time, and a race of as many runs has it too.
    const bool late = runs > 0 && !stopped_ && !result_.rungs.empty() && options_.late && options_.late();
    stopped_ = stopped_ || late || (options_.runs > 0 && result_.runs + runs > options_.runs);
    if (stopped_) return {};
    const std::vector<std::vector<double>> times = times_(works);
    for (std::size_t i = 0; i < works.size(); ++i) {
      Racer& each = racer(works[i].candidate);
      each.times.insert(each.times.end(), times[i].begin(), times[i].end());
      each.score = score(each, static_cast<Index>(each.times.size()));
    }
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      ranked.emplace_back(score(racer(candidates[i]), problems), i);
    std::sort(ranked.begin(), ranked.end());
    std::vector<SettingValues> ordered;
    for (const auto& [_, place] : ranked) ordered.push_back(candidates[place]);
    result_.runs += runs;
    result_.rungs.push_back(
        {static_cast<Index>(candidates.size()), problems, runs, near, ordered.front(), ranked.front().first});
    return ordered;
  }

  std::vector<SettingValues> race_of_grid(std::vector<SettingValues> candidates) {
    Index problems = first_problems(options_.problems);
    while (true) {
      std::vector<SettingValues> ordered = rung(candidates, problems, false);
      if (stopped_) return {};
      if (problems == options_.problems) return ordered;
      const Index kept = std::max((static_cast<Index>(ordered.size()) + growth - 1) / growth, fewest_racers);
      if (kept < static_cast<Index>(ordered.size())) ordered.resize(static_cast<std::size_t>(kept));
      candidates = std::move(ordered);
      problems = std::min(growth * problems, options_.problems);
    }
  }

  /// What is near the best, on few problems first; ever nearer once nothing better is found.
  void refine(SettingValues best) {
    std::set<SettingValues> tried;
    const Index all = options_.problems;
    for (Index level = 1; level <= finest_level;) {
      std::vector<SettingValues> near;
      for (SettingValues& each : neighbours(best, level)) {
        const bool known = places_.contains(each) && static_cast<Index>(racer(each).times.size()) >= all;
        if (!known && !tried.contains(each)) near.push_back(std::move(each));
      }
      tried.insert(near.begin(), near.end());
      for (const Index problems :
           {std::max(all / 8, std::min(all, growth * first_problems(all))), all / 2, all}) {
        if (near.empty()) break;
        if (problems < 1) continue;
        near.push_back(best);
        std::vector<SettingValues> ordered = rung(near, problems, true);
        if (stopped_) return;
        const double to_beat = score(racer(best), problems);
        near.clear();
        const double bar = problems == all ? to_beat : to_beat * near_enough;
        for (const SettingValues& each : ordered) {
          if (each == best || static_cast<Index>(near.size()) == fewest_racers / 2) continue;
          const double own = score(racer(each), problems);
          if (problems == all ? own < bar : own <= bar) near.push_back(each);
        }
      }
      if (near.empty()) {
        ++level;
      } else {
        best = near.front();
      }
    }
    result_.converged = true;
  }

  const SettingSpace& space_;
  const RaceOptions& options_;
  const RaceTimes& times_;
  RaceResult result_;
  std::map<SettingValues, std::size_t> places_;
  bool stopped_ = false;
};

}  // namespace

void RaceOptions::validate() const {
  require(problems >= 1, "a race needs problems");
  require(level > 0 && level < 1, "level: {} is outside (0, 1)", level);
  require(never > 0 && std::isfinite(never), "never: {} is not a number above 0", never);
  require(runs >= 0 && grid >= 0, "limits of a race are not below 0");
}

const Racer& RaceResult::racer(const SettingValues& candidate) const {
  return *std::ranges::find(racers, candidate, &Racer::candidate);
}

double smoothed_quantile(std::vector<double> times, double level, double never) {
  for (double& time : times) {
    if (!(time < never)) time = never;
  }
  std::sort(times.begin(), times.end());
  const auto n = static_cast<double>(times.size());
  const double deviation = std::max(std::sqrt(n * level * (1 - level)), 0.5);
  double weights = 0;
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double weight = deviations(static_cast<double>(i + 1), n * level, deviation) -
                          deviations(static_cast<double>(i), n * level, deviation);
    weights += weight;
    sum += weight * times[i];
  }
  return sum / weights;
}

RaceResult race(const SettingSpace& space, const std::vector<SettingValues>& first,
                const RaceOptions& options, const RaceTimes& times) {
  options.validate();
  const Index fewest = options.grid > 0 ? 0 : fewest_race_runs(space, first, options.problems);
  require(options.runs == 0 || options.runs >= fewest, "--runs: {} is too few; the first rung alone needs {}",
          options.runs, fewest);
  return Race(space, options, times).run(first);
}

Index fewest_race_runs(const SettingSpace& space, const std::vector<SettingValues>& first, Index problems) {
  return static_cast<Index>(with_first(space.coarse_grid(), first).size()) * first_problems(problems);
}

}  // namespace surefoot::experiments
