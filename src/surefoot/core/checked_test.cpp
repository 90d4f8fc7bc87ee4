#include "surefoot/core/checked.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace surefoot {
namespace {

using test_support::input_error;

constexpr Index largest = std::numeric_limits<Index>::max();
constexpr Index smallest = std::numeric_limits<Index>::min();

TEST(Checked, SumsAndProductsThatDoNotFitAreRefusedByName) {
  EXPECT_EQ(checked_sum("rows", largest - 1, 1), largest);
  EXPECT_EQ(checked_product("rows", largest / 2, 2), largest - 1);
  EXPECT_EQ(input_error([] { (void)checked_sum("rows", largest, 1); }),
            "rows: 9223372036854775807 + 1 is out of range");
  EXPECT_EQ(input_error([] { (void)checked_product("rows", largest, 2); }),
            "rows: 9223372036854775807 x 2 is out of range");
  EXPECT_NE(input_error([] { (void)checked_sum("rows", smallest, -1); }), "(no error)");
  EXPECT_NE(input_error([] { (void)checked_product("rows", smallest, -1); }), "(no error)");
}

// Against the same in 128 bits, over all combinations of numbers at the edges.
TEST(Checked, RangesAreJudgedAsInWiderNumbers) {
  const std::vector<Index> edges{smallest, smallest + 1, -1, 0, 1, 2, 7, largest - 1, largest};
  for (const Index first : edges) {
    for (const Index count : edges) {
      for (const Index all : edges) {
        const bool expected = first >= 0 && count >= 0 && static_cast<__int128>(first) + count <= all;
        EXPECT_EQ(is_within(first, count, all), expected) << first << ' ' << count << ' ' << all;
      }
    }
  }
}

}  // namespace
}  // namespace surefoot
