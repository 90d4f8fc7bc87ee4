#include "surefoot/io/npy.hpp"

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/table_reader.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace surefoot::io {
namespace {

using namespace std::string_literals;
using test_support::gzip;
using test_support::input_error;
using test_support::TemporaryFolder;

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY" + std::string(1, static_cast<char>(version)) + "\0"s;
  const std::string padded = dictionary + "   \n";
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>((padded.size() >> (8 * i)) & 0xFF);
  }
  return bytes + padded + data;
}

std::string head(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran, shape);
}

template <class Element>
std::string data_of(const std::vector<Element>& elements, bool big_endian = false) {
  std::string data;
  for (const Element element : elements) {
    auto bytes = std::bit_cast<std::array<char, sizeof(Element)>>(element);
    if (big_endian) std::reverse(bytes.begin(), bytes.end());
    data.append(bytes.begin(), bytes.end());
  }
  return data;
}

std::vector<double> table(const std::string& bytes, const TableOptions& options = {}) {
  const auto reader = TableReader::open(memory_bytes("t.npy", bytes), options);
  std::vector<double> values;
  RowBlock block;
  Index rows = 0;
  while (reader->next(block)) {
    EXPECT_EQ(block.first_row, rows);
    rows += block.rows;
    EXPECT_EQ(block.values.size(), static_cast<std::size_t>(block.rows * reader->columns()));
    values.insert(values.end(), block.values.begin(), block.values.end());
  }
  EXPECT_EQ(reader->sha256(), sha256_hex(bytes));
  return values;
}

std::string npy_error(const std::string& bytes, const TableOptions& options = {}) {
  return input_error([&] { table(bytes, options); });
}

using Values = std::vector<double>;

template <class Element>
void reads_type(const std::string& type, const std::vector<Element>& elements) {
  const Values expected(elements.begin(), elements.end());
  EXPECT_EQ(table(npy(head("<" + type, "(1, 3)"), data_of(elements))), expected) << type;
  EXPECT_EQ(table(npy(head(">" + type, "(1, 3)"), data_of(elements, true))), expected) << type;
}

TEST(Npy, ReadsEveryTypeInBothByteOrders) {
  reads_type<double>("f8", {0.1, -1e300, infinity});
  reads_type<float>("f4", {0.1F, -1e30F, 3.0F});
  reads_type<std::int64_t>("i8", {-5, std::int64_t{1} << 53U, 7});
  reads_type<std::int32_t>("i4", {-5, 1 << 30, 7});
  reads_type<std::int16_t>("i2", {-5, 1 << 14, 7});
  reads_type<std::int8_t>("i1", {-5, 100, 7});
  reads_type<std::uint64_t>("u8", {5, std::uint64_t{1} << 63U, 7});
  reads_type<std::uint32_t>("u4", {5, 1U << 31U, 7});
  reads_type<std::uint16_t>("u2", {5, 1U << 15U, 7});
  reads_type<std::uint8_t>("u1", {5, 200, 7});
  EXPECT_TRUE(std::isnan(table(npy(head("<f8", "(1, 1)"), data_of<double>({std::nan("")})))[0]));
}

TEST(Npy, ReadsHalfPrecision) {
  const std::vector<std::uint16_t> bits{0x3C00, 0xC000, 0x7BFF, 0x0001, 0x0400,
                                        0x7C00, 0xFC00, 0x3555, 0x8000};
  const Values expected{1,         -2,        65504, std::ldexp(1, -24), std::ldexp(1, -14), infinity,
                        -infinity, 0x555p-12, -0.0};
  EXPECT_EQ(table(npy(head("<f2", "(1, 9)"), data_of(bits))), expected);
  EXPECT_EQ(table(npy(head(">f2", "(1, 9)"), data_of(bits, true))), expected);
  EXPECT_TRUE(std::isnan(table(npy(head("<f2", "(1, 1)"), data_of<std::uint16_t>({0x7E00})))[0]));
}

TEST(Npy, ReadsAllFormatVersionsAndSpellings) {
  const std::string data = data_of<double>({1, 2, 3, 4, 5, 6});
  const Values expected{1, 2, 3, 4, 5, 6};
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(table(npy(head("<f8", "(2, 3)"), data, version)), expected) << version;
  }
  EXPECT_EQ(table(npy("{\"shape\":(2L,3L),'fortran_order':False,'descr':\"<f8\"}", data)), expected);
  EXPECT_EQ(table(npy(head("=f8", "(2, 3)"), data)), expected);
}

TEST(Npy, OneDimensionIsNoTable) {
  EXPECT_EQ(
      npy_error(npy(head("<f8", "(3,)"), data_of<double>({1, 2, 3}))),
      "t.npy: the .npy array has one dimension of 3 numbers, a table has two: a row per problem, a "
      "column per step. One trace is one row: save it as array[None, :]; one number per problem: --scalar");
}

TEST(Npy, StreamsInBlocksWhateverTheOrder) {
  std::vector<double> c_order;
  std::vector<double> fortran;
  for (int i = 0; i < 11; ++i) {
    for (int j = 0; j < 4; ++j) c_order.push_back(10 * i + j);
  }
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 11; ++i) fortran.push_back(10 * i + j);
  }
  for (const std::size_t block : {1U, 70U, 1000U}) {
    const TableOptions options{.block_bytes = block};
    EXPECT_EQ(table(npy(head("<f8", "(11, 4)"), data_of(c_order)), options), c_order);
    EXPECT_EQ(table(npy(head("<f8", "(11, 4)", "True"), data_of(fortran)), options), c_order);
    EXPECT_EQ(table(npy(head(">f8", "(11, 4)", "True"), data_of(fortran, true)), options), c_order);
    EXPECT_EQ(table(gzip(npy(head("<f8", "(11, 4)"), data_of(c_order))), options), c_order);
    EXPECT_EQ(table(gzip(npy(head("<f8", "(11, 4)", "True"), data_of(fortran))), options), c_order);
  }
}

TEST(Npy, ThreeDimensionsAreGroupsOfRowsWhateverTheOrder) {
  // Element (group, tick, step) is 100 group + 10 tick + step.
  std::vector<double> c_order;
  std::vector<double> fortran;
  for (int g = 0; g < 5; ++g)
    for (int t = 0; t < 3; ++t)
      for (int k = 0; k < 4; ++k) c_order.push_back(100 * g + 10 * t + k);
  for (int k = 0; k < 4; ++k)
    for (int t = 0; t < 3; ++t)
      for (int g = 0; g < 5; ++g) fortran.push_back(100 * g + 10 * t + k);
  for (const std::size_t block : {1U, 70U, 1000U}) {
    const TableOptions options{.block_bytes = block};
    EXPECT_EQ(table(npy(head("<f8", "(5, 3, 4)"), data_of(c_order)), options), c_order);
    EXPECT_EQ(table(npy(head("<f8", "(5, 3, 4)", "True"), data_of(fortran)), options), c_order);
    EXPECT_EQ(table(gzip(npy(head(">f8", "(5, 3, 4)", "True"), data_of(fortran, true))), options), c_order);
  }
  const auto reader =
      TableReader::open(memory_bytes("t.npy", npy(head("<f8", "(5, 3, 4)"), data_of(c_order))));
  EXPECT_EQ(reader->rows_per_group(), 3);
  EXPECT_EQ(reader->rows_said(), 15);
  EXPECT_EQ(reader->columns(), 4);
  // One group, one tick, one step: orders are the same.
  for (const char* order : {"False", "True"})
    for (const char* shape : {"(1, 1, 3)", "(1, 3, 1)", "(3, 1, 1)"})
      EXPECT_EQ(table(npy(head("<f8", shape, order), data_of<double>({1, 2, 3}))), (Values{1, 2, 3}));
}

TEST(Npy, RefusesFortranOrderBeyondTheMemoryAllowed) {
  const std::string bytes = npy(head("<f8", "(2, 2)", "True"), data_of<double>({1, 2, 3, 4}));
  EXPECT_EQ(table(bytes, {.memory_bytes = 32}), (Values{1, 3, 2, 4}));
  EXPECT_EQ(
      npy_error(bytes, {.memory_bytes = 31}),
      "t.npy: the .npy array is in Fortran order and needs 32 bytes of memory, 31 are allowed; saved in C "
      "order (numpy.ascontiguousarray) it streams");
}

TEST(Npy, ComplainsAboutDamagedHeads) {
  const std::string good = head("<f8", "(1, 1)");
  const std::string data = data_of<double>({1});
  EXPECT_EQ(input_error([] { read_npy(*memory_bytes("t.npy", "a,b\n1,2\n")); }),
            "t.npy: is not a .npy file: it begins 'a,b\\n1,2\\n'");
  EXPECT_EQ(npy_error("\x93NUMPY"), "t.npy: the .npy header is truncated");
  EXPECT_EQ(npy_error(npy(good, data).substr(0, 30)), "t.npy: the .npy header is truncated");
  EXPECT_EQ(npy_error(npy(good, data, 4)), "t.npy: .npy format version 4 is unknown (1, 2 and 3 are known)");
  EXPECT_EQ(npy_error("\x93NUMPY\x02\0\xff\xff\xff\xff{"s),
            "t.npy: the .npy header claims 4294967295 bytes for itself, more than 1048576");
  for (const std::string bad :
       {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1)", "['descr']",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1;1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1)} x", "{'descr: 1}"}) {
    EXPECT_TRUE(npy_error(npy(bad, data)).starts_with("t.npy: the .npy header is damaged: '")) << bad;
  }
}

TEST(Npy, ComplainsAboutOtherTypes) {
  const auto type_error = [](const std::string& descr) {
    return npy_error(npy(head(descr, "(1, 1)"), std::string(16, '\0')));
  };
  EXPECT_EQ(type_error("|O"), "t.npy: the .npy holds Python objects ('|O'); a table needs numbers");
  EXPECT_EQ(type_error("<c16"), "t.npy: the .npy holds complex numbers ('<c16'); a table needs real ones");
  for (const char* descr : {"<f16", "<U4", "|S8", "<M8[ns]", "", "<", "f", "<f3", "<f88"}) {
    EXPECT_EQ(type_error(descr),
              fmt::format("t.npy: the .npy element type '{}' is not supported (float16 to float64 "
                          "and integers are)",
                          descr));
  }
  EXPECT_EQ(type_error("|b1"),
            "t.npy: the .npy holds booleans ('|b1'); true may mean solved or failed: write numbers, "
            "smaller is better");
  EXPECT_EQ(npy_error(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "")),
            "t.npy: the .npy holds records of several fields; a table needs plain numbers");
}

TEST(Npy, ComplainsAboutShapes) {
  const std::string data = data_of<double>({1});
  for (const auto& [shape, dimensions] : {std::pair("(1, 1, 1, 1)", 4), std::pair("()", 0)})
    EXPECT_EQ(npy_error(npy(head("<f8", shape), data)),
              fmt::format(
                  "t.npy: the .npy array has {} dimensions, a table has 2 (rows and columns), or 3 (groups, "
                  "ticks and steps)",
                  dimensions));
  EXPECT_EQ(npy_error(npy(head("<f8", "(2, 0, 3)"), "")),
            "t.npy: the .npy array of 2 x 0 x 3 elements is empty");
  EXPECT_EQ(npy_error(npy(head("<f8", "(1, 1)"), data), {.text_columns = {"flight"}}),
            "t.npy: a .npy array has no column 'flight': groups of its rows are a third dimension");
  EXPECT_EQ(npy_error(npy(head("<f8", "(0, 5)"), "")), "t.npy: the .npy array of 0 x 5 elements is empty");
  EXPECT_EQ(npy_error(npy(head("<f8", "(5, 0)"), "")), "t.npy: the .npy array of 5 x 0 elements is empty");
  EXPECT_EQ(npy_error(npy(head("<f8", "(1, 100)"), std::string(800, '\0')),
                      {.block_bytes = 1, .max_line_bytes = 799}),
            "t.npy: a row of 100 columns has 800 bytes, more than 799");
}

TEST(Npy, ComplainsAboutClaimsThatTheFileDoesNotKeep) {
  const std::string data = data_of<double>({1, 2, 3});
  const std::string too_short = npy(head("<f8", "(2, 2)"), data);
  const std::string too_long = npy(head("<f8", "(2, 1)"), data);
  EXPECT_EQ(npy_error(too_short),
            "t.npy: the .npy header claims 2 x 2 elements of '<f8' = 32 bytes, the file has 24");
  EXPECT_EQ(npy_error(gzip(too_short)),
            "t.npy: the .npy header claims 2 x 2 elements of '<f8' = 32 bytes, the file has 24");
  EXPECT_EQ(npy_error(gzip(npy(head("<f8", "(2, 2)", "True"), data))),
            "t.npy: the .npy header claims 2 x 2 elements of '<f8' = 32 bytes, the file has 24");
  EXPECT_EQ(npy_error(too_long),
            "t.npy: the .npy header claims 2 x 1 elements of '<f8' = 16 bytes, the file has 24");
  EXPECT_EQ(npy_error(gzip(too_long)),
            "t.npy: the .npy header claims 2 x 1 elements of '<f8' = 16 bytes, the file has more");
  EXPECT_EQ(
      npy_error(gzip(npy(head("<f8", "(1000000000, 1000000)"), data))),
      "t.npy: the .npy header claims 1000000000 x 1000000 elements of '<f8' = 8000000000000000 bytes, the "
      "file has 24");
}

TEST(Npy, ComplainsAboutSizesThatOverflow) {
  EXPECT_EQ(npy_error(npy(head("<f8", "(4294967296, 4294967296)"), "")),
            "t.npy: the .npy header claims 4294967296 x 4294967296 elements, more than any memory holds");
  EXPECT_EQ(npy_error(npy(head("|u1", "(4611686018427387904, 1)"), "")),
            "t.npy: the .npy header claims 4611686018427387904 x 1 elements, more than any memory holds");
  EXPECT_TRUE(npy_error(npy(head("<f8", "(99999999999999999999, 1)"), ""))
                  .starts_with("t.npy: the .npy header claims a size beyond 2^63: '"));
}

TEST(ReadNpy, ReadsArraysOfAnyRankInBothOrders) {
  Values c_order(24);
  for (std::size_t i = 0; i < c_order.size(); ++i) c_order[i] = static_cast<double>(i);
  Values fortran;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) fortran.push_back((i * 3 + j) * 4 + k);
    }
  }
  const auto c = memory_bytes("c", npy(head("<f8", "(2, 3, 4)"), data_of(c_order)));
  const auto f = memory_bytes("f", npy(head("<f8", "(2, 3, 4)", "True"), data_of(fortran)));
  for (ByteSource* source : {c.get(), f.get()}) {
    const NpyArray array = read_npy(*source);
    EXPECT_EQ(array.shape, (std::vector<Index>{2, 3, 4}));
    EXPECT_EQ(array.values, c_order);
  }
  EXPECT_EQ(read_npy(*memory_bytes("s", npy(head("<f8", "()"), data_of<double>({7})))).values, Values{7});
  EXPECT_TRUE(read_npy(*memory_bytes("e", npy(head("<f8", "(0, 4611686018427387904, 9)", "True"), "")))
                  .values.empty());
}

TEST(ReadNpy, RefusesMoreThanTheMemoryAllowed) {
  EXPECT_EQ(input_error([] {
              read_npy(*memory_bytes("t.npy", npy(head("<f4", "(1, 2)"), std::string(8, '\0'))), 23);
            }),
            "t.npy: 1 x 2 elements need 24 bytes of memory, 23 are allowed");
}

TEST(WriteNpy, IsReadBackUnchanged) {
  const TemporaryFolder folder;
  Eigen::MatrixXd matrix(2, 3);
  matrix << 1, 0.1, -infinity, 1e-308, -0.0, 5;
  write_npy(folder / "m.npy", matrix);
  const Eigen::MatrixXd back = read_npy_matrix(folder / "m.npy");
  ASSERT_EQ(back.rows(), 2);
  ASSERT_EQ(back.cols(), 3);
  EXPECT_EQ(back, matrix);
  EXPECT_TRUE(std::signbit(back(1, 1)));
}

TEST(WriteNpy, WritesTheBytesThatNumpyWrites) {
  Eigen::MatrixXd matrix(1, 2);
  matrix << 1, 2;
  std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
  dictionary.resize(117, ' ');
  EXPECT_EQ(npy_bytes(matrix), "\x93NUMPY\x01\0v\0"s + dictionary + "\n" + data_of<double>({1, 2}));
}

TEST(ReadNpyMatrix, TakesOneDimensionAsAColumnAndRefusesThree) {
  const TemporaryFolder folder;
  const Eigen::MatrixXd column =
      read_npy_matrix(folder.write("c.npy", npy(head("<i2", "(2,)"), data_of<std::int16_t>({3, -4}))));
  EXPECT_EQ(column.rows(), 2);
  EXPECT_EQ(column(1, 0), -4);
  const std::string cube = folder.write("cube.npy", npy(head("<f8", "(1, 1, 1)"), data_of<double>({1})));
  EXPECT_EQ(input_error([&] { read_npy_matrix(cube); }),
            cube + ": the .npy array has 3 dimensions, a matrix has 2");
}

}  // namespace
}  // namespace surefoot::io
