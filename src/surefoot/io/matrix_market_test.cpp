#include "surefoot/io/matrix_market.hpp"

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/line_reader.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

using test_support::gzip;
using test_support::input_error;
using test_support::TemporaryFolder;

Eigen::MatrixXd dense(const std::string& text, const MatrixMarketLimits& limits = {}) {
  return Eigen::MatrixXd(read_matrix_market(*memory_bytes("m.mtx", text), limits));
}

std::string mtx_error(const std::string& text, const MatrixMarketLimits& limits = {}) {
  return input_error([&] { dense(text, limits); });
}

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, ReadsCoordinatesAndSumsDuplicates) {
  Eigen::MatrixXd expected(2, 3);
  expected << 1.5, 0, 0, 0, 0, -2;
  const std::string body = "% a comment\n\n2 3 3\n1 1 1\n2 3 -2e0\r\n  1\t1 .5 \n";
  EXPECT_EQ(dense(real_general + body), expected);
  EXPECT_EQ(dense("%%matrixmarket MATRIX Coordinate Double General\n" + body), expected);
}

TEST(MatrixMarket, ReadsPatternIntegerAndSymmetric) {
  Eigen::MatrixXd pattern(2, 2);
  pattern << 1, 0, 1, 0;
  EXPECT_EQ(dense("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 1\n"), pattern);
  Eigen::MatrixXd symmetric(2, 2);
  symmetric << 4, -1, -1, 0;
  EXPECT_EQ(dense("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 -1\n"), symmetric);
}

TEST(MatrixMarket, ReadsArraysByColumns) {
  Eigen::MatrixXd general(2, 2);
  general << 1, 3, 2, 4;
  EXPECT_EQ(dense("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"), general);
  Eigen::MatrixXd symmetric(2, 2);
  symmetric << 1, 2, 2, 0;
  EXPECT_EQ(dense("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n0\n"), symmetric);
}

TEST(MatrixMarket, ReadsFilesPlainAndGzip) {
  const TemporaryFolder folder;
  const std::string text = real_general + "1 1 1\n1 1 7\n";
  EXPECT_EQ(read_matrix_market(folder.write("a.mtx", text)).coeff(0, 0), 7);
  EXPECT_EQ(read_matrix_market(folder.write("a.mtx.gz", gzip(text))).coeff(0, 0), 7);
}

TEST(MatrixMarket, ComplainsAboutTheBanner) {
  EXPECT_EQ(mtx_error(""), "m.mtx: the file is empty");
  EXPECT_EQ(mtx_error("1,2\n"), "m.mtx:1: a Matrix Market file begins with %%MatrixMarket: '1,2'");
  const auto banner = [](const std::string& words) {
    return mtx_error("%%MatrixMarket " + words + "\n1 1 0\n");
  };
  EXPECT_NE(banner("vector").find("m.mtx:1: the object is not 'matrix'"), std::string::npos);
  EXPECT_NE(banner("matrix list").find("neither 'coordinate' nor 'array'"), std::string::npos);
  EXPECT_NE(banner("matrix coordinate complex general").find("the field is not"), std::string::npos);
  EXPECT_NE(banner("matrix coordinate real hermitian").find("the symmetry is neither"), std::string::npos);
  EXPECT_NE(banner("matrix array pattern general").find("an array has no pattern"), std::string::npos);
  EXPECT_NE(banner("matrix array real general x").find("too many words"), std::string::npos);
}

TEST(MatrixMarket, ComplainsAboutSizes) {
  EXPECT_EQ(mtx_error(real_general), "m.mtx:1: the line with the sizes is missing");
  EXPECT_EQ(mtx_error(real_general + "2 x 1\n"), "m.mtx:2: expected an integer: '2 x 1'");
  EXPECT_EQ(mtx_error(real_general + "2 2\n"), "m.mtx:2: expected an integer: '2 2'");
  EXPECT_EQ(mtx_error(real_general + "2 2 1 1\n"), "m.mtx:2: too many words: '2 2 1 1'");
  EXPECT_EQ(mtx_error(real_general + "-2 2 1\n"), "m.mtx:2: a size is negative: '-2 2 1'");
  EXPECT_EQ(mtx_error(real_general + "2 2 -1\n"), "m.mtx:2: the number of entries is negative: '2 2 -1'");
  EXPECT_EQ(mtx_error(real_general + "2 99999999999999999999 1\n"),
            "m.mtx:2: expected an integer: '2 99999999999999999999 1'");
  EXPECT_EQ(mtx_error(real_general + "5 2 1\n", {.dimension = 4}),
            "m.mtx:2: more than 4 rows or columns: '5 2 1'");
  EXPECT_EQ(mtx_error(real_general + "2 2 9\n", {.entries = 8}), "m.mtx:2: more than 8 entries: '2 2 9'");
  EXPECT_EQ(mtx_error("%%MatrixMarket matrix array real general\n3 3\n", {.entries = 8}),
            "m.mtx:2: more than 8 entries: '3 3'");
  EXPECT_EQ(mtx_error("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n"),
            "m.mtx:2: a symmetric matrix is square: '2 3 0'");
  EXPECT_EQ(mtx_error(real_general, {.dimension = -1}), "limits.dimension: -1 is outside 0 .. 2000000000");
}

TEST(MatrixMarket, ComplainsAboutEntries) {
  const auto entries = [](const std::string& lines) { return mtx_error(real_general + "2 3 2\n" + lines); };
  EXPECT_EQ(entries("1 1 1\n"), "m.mtx:3: 2 entries announced, the file ends after 1");
  EXPECT_EQ(entries("1 1 1\n1 2 1\n1 3 1\n"), "m.mtx:5: more than the 2 entries announced: '1 3 1'");
  EXPECT_EQ(entries("0 1 1\n"), "m.mtx:3: row 0 is outside 1 .. 2: '0 1 1'");
  EXPECT_EQ(entries("3 1 1\n"), "m.mtx:3: row 3 is outside 1 .. 2: '3 1 1'");
  EXPECT_EQ(entries("1 4 1\n"), "m.mtx:3: column 4 is outside 1 .. 3: '1 4 1'");
  EXPECT_EQ(entries("1 1\n"), "m.mtx:3: a value is missing: '1 1'");
  EXPECT_EQ(entries("1 1 one\n"), "m.mtx:3: the value is not a number: '1 1 one'");
  EXPECT_EQ(entries("1 1 nan\n"), "m.mtx:3: the value is not finite: '1 1 nan'");
  EXPECT_EQ(entries("1 1 1 1\n"), "m.mtx:3: too many words: '1 1 1 1'");
  EXPECT_EQ(entries("1 1 \xff\n"), "m.mtx:3: the value is not a number: '1 1 \\xff'");
  EXPECT_EQ(mtx_error("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n"),
            "m.mtx:3: a symmetric file holds the lower triangle only: '1 2 1'");
  EXPECT_EQ(mtx_error("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1.5\n"),
            "m.mtx:3: expected an integer: '1 2 1.5'");
}

TEST(LineReader, GivesLinesAcrossItsBuffer) {
  const auto source = memory_bytes("t", "one\n\ntwo\r\nthree and\nfour");
  LineReader lines(*source, 9);
  std::vector<std::string> seen;
  std::string_view line;
  while (lines.next(line)) seen.emplace_back(line);
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "", "two", "three and", "four"}));
  EXPECT_EQ(lines.number(), 5);
}

TEST(LineReader, RefusesLinesTooLong) {
  for (const char* text : {"ok\n1234567890", "ok\n1234567890\nx", "ok\n1234567890123456789012345678901"}) {
    const auto source = memory_bytes("t", text);
    LineReader lines(*source, 9);
    std::string_view line;
    EXPECT_TRUE(lines.next(line));
    EXPECT_EQ(input_error([&] { lines.next(line); }), "t:2: the line is longer than 9 bytes");
  }
}

}  // namespace
}  // namespace surefoot::io
