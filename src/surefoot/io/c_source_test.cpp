#include "surefoot/io/c_source.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

TEST(CSource, NamesAreThoseOfVariables) {
  for (const char* name : {"a", "_a1", "Start_of_mpc"}) EXPECT_NO_THROW(require_name_in_c(name)) << name;
  for (const char* name : {"", "1a", "a-b", "a b", "a;"})
    EXPECT_INPUT_ERROR(require_name_in_c(name), "is not a name in C");
}

TEST(CSource, CommentsEndNowhere) {
  EXPECT_EQ(c_comment_line("a */ b"), "a *  b");
  EXPECT_EQ(c_comment_line("a\nb\\"), "a?b?");
  EXPECT_EQ(c_comment_line("1/2 * 3"), "1/2 * 3");
}

}  // namespace
}  // namespace surefoot::io
