#include "surefoot/io/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surefoot::io {
namespace {

using namespace std::string_literals;

TEST(Excerpt, KeepsPlainTextAndEscapesTheRest) {
  EXPECT_EQ(excerpt("0.5 größer"), "0.5 größer");
  EXPECT_EQ(excerpt("a\tb\r\n"), "a\\tb\\r\\n");
  EXPECT_EQ(excerpt("a\0b\x1b[31m"s), "a\\0b\\x1b[31m");
  EXPECT_EQ(excerpt("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(excerpt("\xc2\x9b"), "\\xc2\\x9b") << "a C1 control character";
}

TEST(Excerpt, CutsByCharactersNotBytes) {
  EXPECT_EQ(excerpt(std::string(40, 'x')), std::string(40, 'x'));
  EXPECT_EQ(excerpt(std::string(41, 'x')), std::string(40, 'x') + "...");
  EXPECT_EQ(excerpt("äöü", 2), "äö...");
}

TEST(Text, FindsControlCharactersAndCountsCharacters) {
  for (const std::string& bad :
       {"a\nb"s, "\t"s, "x\x7f"s, "\0"s, "\xc2\x85"s, "a\u2028b"s, "\u202eevil"s, "\u2066"s})
    EXPECT_TRUE(has_control_characters(bad)) << excerpt(bad);
  for (const char* good : {"", "NMSE (dB)", "größer als \u2027 \u202f\u2065\u206a", "\u00a0", "caf\xe9"})
    EXPECT_FALSE(has_control_characters(good)) << excerpt(good);
  EXPECT_EQ(excerpt("a\u202eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(character_count("größer"), 6U);
  EXPECT_EQ(character_count("caf\xe9\xff"), 5U);
}

TEST(Utf8, AcceptsExactlyWhatTheStandardDoes) {
  for (const char* good : {"", "abc", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << excerpt(good);
  }
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff\xfe", "a\xe9z"}) {
    EXPECT_FALSE(is_utf8(bad)) << excerpt(bad);
  }
}

TEST(ParseNumber, ReadsWholeCellsOnly) {
  double value = -1;
  const auto reads = [&value](const char* text) { return parse_number(text, value); };
  EXPECT_TRUE(reads("1e-3") && value == 1e-3);
  EXPECT_TRUE(reads("+2.5") && value == 2.5);
  EXPECT_TRUE(reads("-.5") && value == -0.5);
  EXPECT_TRUE(reads("7.") && value == 7);
  EXPECT_TRUE(reads("0.10000000000000001") && value == 0.1);
  EXPECT_TRUE(reads("INF") && value == std::numeric_limits<double>::infinity());
  EXPECT_TRUE(reads("-Infinity") && value == -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(reads("+inf") && value == std::numeric_limits<double>::infinity());
  EXPECT_TRUE(reads("NaN") && std::isnan(value));
  EXPECT_TRUE(reads("1e999") && value == std::numeric_limits<double>::infinity());
  EXPECT_TRUE(reads("1e-999") && value == 0);
  for (const char* bad :
       {"", " ", "+", "-", "+-1", "--1", "1x", "1 2", "0x10", "1e", "e5", ".", "one", "1,5"}) {
    EXPECT_FALSE(reads(bad)) << bad;
  }
}

TEST(ParseInteger, RefusesWhatDoesNotFit) {
  long long value = 0;
  EXPECT_TRUE(parse_integer("+12", value) && value == 12);
  EXPECT_TRUE(parse_integer("-12", value) && value == -12);
  for (const char* bad : {"", "+", "+-1", "1.0", "9223372036854775808", "1 "}) {
    EXPECT_FALSE(parse_integer(bad, value)) << bad;
  }
}

}  // namespace
}  // namespace surefoot::io
