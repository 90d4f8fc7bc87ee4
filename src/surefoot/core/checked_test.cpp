#include "surefoot/core/checked.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

TEST(Checked, ElementsOfAnArrayFitOrAreNone) {
  using Extents = std::vector<Index>;
  EXPECT_EQ(elements_of(Extents{}), 1);
  EXPECT_EQ(elements_of(Extents{3, 4, 5}), 60);
  EXPECT_EQ(elements_of(Extents{largest, largest, 0}), 0) << "empty, whatever the other extents are";
  EXPECT_EQ(elements_of(Extents{0, -1}), std::nullopt);
  EXPECT_EQ(elements_of(Extents{most_elements}), most_elements);
  EXPECT_EQ(elements_of(Extents{most_elements, 1}), most_elements);
  EXPECT_EQ(elements_of(Extents{most_elements + 1}), std::nullopt);
  EXPECT_EQ(elements_of(Extents{Index{1} << 32, Index{1} << 32, 3}), std::nullopt) << "3 if it wraps";
  EXPECT_EQ(elements_of(std::vector<std::size_t>{static_cast<std::size_t>(largest) + 5}), std::nullopt);
  EXPECT_LE(most_elements, largest / static_cast<Index>(sizeof(double)));
}

TEST(Checked, NumbersWithFractionsAreNotCutToWholeOnes) {
  EXPECT_EQ(whole_number_of("--limits", 0), 0);
  EXPECT_EQ(whole_number_of("--limits", -3), -3);
  EXPECT_EQ(whole_number_of("--limits", 1e15), most_counted);
  EXPECT_EQ(whole_number_of("--limits", std::ldexp(1.0, 53)), Index{1} << 53);
  for (const double bad : {2.7, -0.5, 1e300, -1e300, std::ldexp(1.0, 53) + 2, std::ldexp(1.0, 63),
                           std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_INPUT_ERROR((void)whole_number_of("--limits", bad), "is not a whole number") << bad;
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
