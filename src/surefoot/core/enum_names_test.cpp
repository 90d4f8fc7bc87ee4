#include "surefoot/core/enum_names.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot {
namespace {

enum class Fruit { apple, pear, plum };
constexpr EnumNames<Fruit, 2> fruits{{{Fruit::apple, "apple"}, {Fruit::pear, "pear"}}};

TEST(EnumNames, AreWrittenAndReadByOneList) {
  EXPECT_EQ(name_in(fruits, Fruit::pear), "pear");
  EXPECT_EQ(name_in(fruits, Fruit::plum), "?");
  EXPECT_EQ(value_in(fruits, "fruit", "apple"), Fruit::apple);
  EXPECT_EQ(all_names(fruits), "apple, pear");
  EXPECT_INPUT_ERROR(value_in(fruits, "fruit", "plum"), "fruit: 'plum' is not one of apple, pear");
}

}  // namespace
}  // namespace surefoot
