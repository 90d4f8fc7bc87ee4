#include "surefoot/io/csv_text.hpp"

#include <gtest/gtest.h>

namespace surefoot::io::csv_text_tests {
namespace {

using Cells = std::vector<std::string_view>;

TEST(CsvText, SeparatorsWithinQuotesDoNotEndACell) {
  EXPECT_EQ(split_cells("a, \"b,c\" ,d", ','), (Cells{"a", "\"b,c\"", "d"}));
  EXPECT_EQ(split_cells("", ','), (Cells{""}));
  EXPECT_EQ(split_cells("a,", ','), (Cells{"a", ""}));
  EXPECT_EQ(detect_separator("\"a;b\",c"), ',');
  EXPECT_EQ(detect_separator("a;b,c"), ';');
  EXPECT_EQ(detect_separator("a\tb;c"), '\t');
}

TEST(CsvText, QuotesAreTakenOff) {
  EXPECT_EQ(unquoted("\"a \"\"b\"\"\""), "a \"b\"");
  EXPECT_EQ(unquoted("plain"), "plain");
  EXPECT_EQ(unquoted("\""), "\"");
}

TEST(CsvText, WordsOfFailureAndDecimalCommasAreKnown) {
  EXPECT_TRUE(means_failure("Timed out") && means_failure("<failed>"));
  EXPECT_FALSE(means_failure("inf") || means_failure("runtime"));
  EXPECT_TRUE(has_decimal_comma({"0", "05"}));
  EXPECT_FALSE(has_decimal_comma({"10", "20"}));
  EXPECT_NE(encoding_complaint(std::string_view("a\0b", 3)), "");
  EXPECT_NE(encoding_complaint("\xff"), "");
  EXPECT_EQ(encoding_complaint("µs"), "");
}

}  // namespace
}  // namespace surefoot::io::csv_text_tests
