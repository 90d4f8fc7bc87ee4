#include "surefoot/core/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace surefoot {
namespace {

TEST(DecodeUtf8, GivesEveryCharacterAndNothingElse) {
  EXPECT_EQ(decode_utf8("a").value, U'a');
  EXPECT_EQ(decode_utf8("\u00e9!").value, 0xE9U);
  EXPECT_EQ(decode_utf8("\u00e9!").bytes, 2U);
  EXPECT_EQ(decode_utf8("\u6b8b").value, 0x6B8BU);
  EXPECT_EQ(decode_utf8("\U0001F600").value, 0x1F600U);
  EXPECT_EQ(decode_utf8("\U0001F600").bytes, 4U);
  for (const char* broken : {"\xC0\xAF", "\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"})
    EXPECT_EQ(decode_utf8(broken).bytes, 0U) << broken;
}

TEST(DecodeUtf8, KnowsWhatSteersATerminal) {
  for (const std::uint32_t c : {0x00U, 0x1BU, 0x7FU, 0x9BU, 0x2028U, 0x202EU, 0x2066U, 0x2069U})
    EXPECT_TRUE(is_control(c)) << c;
  for (const std::uint32_t c : {0x20U, 0x7EU, 0xA0U, 0x2027U, 0x202FU, 0x2065U, 0x206AU})
    EXPECT_FALSE(is_control(c)) << c;
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("naïve"), 5U);
  EXPECT_EQ(display_width("残差"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
}

TEST(Shortened, FitsAndSaysSo) {
  EXPECT_EQ(shortened("short", 10), "short");
  EXPECT_EQ(shortened("a rather long name", 8), "a rathe…");
  EXPECT_EQ(display_width(shortened("残差残差残差", 6)), 5U);
}

}  // namespace
}  // namespace surefoot
