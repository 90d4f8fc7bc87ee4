#include "surefoot/monitoring/conformal.hpp"

#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace surefoot::monitoring {
namespace {

std::vector<double> normal_values(std::uint64_t stream, std::size_t count) {
  RandomStream random(11, "conformal test", stream);
  std::vector<double> values(count);
  for (double& value : values) value = random.normal();
  return values;
}

/// Ranks by comparing cells with all values before, edges taken from the sorted even places.
TEST(ConformalRanks, AreThoseOfTheSlowVersion) {
  std::vector<double> reference = normal_values(0, 61);
  for (std::size_t i = 0; i < 20; ++i) reference[i] = 0.25;  // an atom
  reference[7] = std::nan("");
  reference[30] = infinity;
  std::vector<double> edges;
  for (std::size_t i = 0; i < reference.size(); i += 2) edges.push_back(reference[i]);
  std::ranges::sort(edges);
  const auto cell = [&](double value) {
    std::size_t below = 0;
    double last = -infinity;
    for (const double edge : edges) {
      if ((std::isnan(value) || value > edge) && edge > last) {
        ++below;
        last = edge;
      }
    }
    return std::isnan(value) && std::isinf(edges.back()) ? below - 1 : below;
  };
  std::vector<std::size_t> bag;
  for (std::size_t i = 1; i < reference.size(); i += 2) bag.push_back(cell(reference[i]));
  ConformalRanks ranks(reference, 5);
  std::uint64_t index = 0;
  for (const double value : normal_values(1, 200)) {
    const std::size_t own = cell(value);
    const auto greater = std::ranges::count_if(bag, [&](std::size_t other) { return other > own; });
    const auto same = std::ranges::count(bag, own);
    RandomStream random(5, "ties of ranks", index++);
    const double p = (static_cast<double>(greater) + random.uniform() * static_cast<double>(1 + same)) /
                     static_cast<double>(1 + bag.size());
    EXPECT_DOUBLE_EQ(ranks.next(value), p);
    bag.push_back(own);
  }
}

TEST(ConformalRanks, AreUniformWhateverTheDistribution) {
  constexpr int streams = 400;
  std::vector<double> all;
  for (int s = 0; s < streams; ++s) {
    RandomStream random(3, "conformal uniform", static_cast<std::uint64_t>(s));
    std::vector<double> reference(60);
    for (double& value : reference) value = std::floor(4 * random.uniform());  // ties everywhere
    ConformalRanks ranks(reference, static_cast<std::uint64_t>(s));
    for (int t = 0; t < 50; ++t) all.push_back(ranks.next(std::floor(4 * random.uniform())));
  }
  std::ranges::sort(all);
  double distance = 0;  // Kolmogorov and Smirnov
  const auto n = static_cast<double>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    distance = std::max(distance, std::abs(all[i] - (static_cast<double>(i) + 0.5) / n));
  EXPECT_LT(distance * std::sqrt(n), 2.6);  // passed by with probability below 3e-6
}

TEST(ConformalRanks, RefuseAReferenceThatSaysNothing) {
  EXPECT_INPUT_ERROR(ConformalRanks(normal_values(0, 19), 0), "reference: 19 values are too few");
}

TEST(RankEvidence, EveryBetIsFairOrLosing) {
  // Ratios are seen through one step of the test from its beginning.
  double sum = 0;
  constexpr int cells = 100'000;
  for (int i = 0; i < cells; ++i) {
    RankEvidence evidence(true);
    evidence.advance((i + 0.5) / cells);
    sum += evidence.value();
  }
  EXPECT_LT(sum / cells, 1.0);
  EXPECT_GT(sum / cells, 1 - 1e-9);
}

TEST(RankEvidence, SeesWorseBetterWiderAndNarrowerValues) {
  const std::vector<double> reference = normal_values(7, 2000);
  const auto solves_to_alarm = [&](double shift, double scale) {
    ConformalRanks ranks(reference, 1);
    RankEvidence evidence(false);
    int solves = 0;
    for (const double value : normal_values(8, 20'000)) {
      evidence.advance(ranks.next(shift + scale * value));
      ++solves;
      if (evidence.value() >= 1e6) return solves;
    }
    return -1;
  };
  EXPECT_EQ(solves_to_alarm(0, 1), -1);
  for (const auto& [shift, scale] : {std::pair{1.0, 1.0}, {-1.0, 1.0}, {0.0, 2.0}, {0.0, 0.4}}) {
    const int solves = solves_to_alarm(shift, scale);
    EXPECT_GT(solves, 5) << shift << " " << scale;
    EXPECT_LT(solves, 200) << shift << " " << scale;
  }
}

TEST(RankEvidence, ATestThatHasSunkFarRisesAgain) {
  RankEvidence evidence(true);
  for (int i = 0; i < 20'000; ++i) evidence.advance(i % 2 == 0 ? 0.3 : 0.7);
  EXPECT_GE(evidence.value(), 0);
  double before = 0;
  for (int i = 0; i < 200'000; ++i) evidence.advance(0.0005);
  before = evidence.value();
  EXPECT_GT(before, 1e100);
  EXPECT_LE(before, 1.4e154);
}

TEST(ConformalStates, GoOnByteForByte) {
  const std::vector<double> reference = normal_values(2, 100);
  ConformalRanks ranks(reference, 9);
  RankEvidence evidence(true);
  for (const double value : normal_values(3, 50)) evidence.advance(ranks.next(value));
  ByteWriter to;
  ranks.write(to);
  evidence.write(to);
  const std::string bytes = to.take();
  ConformalRanks other_ranks(reference, 9);
  RankEvidence other(true);
  ByteReader from(bytes, "state");
  other_ranks.read(from);
  other.read(from);
  from.finish();
  for (const double value : normal_values(4, 50)) {
    const double p = ranks.next(value);
    EXPECT_EQ(other_ranks.next(value), p);
    evidence.advance(p);
    other.advance(p);
    EXPECT_EQ(other.value(), evidence.value());
  }
  ByteReader bad(std::string_view(bytes).substr(0, 100), "state");
  EXPECT_INPUT_ERROR(other_ranks.read(bad), "ends early");
}

}  // namespace
}  // namespace surefoot::monitoring
