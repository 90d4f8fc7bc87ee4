#include "surefoot/certify/nearly_equal.hpp"

#include "surefoot/core/types.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::certify {
namespace {

TEST(NearlyEqual, IsOfTheLastDigitsAndNeverOfInfinityOrNan) {
  EXPECT_TRUE(nearly_equal(1.0, 1.0 + 1e-13));
  EXPECT_FALSE(nearly_equal(1.0, 1.0 + 1e-11));
  EXPECT_TRUE(nearly_equal(0.0, 0.0));
  EXPECT_FALSE(nearly_equal(0.0, 5e-324));
  EXPECT_TRUE(nearly_equal(infinity, infinity));
  EXPECT_FALSE(nearly_equal(infinity, 5.0));
  EXPECT_FALSE(nearly_equal(infinity, -infinity));
  EXPECT_FALSE(nearly_equal(1e308, infinity));
  EXPECT_FALSE(nearly_equal(std::nan(""), std::nan("")));
}

}  // namespace
}  // namespace surefoot::certify
