#include "surefoot/experiments/racing.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace surefoot::experiments {
namespace {

/// Times whose best settings are rho = 0.3, alpha = 1.5; problems differ, and are the same for everybody.
class Bowl {
 public:
  std::vector<std::vector<double>> operator()(const std::vector<RaceWork>& works) {
    std::vector<std::vector<double>> all;
    for (const RaceWork& work : works) {
      all.emplace_back();
      for (Index i = work.first; i < work.first + work.count; ++i) {
        EXPECT_TRUE(made_.insert({work.candidate, i}).second) << "a run was made twice";
        RandomStream random(7, "bowl", static_cast<std::uint64_t>(i));
        const double hard = random.uniform(20, 40);
        const double off = std::abs(std::log10(work.candidate[0] / 0.3)) + std::abs(work.candidate[1] - 1.5);
        all.back().push_back(std::ceil(hard * (1 + off)) > 120 ? infinity : std::ceil(hard * (1 + off)));
      }
    }
    return all;
  }
  [[nodiscard]] Index runs() const { return static_cast<Index>(made_.size()); }

 private:
  std::set<std::pair<SettingValues, Index>> made_;
};

SettingSpace two_axes() {
  return SettingSpace({parse_axis("x", "rho=1e-3:1e3:log"), parse_axis("x", "alpha=1:1.9:linear:4")});
}

RaceOptions options_of(Index runs) {
  RaceOptions options;
  options.problems = 200;
  options.level = 0.93;
  options.never = 240;
  options.runs = runs;
  return options;
}

TEST(Racing, SmoothedQuantilesAreMeansOfOrderStatistics) {
  EXPECT_NEAR(smoothed_quantile(std::vector<double>(50, 3.0), 0.9, 100), 3, 1e-12);
  std::vector<double> ramp;
  for (int i = 1; i <= 1000; ++i) ramp.push_back(i);
  EXPECT_NEAR(smoothed_quantile(ramp, 0.9, 1e6), 900, 1);
  EXPECT_NEAR(smoothed_quantile(ramp, 0.5, 1e6), 500, 1);
  // Infinite times count as `never`, NaN too.
  EXPECT_NEAR(smoothed_quantile({infinity, std::nan(""), infinity}, 0.9, 77), 77, 1e-9);
  std::vector<double> worse = ramp;
  worse[950] = infinity;
  EXPECT_GT(smoothed_quantile(worse, 0.95, 1e6), smoothed_quantile(ramp, 0.95, 1e6));
}

TEST(Racing, FindsTheBestAndStopsByItself) {
  Bowl bowl;
  const SettingSpace space = two_axes();
  const RaceResult result = race(space, {}, options_of(1'000'000), std::ref(bowl));
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.runs, bowl.runs());
  EXPECT_LT(result.runs, 200 * 52 / 2);  // far from all of the first grid on all problems
  EXPECT_NEAR(std::log10(result.winner[0]), std::log10(0.3), 0.05);
  EXPECT_NEAR(result.winner[1], 1.5, 0.05);
  Index runs = 0;
  for (const Rung& rung : result.rungs) runs += rung.runs;
  EXPECT_EQ(runs, result.runs);
  EXPECT_EQ(static_cast<Index>(result.racer(result.winner).times.size()), 200);
}

TEST(Racing, AsManyRunsAsARaceMadeMakeTheSameRace) {
  const SettingSpace space = two_axes();
  for (const Index runs : {500, 1500, 2500}) {
    Bowl first;
    const RaceResult result = race(space, {}, options_of(runs), std::ref(first));
    EXPECT_LE(result.runs, runs);
    Bowl second;
    const RaceResult again = race(space, {}, options_of(result.runs), std::ref(second));
    EXPECT_EQ(again.winner, result.winner);
    EXPECT_EQ(again.runs, result.runs);
    EXPECT_EQ(again.rungs.size(), result.rungs.size());
  }
}

TEST(Racing, NoRungBeginsAfterTheTimeButTheFirstAlwaysDoes) {
  const SettingSpace space = two_axes();
  RaceOptions options = options_of(0);
  double now = 0;
  options.late = [&] { return now >= 2.5; };
  Bowl bowl;
  const RaceResult timed = race(space, {}, options, [&](const std::vector<RaceWork>& works) {
    now += 1;
    return bowl(works);
  });
  EXPECT_EQ(timed.rungs.size(), 3U);
  Bowl second;
  EXPECT_EQ(race(space, {}, options_of(timed.runs), std::ref(second)).winner, timed.winner);
  options.late = [] { return true; };
  Bowl third;
  EXPECT_EQ(race(space, {}, options, std::ref(third)).rungs.size(), 1U);
}

TEST(Racing, CandidatesThatAreGivenRunToo) {
  Bowl bowl;
  const SettingSpace space = two_axes();
  const SettingValues best{0.3, 1.5};
  const RaceResult result = race(space, {best}, options_of(3000), std::ref(bowl));
  EXPECT_EQ(result.winner, best);
  EXPECT_EQ(result.racers.front().candidate, best);
}

// As many runs make the same race: it would have a rung that needs none.
TEST(Racing, ARungWithoutRunsIsNeverTooLate) {
  const SettingSpace space = two_axes();
  RaceOptions options = options_of(0);
  options.problems = 16;
  Index asked = 0;
  options.late = [&] {
    ++asked;
    return false;
  };
  Bowl bowl;
  const RaceResult result = race(space, {}, options, std::ref(bowl));
  EXPECT_TRUE(result.converged);
  const auto idle = std::ranges::count(result.rungs, Index{0}, &Rung::runs);
  EXPECT_GT(idle, 0);
  EXPECT_EQ(asked, static_cast<Index>(result.rungs.size()) - idle - 1);
  for (Index stop = 1; stop <= asked; ++stop) {
    Index calls = 0;
    options.late = [&] { return ++calls == stop; };
    Bowl first;
    const RaceResult timed = race(space, {}, options, std::ref(first));
    Bowl second;
    RaceOptions as_many = options_of(timed.runs);
    as_many.problems = 16;
    const RaceResult again = race(space, {}, as_many, std::ref(second));
    EXPECT_EQ(again.rungs.size(), timed.rungs.size()) << stop;
    EXPECT_EQ(again.winner, timed.winner) << stop;
  }
}

// Settings that are no point of the space race, win if they are the best, and are not refined.
TEST(Racing, TheEmptyCandidateStandsForSettingsOutsideTheSpace) {
  const SettingSpace space = two_axes();
  for (const bool good : {true, false}) {
    Bowl bowl;
    const RaceResult result =
        race(space, {{}}, options_of(1'000'000), [&](const std::vector<RaceWork>& works) {
          std::vector<std::vector<double>> all;
          for (const RaceWork& work : works) {
            all.push_back(work.candidate.empty()
                              ? std::vector<double>(static_cast<std::size_t>(work.count), good ? 5.0 : 100.0)
                              : bowl({work}).front());
          }
          return all;
        });
    EXPECT_TRUE(result.converged);
    EXPECT_EQ(result.winner.empty(), good);
    Index near = 0;
    for (const Rung& rung : result.rungs) near += rung.near ? 1 : 0;
    EXPECT_GT(near, 0);
  }
}

TEST(Racing, AGridRunsEverythingOnAllProblems) {
  Bowl bowl;
  const SettingSpace space = two_axes();
  RaceOptions options = options_of(0);
  options.grid = 100;
  const RaceResult result = race(space, {}, options, std::ref(bowl));
  EXPECT_EQ(result.rungs.size(), 1U);
  EXPECT_EQ(result.runs, static_cast<Index>(space.fine_grid(100).points.size()) * 200);
  for (const Racer& racer : result.racers) EXPECT_GE(racer.score, result.racer(result.winner).score);
}

TEST(Racing, RefusesTooFewRuns) {
  Bowl bowl;
  const SettingSpace space = two_axes();
  EXPECT_EQ(fewest_race_runs(space, {}, 200), 52 * 8);
  EXPECT_INPUT_ERROR((race(space, {}, options_of(52 * 8 - 1), std::ref(bowl))),
                     "the first rung alone needs 416");
  EXPECT_EQ(race(space, {}, options_of(52 * 8), std::ref(bowl)).rungs.size(), 1U);
  RaceOptions none = options_of(1000);
  none.problems = 0;
  EXPECT_INPUT_ERROR((race(space, {}, none, std::ref(bowl))), "a race needs problems");
}

}  // namespace
}  // namespace surefoot::experiments
