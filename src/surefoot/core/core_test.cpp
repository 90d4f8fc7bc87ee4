#include "surefoot/core/build.hpp"
#include "surefoot/core/detail/vector_math.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

namespace surefoot {
namespace {

TEST(BuildId, IsADigest) {
  const std::string id = build_id();
  EXPECT_EQ(id.size(), 40U) << id;
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
  EXPECT_EQ(build_id(), id);
}

TEST(RandomStream, IsNamedBySeedPurposeAndIndex) {
  std::set<std::uint64_t> first_bits;
  for (const std::uint64_t seed : {0ULL, 1ULL, 99ULL}) {
    for (const char* purpose : {"sample", "training", "calibration", ""}) {
      for (std::uint64_t index = 0; index < 50; ++index) {
        RandomStream stream(seed, purpose, index);
        for (int draw = 0; draw < 9; ++draw) first_bits.insert(stream.bits());
      }
    }
  }
  EXPECT_EQ(first_bits.size(), 3U * 4U * 50U * 9U);
  RandomStream a(7, "sample", 3);
  RandomStream b(7, "sample", 3);
  for (int draw = 0; draw < 100; ++draw) EXPECT_EQ(a.bits(), b.bits());
}

TEST(RandomStream, UniformAndNormalHaveTheirMoments) {
  RandomStream stream(1, "moments", 0);
  constexpr int draws = 400000;
  double uniform_sum = 0, uniform_square = 0, normal_sum = 0, normal_square = 0, normal_fourth = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const double u = stream.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    const double z = stream.normal();
    uniform_sum += u;
    uniform_square += u * u;
    normal_sum += z;
    normal_square += z * z;
    normal_fourth += z * z * z * z;
  }
  EXPECT_NEAR(uniform_sum / draws, 0.5, 5 * std::sqrt(1.0 / 12 / draws));
  EXPECT_NEAR(uniform_square / draws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / draws));
  EXPECT_NEAR(normal_sum / draws, 0.0, 5 * std::sqrt(1.0 / draws));
  EXPECT_NEAR(normal_square / draws, 1.0, 5 * std::sqrt(2.0 / draws));
  EXPECT_NEAR(normal_fourth / draws, 3.0, 5 * std::sqrt(96.0 / draws));
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream stream(1, "below", 0);
  std::vector<int> seen(7);
  constexpr int draws = 70000;
  for (int draw = 0; draw < draws; ++draw) ++seen.at(stream.below(7));
  for (const int count : seen) EXPECT_NEAR(count, draws / 7.0, 5 * std::sqrt(draws / 7.0));
  EXPECT_EQ(stream.below(1), 0U);
}

TEST(ParallelBlocks, VisitsEveryBlockOnceWhateverTheThreads) {
  for (const int team : {1, 2, 5}) {
    set_threads(team);
    std::vector<int> visits(1000);
    parallel_blocks(1000, [&](Index block) { ++visits[static_cast<std::size_t>(block)]; });
    for (const int count : visits) EXPECT_EQ(count, 1);
  }
  set_threads(0);
}

TEST(ParallelBlocks, RethrowsTheFailureOfABlock) {
  EXPECT_INPUT_ERROR(parallel_blocks(100, [](Index block) { require(block != 40, "block {}", block); }),
                     "block 40");
}

template <class T>
void expect_normals() {
  constexpr Index count = 100000;
  std::vector<T> values(count);
  fill_normals({1, purpose_key("moments"), 5, 2}, values.data(), count);
  double moments[5] = {};
  for (const T value : values) {
    for (int power = 1; power <= 4; ++power) moments[power] += std::pow(static_cast<double>(value), power);
  }
  const double n = static_cast<double>(count);
  EXPECT_NEAR(moments[1] / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(moments[2] / n, 1, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(moments[3] / n, 0, 4 * std::sqrt(15 / n));
  EXPECT_NEAR(moments[4] / n, 3, 4 * std::sqrt(96 / n));
  // A stream's name fixes its numbers; another index or part has others.
  std::vector<T> again(20);
  std::vector<T> other(20);
  fill_normals({1, purpose_key("moments"), 5, 2}, again.data(), 20);
  const std::vector<T> first = again;
  fill_normals({1, purpose_key("moments"), 5, 2}, again.data(), 20);
  EXPECT_EQ(again, first);
  for (const NormalStream& stream :
       {NormalStream{1, purpose_key("moments"), 5, 3}, NormalStream{1, purpose_key("moments"), 6, 2},
        NormalStream{2, purpose_key("moments"), 5, 2}, NormalStream{1, purpose_key("else"), 5, 2}}) {
    fill_normals(stream, other.data(), 20);
    EXPECT_NE(other, first);
  }
}

TEST(VectorMath, NormalsHaveTheirMomentsAndStreams) {
  expect_normals<double>();
  expect_normals<float>();
}

// Box and Muller of Philox blocks one by one, pairs apart in chunks of 64.
template <class T>
void expect_normals_of_philox(Index count, double tolerance) {
  const NormalStream stream{0xFEDCBA9876543210ULL, purpose_key("philox"), 0xFFFFFFFF00000007ULL, 3};
  std::vector<T> values(static_cast<std::size_t>(count));
  fill_normals(stream, values.data(), count);
  const auto word = [&](Index i) {
    const auto block = static_cast<std::uint64_t>(i / 4);
    return r123::Philox4x64()({{block, stream.index, stream.part, 1}},
                              {{stream.seed, stream.purpose}})[i % 4];
  };
  Index pair = 0;
  for (Index done = 0; done < count;) {
    const Index pairs = std::min<Index>(64, (count - done + 7) / 8 * 4);
    for (Index i = 0; i < 2 * pairs && done < count; ++i, ++done) {
      const Index own = pair + i % pairs;
      double u = 0;
      double v = 0;
      if constexpr (sizeof(T) == 4) {
        u = (static_cast<double>((word(own) & 0xFFFFFFFFU) >> 8U) + 0.5) * 0x1p-24;
        v = (static_cast<double>(word(own) >> 40U) + 0.5) * 0x1p-24;
      } else {
        u = (static_cast<double>(word(2 * own) >> 11U) + 0.5) * 0x1p-53;
        v = (static_cast<double>(word(2 * own + 1) >> 11U) + 0.5) * 0x1p-53;
      }
      const double radius = std::sqrt(-2 * std::log(u));
      const double angle = 2 * std::numbers::pi * v;
      EXPECT_NEAR(values[static_cast<std::size_t>(done)],
                  radius * (i < pairs ? std::cos(angle) : std::sin(angle)), tolerance)
          << done << " of " << count;
    }
    pair += pairs;
  }
}

TEST(VectorMath, NormalsAreThoseOfPhiloxBlocksOneByOne) {
  for (const Index count : {1, 7, 8, 9, 63, 129, 300, 1761}) {
    expect_normals_of_philox<float>(count, 1e-5);
    expect_normals_of_philox<double>(count, 1e-13);
  }
}

TEST(VectorMath, ExponentialsDoNotDependOnTheirNeighbours) {
  std::vector<double> x(37);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -3 + 0.21 * static_cast<double>(i);
  std::vector<double> together = x;
  exponentials(together.data(), static_cast<Index>(together.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double alone = x[i];
    exponentials(&alone, 1);
    EXPECT_EQ(alone, together[i]) << x[i];
  }
}

TEST(VectorMath, ExponentialsAgreeWithTheLibrary) {
  std::vector<double> x;
  for (double value = -30; value <= 30; value += 0.37) x.push_back(value);
  std::vector<double> y = x;
  exponentials(y.data(), static_cast<Index>(y.size()));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i] / std::exp(x[i]), 1, 1e-14);
}

}  // namespace
}  // namespace surefoot
