#include "surefoot/runs/tick_group.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surefoot::runs {
namespace {

TallySpec grouped_spec() {
  TallySpec spec;
  spec.steps = {1, 2, 3};
  spec.tolerances = {0.1, 1.0};
  spec.claim_columns = {0, 2};
  spec.grouped = true;
  spec.keep_shares = true;
  return spec;
}

TEST(TickGroup, IsItsLargestTickAndTheShareOfItsFailures) {
  const TallySpec spec = grouped_spec();
  TickGroup group(spec);
  const double ticks[4][3] = {{0.5, 0.05, 0.05}, {2.0, 0.01, 0.1}, {0.05, 0.2, 0.01}, {0.01, 0.01, 1.0}};
  for (const auto& tick : ticks) group.add_tick(spec, tick);
  EXPECT_EQ(group.ticks(), 4);
  EXPECT_EQ(group.largest(), (std::vector<double>{2.0, 0.2, 1.0}));
  // Not below 0.1 and 1.0 at step 1, then at step 3; equal is not below.
  EXPECT_EQ(group.failed_share(0), 0.5);
  EXPECT_EQ(group.failed_share(1), 0.25);
  EXPECT_EQ(group.failed_share(2), 0.5);
  EXPECT_EQ(group.failed_share(3), 0.25);
}

TEST(TickGroup, ATickThatDivergedHasFailedFromThereOnAndItsGroupWithIt) {
  const TallySpec spec = grouped_spec();
  for (const double bad : {infinity, -infinity, std::nan("")}) {
    TickGroup group(spec);
    const double good[3] = {0.01, 0.01, 0.01};
    const double diverged[3] = {0.02, bad, 0.0};
    group.add_tick(spec, diverged);
    group.add_tick(spec, good);
    EXPECT_EQ(group.largest(), (std::vector<double>{0.02, infinity, infinity}));
    EXPECT_EQ(group.failed_share(1), 0.0);
    EXPECT_EQ(group.failed_share(3), 0.5);
  }
}

TEST(TickGroup, SharesAreNeverBelowTheTruth) {
  TallySpec spec = grouped_spec();
  spec.tolerances = {0.5};
  spec.claim_columns = {0};
  for (const int ticks : {3, 7, 10, 49, 1000}) {
    for (const int failed : {1, 2, ticks - 1, ticks}) {
      TickGroup group(spec);
      for (int i = 0; i < ticks; ++i) {
        const double values[3] = {i < failed ? 1.0 : 0.0, 0.0, 0.0};
        group.add_tick(spec, values);
      }
      const long double product = static_cast<long double>(group.failed_share(0)) * ticks;
      EXPECT_GE(product, failed);
      EXPECT_LE(group.failed_share(0), static_cast<double>(failed) / ticks * (1 + 1e-15));
      EXPECT_LE(group.failed_share(0), 1.0);
    }
  }
}

TEST(TickGroup, CountsAsARunOfItsLargestValues) {
  const TallySpec spec = grouped_spec();
  TallySpec plain = spec;
  plain.grouped = plain.keep_shares = false;
  Tally groups(spec);
  Tally runs(plain);
  Tally parts[2] = {Tally(spec), Tally(spec)};
  RandomStream random(4, "tick groups", 0);
  for (int g = 0; g < 60; ++g) {
    TickGroup group(spec);
    double largest[3] = {0, 0, 0};
    for (int tick = 0; tick <= g % 5; ++tick) {
      double values[3];
      for (int k = 0; k < 3; ++k) {
        values[k] = random.uniform();
        largest[k] = std::max(largest[k], values[k]);
      }
      group.add_tick(spec, values);
    }
    groups.add_group(group);
    parts[g % 2].add_group(group);
    runs.add_run(largest);
  }
  EXPECT_EQ(groups.samples(), 60);
  EXPECT_EQ(groups.ticks(), 180);
  EXPECT_EQ(groups.fewest_ticks(), 1);
  EXPECT_EQ(groups.most_ticks(), 5);
  for (std::size_t column = 0; column < 3; ++column)
    for (std::size_t t = 0; t < 2; ++t) EXPECT_EQ(groups.failures(column, t), runs.failures(column, t));
  EXPECT_EQ(groups.settled(0), runs.settled(0));
  EXPECT_EQ(groups.values(1).order_statistic(30), runs.values(1).order_statistic(30));
  // A group without failed ticks is one whose largest tick is below.
  const std::vector<ValueCount> shares = groups.failed_shares(0, 0).different_values();
  EXPECT_EQ(shares.front().value == 0 ? shares.front().count : 0, 60 - runs.failures(0, 0));
  parts[0].merge(parts[1]);
  EXPECT_EQ(parts[0].state(), groups.state());
  EXPECT_EQ(Tally::from_state(spec, groups.state()).state(), groups.state());
}

TEST(TickGroup, ARunAddedToGroupsIsAGroupOfOneTick) {
  const TallySpec spec = grouped_spec();
  Tally tally(spec);
  const double values[3] = {0.5, 0.5, std::nan("")};
  tally.add_run(values);
  EXPECT_EQ(tally.ticks(), 1);
  EXPECT_EQ(tally.failed_shares(0, 0).order_statistic(1), 1.0);
  EXPECT_EQ(tally.failed_shares(0, 1).order_statistic(1), 0.0);
  EXPECT_EQ(tally.failed_shares(1, 1).order_statistic(1), 1.0);
}

TEST(TickGroup, RefusesStatesThatNoGroupHas) {
  const TallySpec spec = grouped_spec();
  ByteWriter to;
  to.number(Index{2});
  to.list(std::vector<double>{1, 2, 3});
  to.list(std::vector<Index>{0, 3, 0, 0});  // three of two ticks have failed
  const std::string bytes = to.take();
  ByteReader from(bytes, "test");
  EXPECT_INPUT_ERROR(TickGroup::read_state(spec, from), "2 ticks");
  TallySpec plain = spec;
  plain.grouped = false;
  EXPECT_INPUT_ERROR(plain.validate(), "are of groups");
}

TEST(RoundedUp, KeepsDigitsAndNeverGoesDown) {
  EXPECT_EQ(rounded_up(0.7, 0), 1.0);
  EXPECT_EQ(rounded_up(0.5, 0), 0.5);
  EXPECT_EQ(rounded_up(0.3, 52), 0.3);
  EXPECT_EQ(rounded_up(0.0, 2), 0.0);
  for (const int digits : {0, 2, 4, 10}) {
    for (double x = 1e-5; x < 1; x *= 1.37) {
      EXPECT_GE(rounded_up(x, digits), x);
      EXPECT_LE(rounded_up(x, digits), x * (1 + std::pow(0.5, digits)));
    }
  }
}

}  // namespace
}  // namespace surefoot::runs
