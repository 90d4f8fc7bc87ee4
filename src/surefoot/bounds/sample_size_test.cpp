#include "surefoot/bounds/sample_size.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::bounds {
namespace {

TEST(SamplesNeeded, AreThoseOfTheRank) {
  EXPECT_EQ(samples_needed(0, 0.99, 0.01), 459);
  // n log(share) <= log(delta) without failures.
  for (const double share : {0.5, 0.9, 0.999}) {
    for (const double delta : {0.1, 1e-6})
      EXPECT_EQ(samples_needed(0, share, delta),
                static_cast<Index>(std::ceil(std::log(delta) / std::log(share))));
  }
  for (const Index failures : {1, 2, 10, 100}) {
    for (const double share : {0.5, 0.95}) {
      const Index n = samples_needed(failures, share, 0.01);
      EXPECT_LE(order_statistic_rank(n, share, 0.01), n - failures);
      const Index rank = order_statistic_rank(n - 1, share, 0.01);
      EXPECT_TRUE(rank == 0 || rank > n - 1 - failures) << failures;
    }
  }
}

TEST(SamplesNeeded, AreMoreForThoseWhoLook) {
  EXPECT_EQ(samples_needed_looking(0, 0.99, 0.01), 556);
  for (const Index failures : {0, 1, 7}) {
    const Index n = samples_needed_looking(failures, 0.95, 0.05);
    EXPECT_GT(n, samples_needed(failures, 0.95, 0.05));
    EXPECT_LE(anytime_upper(failures, n, 0.05), 0.05);
    EXPECT_GT(anytime_upper(failures, n - 1, 0.05), 0.05);
  }
  EXPECT_EQ(samples_needed_looking(0, 1 - 1e-12, 0.01), 0);
}

TEST(SamplesNeeded, AreNoneWhereThereAreNotEnough) {
  EXPECT_EQ(samples_needed(0, 1 - 1e-12, 0.01), 0);
  EXPECT_INPUT_ERROR(samples_needed(0, 1.0, 0.01), "share: 1");
  EXPECT_INPUT_ERROR(samples_needed(-1, 0.5, 0.01), "failures: -1");
}

}  // namespace
}  // namespace surefoot::bounds
