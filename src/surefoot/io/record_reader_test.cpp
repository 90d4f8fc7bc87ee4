#include "surefoot/io/record_reader.hpp"

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::io::record_reader_tests {
namespace {

using Lines = std::vector<std::vector<std::string>>;

RecordReader reader_of(const std::string& text) {
  return {memory_bytes("t.csv", text), {}};
}

Lines lines_of(const std::string& text) {
  RecordReader reader = reader_of(text);
  Lines lines{reader.labels()};
  std::vector<std::string> cells;
  while (reader.next(cells)) lines.push_back(cells);
  EXPECT_EQ(reader.sha256(), sha256_hex(text));
  return lines;
}

std::string error_of(const std::string& text) {
  return test_support::input_error([&] { lines_of(text); });
}

TEST(Records, AreTheCellsOfLines) {
  const Lines expected{{"a", "b"}, {"x, y", "1"}, {"say \"z\"", ""}};
  EXPECT_EQ(lines_of("a,b\n\"x, y\",1\n\"say \"\"z\"\"\",\n"), expected);
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "a;b\r\n x, y ;1\r\nsay \"z\";\r\n\r\n\n"),
            expected);
  EXPECT_EQ(lines_of(test_support::gzip("a,b\n\"x, y\",1\n\"say \"\"z\"\"\",")), expected);
}

TEST(Records, OfNumbersAloneHaveNoHeader) {
  EXPECT_EQ(lines_of("1\n> 4000\nnan\n"), (Lines{{"column 1"}, {"1"}, {"> 4000"}, {"nan"}}));
  EXPECT_EQ(lines_of(">4000,2\n1,2\n").front(), (std::vector<std::string>{"column 1", "column 2"}));
  EXPECT_FALSE(reader_of("1\n").has_header());
  EXPECT_TRUE(reader_of("t (ms)\n1\n").has_header());
}

TEST(Records, BadLinesAreNamed) {
  EXPECT_EQ(error_of(""), "t.csv: the file is empty");
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), "t.csv: the file is empty");
  EXPECT_EQ(error_of(" \n1\n"), "t.csv:1: the first line is blank");
  EXPECT_EQ(error_of("a,b\nx,1\ny\n"), "t.csv:3: expected 2 cells, found 1: 'y'");
  EXPECT_EQ(error_of("a,b\nx,1\n\ny,2\n"), "t.csv:3: blank line inside the table");
  EXPECT_EQ(error_of("a,b\n\"x,1\n"), "t.csv:2: a quoted cell does not end on its line: '\"x,1'");
  EXPECT_EQ(error_of("a,b\nx,\xff\n"), "t.csv:2: text is not UTF-8: 'x,\\xff'");
  EXPECT_EQ(
      error_of("runtime,3\n"),
      "t.csv:1: 'runtime' is no number and '3' is no label: neither a row of numbers nor a header; write inf "
      "where a run failed");
  EXPECT_EQ(error_of("timeout\n3\n"),
            "t.csv:1: 'timeout' says that a run failed: write inf there, or another label if it is one");
  EXPECT_EQ(error_of("PK\x03\x04zip"),
            "t.csv: is a zip archive (.npz, .xlsx); a table is CSV, gzip of it, or .npy");
}

TEST(Records, AMeasuredNumberMayOnlyBeKnownToExceedALimit) {
  EXPECT_EQ(parse_measured("2.5")->value, 2.5);
  EXPECT_FALSE(parse_measured("2.5")->censored);
  for (const char* text : {">4000", "> 4000", ">= 4000", ">=4e3"}) {
    ASSERT_TRUE(parse_measured(text)) << text;
    EXPECT_EQ(parse_measured(text)->value, infinity);
    EXPECT_TRUE(parse_measured(text)->censored);
  }
  EXPECT_TRUE(std::isnan(parse_measured("NaN")->value));
  for (const char* text : {"", ">", "> x", "< 3", "4000+", "timeout", "2.5 ms"})
    EXPECT_FALSE(parse_measured(text)) << text;
}

}  // namespace
}  // namespace surefoot::io::record_reader_tests
