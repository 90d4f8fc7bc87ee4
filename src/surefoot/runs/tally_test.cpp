#include "surefoot/runs/tally.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace surefoot::runs {
namespace {

using Row = std::vector<double>;

std::vector<Row> random_runs(std::size_t count, std::size_t columns) {
  std::vector<Row> runs;
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream random(1, "tally", i);
    Row run;
    for (std::size_t k = 0; k < columns; ++k) {
      double value = std::pow(10.0, random.uniform(-3, 0) - 0.2 * static_cast<double>(k));
      if (random.uniform() < 0.01) value = random.uniform() < 0.5 ? infinity : std::nan("");
      if (random.uniform() < 0.05) value = 1e-2;  // ties with a tolerance: not below it, so a failure
      run.push_back(value);
    }
    runs.push_back(run);
  }
  return runs;
}

TallySpec example_spec(std::size_t columns) {
  TallySpec spec;
  for (std::size_t k = 0; k < columns; ++k) spec.steps.push_back(static_cast<Index>(k) + 1);
  spec.tolerances = {1e-3, 1e-2, 1e-1};
  spec.claim_columns = {0, columns / 2, columns - 1};
  return spec;
}

// The definitions of tally.hpp, one run at a time.
double value_at(const Row& run, std::size_t k) {
  for (std::size_t i = 0; i <= k; ++i) {
    if (!std::isfinite(run[i])) return infinity;
  }
  return run[k];
}
std::size_t settling_column(const Row& run, double tolerance) {
  std::size_t column = run.size();
  while (column > 0 && value_at(run, column - 1) < tolerance) --column;
  return column;
}
std::size_t hit_column(const Row& run, double tolerance) {
  std::size_t column = 0;
  while (column < run.size() && !(value_at(run, column) < tolerance)) ++column;
  return column;
}

TEST(Tally, AgreesWithTheDefinitions) {
  const std::vector<Row> runs = random_runs(500, 12);
  Tally tally(example_spec(12));
  for (const Row& run : runs) tally.add_run(run.data());
  const auto count = [&](auto&& holds) {
    return static_cast<Index>(std::count_if(runs.begin(), runs.end(), holds));
  };
  EXPECT_EQ(tally.samples(), 500);
  EXPECT_EQ(tally.non_finite_runs(), count([](const Row& run) { return value_at(run, 11) == infinity; }));
  for (std::size_t t = 0; t < 3; ++t) {
    const double tolerance = tally.spec().tolerances[t];
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_EQ(tally.failures(k, t), count([&](const Row& run) { return value_at(run, k) >= tolerance; }));
      EXPECT_EQ(tally.settled(t)[k],
                count([&](const Row& run) { return settling_column(run, tolerance) <= k; }));
      EXPECT_EQ(tally.hit(t)[k], count([&](const Row& run) { return hit_column(run, tolerance) <= k; }));
    }
  }
  for (std::size_t q = 0; q < 3; ++q) {
    std::vector<double> sorted;
    for (const Row& run : runs) sorted.push_back(value_at(run, tally.spec().claim_columns[q]));
    std::sort(sorted.begin(), sorted.end());
    for (const Index rank : {1, 7, 250, 499, 500}) {
      EXPECT_EQ(tally.values(q).order_statistic(rank), sorted[static_cast<std::size_t>(rank - 1)]);
    }
    EXPECT_EQ(tally.values(q).count_at_most(sorted[99]),
              std::upper_bound(sorted.begin(), sorted.end(), sorted[99]) - sorted.begin());
    EXPECT_EQ(tally.values(q).count_below(sorted[99]),
              std::lower_bound(sorted.begin(), sorted.end(), sorted[99]) - sorted.begin());
  }
}

TEST(Tally, MergingPartsGivesTheWhole) {
  const std::vector<Row> runs = random_runs(300, 8);
  for (const Index limit : {Index{1} << 20, Index{100}, Index{450}}) {
    TallySpec spec = example_spec(8);
    spec.value_limit = limit;
    Tally whole(spec);
    std::vector<Tally> parts(3, Tally(spec));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      whole.add_run(runs[i].data());
      parts[i % 7 % 3].add_run(runs[i].data());
    }
    Tally merged(spec);
    for (const Tally& part : parts) merged.merge(part);
    EXPECT_EQ(merged.samples(), 300);
    EXPECT_EQ(merged.non_finite_runs(), whole.non_finite_runs());
    for (std::size_t q = 0; q < 3; ++q) {
      EXPECT_EQ(merged.values(q).rounded(), whole.values(q).rounded());
      for (Index rank = 1; rank <= 300; ++rank) {
        ASSERT_EQ(merged.values(q).order_statistic(rank), whole.values(q).order_statistic(rank));
      }
    }
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::size_t k = 0; k < 8; ++k) {
        EXPECT_EQ(merged.failures(k, t), whole.failures(k, t));
        EXPECT_EQ(merged.settled(t)[k], whole.settled(t)[k]);
      }
    }
  }
}

TEST(Tally, RoundedValuesAreNeverBelowTheTrueOnes) {
  ValueStore exact;
  ValueStore rounded;
  rounded.round_up();
  RandomStream random(3, "tally", 0);
  for (int i = 0; i < 200000; ++i) {
    const double value = (i % 5 == 0 ? -1 : 1) * std::pow(10.0, random.uniform(-8, 8));
    exact.add(value);
    rounded.add(value);
  }
  exact.add(0.0);
  rounded.add(0.0);
  exact.add(infinity);
  rounded.add(infinity);
  for (Index rank = 1; rank <= exact.size(); rank += 997) {
    const double truth = exact.order_statistic(rank);
    EXPECT_GE(rounded.order_statistic(rank), truth);
    EXPECT_LE(rounded.order_statistic(rank), truth + std::abs(truth) * 0x1p-10);
  }
  EXPECT_EQ(rounded.order_statistic(rounded.size()), infinity);
  EXPECT_EQ(rounded.count_at_most(infinity), exact.size());
}

TEST(Tally, GridCountsReplaceKeptValues) {
  const std::vector<Row> runs = random_runs(200, 5);
  TallySpec spec = example_spec(5);
  spec.grid = {1e-4, 1e-2, 1e-1};
  Tally tally(spec);
  for (const Row& run : runs) tally.add_run(run.data());
  for (std::size_t q = 0; q < 3; ++q) {
    for (std::size_t g = 0; g < 3; ++g) {
      EXPECT_EQ(tally.grid_failures(q, g), std::count_if(runs.begin(), runs.end(), [&](const Row& run) {
                  return value_at(run, spec.claim_columns[q]) >= spec.grid[g];
                }));
    }
  }
}

Tally tally_of(const TallySpec& spec, const std::vector<Row>& runs) {
  Tally tally(spec);
  for (const Row& run : runs) tally.add_run(run.data());
  return tally;
}

TEST(Tally, StatesComeBackAndDoNotDependOnTheOrder) {
  std::vector<Row> runs = random_runs(300, 8);
  runs[7][3] = 0.0;
  runs[11][3] = -0.0;
  for (const Index limit : {Index{1} << 20, Index{100}, Index{450}}) {
    for (const bool with_grid : {false, true}) {
      TallySpec spec = example_spec(8);
      spec.claim_columns.push_back(3);
      spec.value_limit = limit;
      if (with_grid) spec.grid = {1e-4, 1e-2};
      const Tally whole = tally_of(spec, runs);
      const std::string state = whole.state();
      EXPECT_EQ(Tally::from_state(spec, state).state(), state);
      std::vector<Row> backwards(runs.rbegin(), runs.rend());
      EXPECT_EQ(tally_of(spec, backwards).state(), state);
      std::vector<Tally> parts(3, Tally(spec));
      for (std::size_t i = 0; i < runs.size(); ++i) parts[i % 7 % 3].add_run(runs[i].data());
      Tally merged(spec);
      for (Tally& part : parts) {
        part.expect(300);
        merged.merge(Tally::from_state(spec, part.state()));
      }
      EXPECT_EQ(merged.state(), state);
      Tally later = Tally::from_state(spec, parts[0].state());
      for (std::size_t i = 0; i < runs.size(); ++i) {
        if (i % 7 % 3 != 0) later.add_run(runs[i].data());
      }
      EXPECT_EQ(later.state(), state);
    }
  }
}

TEST(Tally, PartsOfALargeTallyRoundAsTheWholeDoes) {
  TallySpec spec = example_spec(8);
  spec.value_limit = 450;
  Tally part(spec);
  part.expect(150);
  EXPECT_FALSE(part.values_rounded_up());
  part.expect(151);
  EXPECT_TRUE(part.values_rounded_up());
}

TEST(Tally, RefusesStatesThatNoRunsHave) {
  TallySpec spec = example_spec(4);
  for (const Index limit : {Index{1000}, Index{10}}) {
    spec.value_limit = limit;
    const std::string state = tally_of(spec, random_runs(20, 4)).state();
    for (std::size_t length = 0; length < state.size(); ++length) {
      EXPECT_INPUT_ERROR(Tally::from_state(spec, std::string_view(state).substr(0, length)),
                         "state of a tally: ");
    }
    EXPECT_INPUT_ERROR(Tally::from_state(spec, state + '\0'), "1 bytes too many");
    // A changed byte is refused, or gives a state that can be written again.
    for (std::size_t i = 0; i < state.size(); ++i) {
      for (const int change : {1, 0x80, 0xff}) {
        std::string damaged = state;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        try {
          const Tally tally = Tally::from_state(spec, damaged);
          EXPECT_EQ(Tally::from_state(spec, tally.state()).state(), tally.state());
          EXPECT_EQ(tally.samples(), 20);
        } catch (const InputError&) {
          continue;
        }
      }
    }
    TallySpec other = spec;
    other.tolerances.back() *= 2;
    EXPECT_INPUT_ERROR(Tally::from_state(other, state), "counts something else");
  }
}

TEST(Tally, RefusesListsThatDoNotIncrease) {
  TallySpec spec = example_spec(5);
  spec.tolerances = {1e-2, 1e-2};
  EXPECT_INPUT_ERROR(Tally{spec}, "tolerances: 0.01 does not come after 0.01");
  spec = example_spec(5);
  spec.steps[2] = 1;
  EXPECT_INPUT_ERROR(Tally{spec}, "steps: 1 does not come after");
  spec = example_spec(5);
  spec.claim_columns = {5};
  EXPECT_INPUT_ERROR(Tally{spec}, "claim column 5 of 5");
}

}  // namespace
}  // namespace surefoot::runs
