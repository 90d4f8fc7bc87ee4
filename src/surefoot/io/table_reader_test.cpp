#include "surefoot/io/table_reader.hpp"

#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace surefoot::io {
namespace {

using namespace std::string_literals;
using test_support::gzip;
using test_support::input_error;
using test_support::TemporaryFolder;

struct Table {
  std::vector<std::string> header;
  Index columns = 0;
  Index rows = 0;
  Index blocks = 0;
  std::vector<double> values;
  std::string sha256;
};

Table read_all(TableReader& reader) {
  Table table;
  table.header = reader.header();
  table.columns = reader.columns();
  RowBlock block;
  while (reader.next(block)) {
    EXPECT_EQ(block.first_row, table.rows);
    EXPECT_GT(block.rows, 0);
    EXPECT_EQ(block.values.size(), static_cast<std::size_t>(block.rows * table.columns));
    table.rows += block.rows;
    ++table.blocks;
    table.values.insert(table.values.end(), block.values.begin(), block.values.end());
  }
  EXPECT_FALSE(reader.next(block)) << "the end is final";
  table.sha256 = reader.sha256();
  EXPECT_EQ(reader.bytes_read(), reader.bytes_total());
  return table;
}

Table read_text(const std::string& text, const TableOptions& options = {}) {
  return read_all(*TableReader::open(memory_bytes("t.csv", text), options));
}

std::string csv_error(const std::string& text, const TableOptions& options = {}) {
  return input_error([&] { read_text(text, options); });
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST(Csv, ReadsATableWithoutHeader) {
  const Table table = read_text("1,2.5,-3e-4\n4,5,6\n");
  EXPECT_TRUE(table.header.empty());
  EXPECT_EQ(table.columns, 3);
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(table.values, (std::vector<double>{1, 2.5, -3e-4, 4, 5, 6}));
}

TEST(Csv, ReadsAHeader) {
  const Table table = read_text("\"0\",\"step \"\"1\"\", later\", zwölf ,\"\"\n1,2,3,4\n");
  EXPECT_EQ(table.header, (std::vector<std::string>{"0", "step \"1\", later", "zwölf", ""}));
  EXPECT_EQ(table.values, (std::vector<double>{1, 2, 3, 4}));
}

TEST(Csv, TakesALineWithNumbersAsAHeaderOnlyBeyondDoubt) {
  EXPECT_EQ(read_text("instance,5,10,1e3\n0,1,2,3\n").header,
            (std::vector<std::string>{"instance", "5", "10", "1e3"}));
  EXPECT_EQ(read_text(",0,1\n0,1,2\n").header, (std::vector<std::string>{"", "0", "1"}));
  for (const char* text : {"0.5,timeout,timeout", "0.5,0.25,failed", "failed,0.5,0.25", ",0.5,0.25", "a,10,5",
                           "a,1,b", "5,a,b", "1,k=2,k=3"}) {
    const std::string error = csv_error(std::string(text) + "\n1,2,3\n");
    EXPECT_EQ(error.rfind("t.csv:1: ", 0), 0U) << text << ": " << error;
    EXPECT_NE(error.find("neither a row of numbers nor a header"), std::string::npos)
        << text << ": " << error;
  }
  EXPECT_EQ(
      csv_error("timeout,timeout\n1,2\n"),
      "t.csv:1: 'timeout' stands twice: neither a row of numbers nor a header; write inf where a run failed");
}

TEST(Csv, AWordForAFailedRunIsNoHeader) {
  for (const char* word : {"timeout", "Failed", "\"TIMED OUT\"", "error", "diverged", "max_iter", "<null>"}) {
    const std::string error = csv_error(std::string(word) + "\n0.5\n0.25\n");
    EXPECT_EQ(error.rfind("t.csv:1: ", 0), 0U) << word << ": " << error;
    EXPECT_NE(error.find("says that a run failed: write inf"), std::string::npos) << word << ": " << error;
  }
  EXPECT_EQ(read_text("failures\n1\n2\n").header, std::vector<std::string>{"failures"});
}

TEST(Csv, DecimalCommasAreNoSeparators) {
  EXPECT_NE(csv_error("0,512345\n0,612345\n0,012345\n").find("t.csv:3: '0,012345' has decimal commas"),
            std::string::npos);
  EXPECT_NE(csv_error("x,y\n1,5,-0,05\n").find("t.csv:2: "), std::string::npos);
  EXPECT_EQ(read_text("007,1,0.5,0\n008,10,0.05,0\n").values,
            (std::vector<double>{7, 1, 0.5, 0, 8, 10, 0.05, 0}));
  EXPECT_EQ(read_text("001,002\n1,2\n").rows, 2);
}

TEST(Csv, DecimalCommasAreFoundWhereverBlocksAndPartsEnd) {
  const std::string text = "1,2\n3,4\n5,6\n1,5,-0,05\n1,2\nx\n";
  const std::string expected = csv_error(text);
  EXPECT_NE(expected.find("t.csv:4: '1,5,-0,05' has decimal commas"), std::string::npos) << expected;
  for (std::size_t block = 1; block < 40; ++block) {
    EXPECT_EQ(csv_error(text, {.block_bytes = block}), expected) << block;
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("t.csv", text);
  int refused = 0;
  for (int part = 0; part < 4; ++part) {
    const TableReader::Rows rows{0, static_cast<Index>(text.size())};
    const std::string error = input_error([&] { read_all(*TableReader::open_part(path, rows, part, 4)); });
    if (error.find("t.csv:4: '1,5,-0,05' has decimal commas") != std::string::npos) ++refused;
  }
  EXPECT_EQ(refused, 1);
}

TEST(Csv, TakesAFirstLineOfNumbersNanAndInfAsARow) {
  const Table table = read_text("1,nan,-inf\n2,NaN,Infinity\n");
  EXPECT_TRUE(table.header.empty());
  EXPECT_EQ(table.rows, 2);
  EXPECT_TRUE(std::isnan(table.values[1]) && std::isnan(table.values[4]));
  EXPECT_EQ(table.values[2], -infinity);
  EXPECT_EQ(table.values[5], infinity);
}

TEST(Csv, AcceptsCrLfByteOrderMarkBlankLinesAtTheEndAndSpaces) {
  const std::vector<double> expected{1, 2, 3, 4};
  EXPECT_EQ(read_text("\xEF\xBB\xBF"
                      "a,b\r\n1,2\r\n3,4\r\n\r\n  \n\n")
                .values,
            expected);
  EXPECT_EQ(read_text("\xEF\xBB\xBF"
                      "1,2\n3,4")
                .values,
            expected);
  EXPECT_EQ(read_text(" 1 , 2 \n3\t ,\t+4\t\n").values, expected);
}

TEST(Csv, DetectsTheSeparator) {
  const std::vector<double> expected{1, 2, 3, 4};
  EXPECT_EQ(read_text("1;2\n3;4\n").values, expected);
  EXPECT_EQ(read_text("1\t2\n 3 \t 4 \n").values, expected);
  EXPECT_EQ(read_text("\"a;b\",c\n1,2\n3,4\n").values, expected);
  EXPECT_EQ(read_text("1\n2\n3\n4\n").values, expected);
  EXPECT_EQ(read_text("a,b\tc\n1\t2\n3\t4\n").header, (std::vector<std::string>{"a,b", "c"}));
}

TEST(Csv, ReadsOutOfRangeNumbersAsInfinityAndZero) {
  EXPECT_EQ(read_text("1e400,-1e400,1e-400\n").values, (std::vector<double>{infinity, -infinity, 0}));
}

TEST(Csv, HashesTheFileAsItLies) {
  const std::string text = "a,b\n1,2\n";
  EXPECT_EQ(read_text(text).sha256, sha256_hex(text));
  EXPECT_EQ(read_text(gzip(text)).sha256, sha256_hex(gzip(text)));
  EXPECT_EQ(read_text(gzip(text)).values, read_text(text).values);
}

TEST(Csv, ComplainsAboutMissingContent) {
  EXPECT_EQ(csv_error(""), "t.csv: the file is empty");
  EXPECT_EQ(csv_error("\xEF\xBB\xBF"), "t.csv: the file is empty");
  EXPECT_EQ(csv_error(gzip("")), "t.csv: the file is empty");
  EXPECT_EQ(csv_error("\n"), "t.csv:1: the first line is blank");
  EXPECT_EQ(csv_error("a,b\n"), "t.csv: there is a header line but no row after it");
  EXPECT_EQ(csv_error("a,b\n\n\n"), "t.csv: there is a header line but no row after it");
}

TEST(Csv, ComplainsAboutRaggedRows) {
  EXPECT_EQ(csv_error("1,2,3\n4,5\n"), "t.csv:2: expected 3 cells, found 2: '4,5'");
  EXPECT_EQ(csv_error("1,2\n4,5,6"), "t.csv:2: expected 2 cells, found 3: '4,5,6'");
  EXPECT_EQ(csv_error("a,b\n1,2\n3,4,\n"), "t.csv:3: expected 2 cells, found 3: '3,4,'");
}

TEST(Csv, ComplainsAboutCells) {
  EXPECT_EQ(csv_error("1,2\n3,four\n"), "t.csv:2: column 2: 'four' is not a number");
  EXPECT_EQ(csv_error("1,2\n3, \n"), "t.csv:2: column 2: empty cell in '3, '");
  EXPECT_EQ(csv_error("1,,2\n"), "t.csv:1: column 2: empty cell in '1,,2'");
  EXPECT_EQ(csv_error("1,2\n3,4x\n"), "t.csv:2: column 2: '4x' is not a number");
  EXPECT_EQ(csv_error("0,5;0,7\n1,5;1,7\n"), "t.csv:2: column 1: '1,5' is not a number");
  EXPECT_EQ(csv_error("1,2\n" + std::string(50, 'w') + ",1\n"),
            "t.csv:2: column 1: '" + std::string(40, 'w') + "...' is not a number");
  EXPECT_EQ(
      csv_error("1 2\n3 4\n"),
      "t.csv:2: column 1: '3 4' is not a number (cells are separated by a comma, a semicolon or a tab)");
}

TEST(Csv, ComplainsAboutBlankLinesInside) {
  EXPECT_EQ(csv_error("1,2\n\n \n3,4\n"), "t.csv:2: blank line inside the table");
  EXPECT_EQ(csv_error("a,b\n\nword\n"), "t.csv:2: blank line inside the table");
}

TEST(Csv, ComplainsAboutBytesThatAreNoText) {
  EXPECT_EQ(csv_error("caf\xe9,b\n1,2\n"), "t.csv:1: text is not UTF-8: 'caf\\xe9,b'");
  EXPECT_EQ(csv_error("1,2\n3,\xff\n"), "t.csv:2: text is not UTF-8: '3,\\xff'");
  EXPECT_EQ(csv_error("1,2\n3,\0\n"s), "t.csv:2: NUL byte in '3,\\0': this is no text");
  EXPECT_EQ(csv_error("\xff\xfe"
                      "1\0,\0"s),
            "t.csv:1: NUL byte in '\\xff\\xfe1\\0,\\0': this is no text");
  EXPECT_EQ(csv_error("PK\x03\x04zipped"),
            "t.csv: is a zip archive (.npz, .xlsx); a table is CSV, gzip of it, or .npy");
}

TEST(Csv, ComplainsAboutLinesTooLong) {
  const TableOptions options{.block_bytes = 4, .max_line_bytes = 10};
  EXPECT_EQ(read_text("1234567,89\n1,2\n1234567,89", options).rows, 3);
  EXPECT_EQ(csv_error("1,2\n1234567,890\n", options), "t.csv:2: the line is longer than 10 bytes");
  EXPECT_EQ(csv_error("12345678901", options), "t.csv:1: the line is longer than 10 bytes");
  EXPECT_EQ(csv_error(std::string(100, ' '), {.block_bytes = 64, .max_line_bytes = 10}),
            "t.csv:1: the line is longer than 10 bytes");
}

TEST(Csv, LinesThatNeedMoreMemoryThanAllowedAreRefusedAsSuch) {
  TableOptions options;
  options.block_bytes = 16;
  options.memory_bytes = 3600;
  const std::string columns = std::string(100, '1') + ",2";
  const auto refused = [&](const std::string& text) {
    try {
      RowBlock block;
      const auto reader = TableReader::open(memory_bytes("t.csv", text), options);
      while (reader->next(block)) {
      }
    } catch (const ResourceError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(refused(std::string(90, '1') + ",2\n"), "read");
  EXPECT_EQ(refused(columns + "\n"),
            "t.csv:1: the line is longer than 100 bytes, for which --memory-limit leaves room");
  // A cell has at most 32 bytes, unless the first line or a block is longer.
  EXPECT_EQ(refused("1,2\n" + std::string(60, '1') + ",2\n"), "read");
  EXPECT_EQ(refused("1,2\n" + std::string(64, '1') + ",2\n"),
            "t.csv:2: the line is longer than 64 bytes, for which --memory-limit leaves room");
  options.memory_bytes = 0;
  EXPECT_EQ(refused("1,2\n" + std::string(64, '1') + ",2\n"), "read");
}

TEST(Csv, ComplainsAboutDamagedGzipAfterTheRowsBeforeIt) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919L % 10007) + "\n";
  const std::string packed = gzip(text);
  EXPECT_EQ(csv_error(packed.substr(0, packed.size() / 2), {.block_bytes = 32768}),
            "t.csv: gzip data is truncated");
}

TEST(Csv, OpensFilesAndSaysWhyItCannot) {
  const TemporaryFolder folder;
  EXPECT_EQ(TableReader::open(folder.write("a.csv", "1,2\n"))->columns(), 2);
  EXPECT_EQ(input_error([&] { TableReader::open(folder / "none.csv"); }),
            (folder / "none.csv") + ": cannot open: No such file or directory");
  EXPECT_EQ(input_error([&] { TableReader::open(folder.path().string()); }),
            folder.path().string() + ": is a directory, not a file");
}

TEST(Csv, ChecksItsOptions) {
  EXPECT_EQ(csv_error("1\n", {.block_bytes = 0}), "block_bytes: 0 is below 1");
  EXPECT_EQ(csv_error("1\n", {.max_line_bytes = 0}), "max_line_bytes: 0 is outside 1 .. 1099511627776");
}

TEST(Csv, FewBytesOfManyColumnsCostLittleMemory) {
  const std::string header(200000, ',');
  const std::string text = "x" + header + "\n" + std::string(100000, '\n') + "1\n";
  EXPECT_EQ(csv_error(text), "t.csv:2: blank line inside the table");
  EXPECT_EQ(csv_error("x" + header + "\n1\n1\n1\n"), "t.csv:2: expected 200001 cells, found 1: '1'");
}

/// A random table as text: numbers in several notations, line ends, spaces and separators.
std::string random_text(RandomStream& random) {
  const char separator = ",;\t"[random.below(3)];
  const std::uint64_t columns = 1 + random.below(6);
  const std::uint64_t rows = 1 + random.below(60);
  std::string text;
  if (random.below(2) == 0) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      text += fmt::format("{}k{}", j > 0 ? std::string(1, separator) : "", j);
    }
    text += "\n";
  }
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      if (j > 0) text += separator;
      text.append(random.below(2), ' ');
      const double value = std::ldexp(random.normal(), static_cast<int>(random.below(200)) - 100);
      switch (random.below(5)) {
        case 0:
          text += fmt::format("{:.17g}", value);
          break;
        case 1:
          text += fmt::format("{:+.3e}", value);
          break;
        case 2:
          text += fmt::format("{:.30f}", random.normal());
          break;
        case 3:
          text += random.below(2) == 0 ? "nan" : "-INF";
          break;
        default:
          text += std::to_string(random.below(1000));
      }
      text.append(random.below(2), ' ');
    }
    if (i + 1 < rows || random.below(2) == 0) text += random.below(2) == 0 ? "\r\n" : "\n";
  }
  return text;
}

/// The slow way: standard streams and strtod.
std::vector<double> slow_parse(const std::string& text) {
  std::vector<double> values;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.find('k') != std::string::npos) continue;
    const char* at = line.c_str();
    while (*at != '\0' && *at != '\r') {
      char* end = nullptr;
      values.push_back(std::strtod(at, &end));
      at = end + std::strspn(end, " ");
      if (*at != '\0' && *at != '\r') ++at;
    }
  }
  return values;
}

/// Blocks of a line or less, of several lines, and of the whole text; a team of two where chunks are cut.
struct Cut {
  std::size_t block_bytes;
  int team;
};
constexpr Cut cuts[] = {{1, 1}, {17, 1}, {300, 1}, {300, 2}, {1U << 20U, 2}};

TEST(Csv, EqualsASlowParserWhateverTheBlockSizeAndThreads) {
  for (std::uint64_t instance = 0; instance < 100; ++instance) {
    RandomStream random(1, "csv", instance);
    const std::string text = random_text(random);
    const std::vector<double> expected = slow_parse(text);
    for (const Cut& cut : cuts) {
      set_threads(cut.team);
      const Table table = read_text(text, {.block_bytes = cut.block_bytes});
      ASSERT_TRUE(same_bits(table.values, expected)) << text;
      ASSERT_EQ(table.sha256, sha256_hex(text));
    }
  }
  set_threads(0);
}

TEST(Csv, ErrorsDoNotDependOnBlockSizeAndThreads) {
  for (std::uint64_t instance = 0; instance < 100; ++instance) {
    RandomStream random(2, "csv", instance);
    std::string text = random_text(random);
    for (int fault = 0; fault < 3; ++fault) text[random.below(text.size())] = "x,\n\xff"[random.below(4)];
    const std::string expected = csv_error(text);
    for (const Cut& cut : cuts) {
      set_threads(cut.team);
      ASSERT_EQ(csv_error(text, {.block_bytes = cut.block_bytes}), expected) << text;
    }
  }
  set_threads(0);
}

TEST(TableParts, TogetherAreTheTable) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += fmt::format("{},0.{}{}\n", i, std::string(static_cast<std::size_t>(i % 7), '1'), i);
  const std::vector<std::string> texts = {
      lines,
      "k=1,k=2\n" + lines,
      "\xEF\xBB\xBFk=1,k=2\r\n" + lines,
      lines.substr(0, lines.size() - 1),
      lines + "\n\n",
      "1,2\n",
  };
  for (const std::string& text : texts) {
    const std::string path = folder.write("table.csv", text);
    const auto whole = TableReader::open(path);
    const std::vector<double> expected = read_all(*whole).values;
    ASSERT_TRUE(whole->rows_in_file().has_value());
    for (const int parts : {1, 2, 3, 7, 64, 1000}) {
      std::vector<double> values;
      for (int part = 0; part < parts; ++part) {
        const auto reader =
            TableReader::open_part(path, *whole->rows_in_file(), part, parts, {.block_bytes = 16});
        const std::vector<double> own = read_all(*reader).values;
        values.insert(values.end(), own.begin(), own.end());
      }
      EXPECT_EQ(values, expected) << parts << " parts of '" << text.substr(0, 20) << "'";
    }
  }
}

TEST(TableParts, NameTheLineOfTheWholeFile) {
  const TemporaryFolder folder;
  std::string text = "k=1,k=2\n";
  for (int i = 0; i < 50; ++i) text += i == 37 ? "1,x\n" : "1,2\n";
  const std::string path = folder.write("table.csv", text);
  const TableReader::Rows rows{8, static_cast<Index>(text.size())};
  int refused = 0;
  for (int part = 0; part < 4; ++part) {
    const std::string error = input_error([&] { read_all(*TableReader::open_part(path, rows, part, 4)); });
    if (error.find("table.csv:39: column 2: 'x' is not a number") != std::string::npos) ++refused;
  }
  EXPECT_EQ(refused, 1);
}

TEST(TableParts, AreNotMadeOfWhatCannotBeCut) {
  const TemporaryFolder folder;
  EXPECT_FALSE(TableReader::open(folder.write("a.csv.gz", gzip("1,2\n3,4\n")))->rows_in_file().has_value());
}

TEST(TableParts, AFileThatBecameShorterIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("table.csv", "1,2\n3,4\n");
  EXPECT_NE(input_error([&] {
              read_all(*TableReader::open_part(path, {0, 80}, 0, 1));
            }).find("shorter"),
            std::string::npos);
}

TEST(TableReader, PassingOverRowsLeavesItWhereReadingThemWould) {
  std::string text = "k=1,k=2,k=3\n";
  RandomStream random(5, "rows", 0);
  for (int row = 0; row < 200; ++row)
    text += fmt::format("{:.6g},{:.3g},{}\n", random.normal(), random.normal(), row);
  Eigen::MatrixXd matrix(123, 7);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal();
  for (const std::string& bytes : {text, gzip(text), npy_bytes(matrix), gzip(npy_bytes(matrix))}) {
    for (const std::size_t block_bytes : {1U, 300U, 2000U, 100000U}) {
      const TableOptions options{.block_bytes = block_bytes};
      const auto reader = TableReader::open(memory_bytes("t", bytes), options);
      RowBlock block;
      Index rows = 0;
      const Table whole = read_text(bytes, options);
      while (reader->next(block)) {
        rows += block.rows;
        if (random.below(block_bytes == 1 ? 60 : 4) > 0) continue;
        const auto skipping = TableReader::open(memory_bytes("t", bytes), options);
        RowBlock ignored;
        Index passed = 0;
        if (random.below(2) == 0 && skipping->next(ignored)) passed = ignored.rows;
        skipping->skip(rows - passed);
        ASSERT_EQ(skipping->bytes_read(), reader->bytes_read());
        ASSERT_EQ(skipping->sha256_so_far(), reader->sha256_so_far());
        std::vector<double> rest;
        while (skipping->next(ignored)) {
          EXPECT_GE(ignored.first_row, rows);
          rest.insert(rest.end(), ignored.values.begin(), ignored.values.end());
        }
        ASSERT_EQ(rest, std::vector<double>(whole.values.begin() + rows * whole.columns, whole.values.end()));
        EXPECT_EQ(skipping->sha256(), sha256_hex(bytes));
      }
      const auto short_one = TableReader::open(memory_bytes("t", bytes), options);
      EXPECT_NE(input_error([&] { short_one->skip(rows + 1); }).find("were there before"), std::string::npos);
    }
  }
}

struct LabelledTable {
  std::vector<std::string> header;
  std::vector<double> values;
  std::vector<std::string> texts;
};

LabelledTable read_texts(const std::string& text, const TableOptions& options) {
  const auto reader = TableReader::open(memory_bytes("t.csv", text), options);
  LabelledTable table{reader->header(), {}, {}};
  RowBlock block;
  while (reader->next(block)) {
    EXPECT_EQ(block.values.size(), static_cast<std::size_t>(block.rows * reader->columns()));
    EXPECT_EQ(block.texts.size(), static_cast<std::size_t>(block.rows) * options.text_columns.size());
    table.values.insert(table.values.end(), block.values.begin(), block.values.end());
    table.texts.insert(table.texts.end(), block.texts.begin(), block.texts.end());
  }
  return table;
}

TEST(TextColumns, StandBesideNumbersWhereverBlocksEnd) {
  const std::string text =
      "\xEF\xBB\xBFname,\"the x, in m\",y, day \r\n"
      "a,1,2,Mo\r\n"
      "\"b, c\", 3 ,4,\" Tu \"\r\n"
      "\"say \"\"no\"\"\",5,6, We\r\n"
      "\xC3\x9C 7,nan,-inf,007\r\n\r\n";
  for (const std::size_t block : {std::size_t{1}, std::size_t{9}, std::size_t{8} << 20U}) {
    const LabelledTable table = read_texts(text, {.block_bytes = block, .text_columns = {"day", "name"}});
    EXPECT_EQ(table.header, (std::vector<std::string>{"the x, in m", "y"}));
    EXPECT_EQ(table.texts,
              (std::vector<std::string>{"Mo", "a", " Tu ", "b, c", "We", "say \"no\"", "007", "\xC3\x9C 7"}));
    ASSERT_EQ(table.values.size(), 8U);
    EXPECT_EQ(std::vector<double>(table.values.begin(), table.values.begin() + 6),
              (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(std::isnan(table.values[6]));
    EXPECT_EQ(table.values[7], -infinity);
  }
}

TEST(TextColumns, AreNotTakenForDecimalCommas) {
  const LabelledTable table =
      read_texts("k=1,flight,k=2\n12,007,0.5\n3,012,0.25\n", {.text_columns = {"flight"}});
  EXPECT_EQ(table.values, (std::vector<double>{12, 0.5, 3, 0.25}));
  EXPECT_EQ(table.texts, (std::vector<std::string>{"007", "012"}));
}

TEST(TextColumns, ComplainWithLineAndColumnWhereverBlocksEnd) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"g,k=1\na,1\n,2\n", "t.csv:3: column 1 ('g'): empty cell in ',2'"},
      {"g,k=1\na,1\n \t,2\n", "t.csv:3: column 1 ('g'): empty cell"},
      {"g,k=1\na,1\n\"b,2\n", "t.csv:3: a quote is opened and not closed in '\"b,2'"},
      {"g,k=1\na,1\n\"b\"c,2\n", "t.csv:3: column 1 ('g'): '\"b\"c' goes on after its quotes"},
      {"g,k=1\na,1\nb,2,3\n", "t.csv:3: expected 2 cells, found 3"},
      {"g,k=1\na,1\nb,x\n", "t.csv:3: column 2: 'x' is not a number"},
      {"g,k=1\na,1\n\n\nb,1\n", "t.csv:3: blank line inside the table"},
      {"h,k=1\na,1\n", "t.csv:1: there is no column 'g'; the columns are 'h', 'k=1'"},
      {"g,g\na,1\n", "t.csv:1: two columns are called 'g'"},
      {"1,2\n3,4\n", "t.csv:1: there is no column 'g': the line has no labels ('1', '2')"},
      {"g\na\n", "t.csv:1: there is no column of numbers"}};
  for (const auto& [text, complaint] : bad) {
    std::string first;
    for (const std::size_t block : {std::size_t{8} << 20U, std::size_t{1}, std::size_t{7}}) {
      const TableOptions options{.block_bytes = block, .text_columns = {"g"}};
      const std::string said = input_error([&, &text = text] { read_texts(text, options); });
      EXPECT_NE(said.find(complaint), std::string::npos) << said << " for " << text;
      if (first.empty()) first = said;
      EXPECT_EQ(said, first);
    }
  }
}

}  // namespace
}  // namespace surefoot::io
