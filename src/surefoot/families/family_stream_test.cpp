#include "surefoot/families/family_stream.hpp"

#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace surefoot::families {
namespace {

/// q has a row per instance as CSV, l as .npy, u one for all.
class StreamedFolder : public ::testing::Test {
 protected:
  static constexpr Index rows = 5000;
  StreamedFolder() : table_(rows, 2) {
    std::string q;
    for (Index i = 0; i < rows; ++i) {
      table_.row(i) << static_cast<double>(i), -0.5 * static_cast<double>(i);
      q += fmt::format("{},{}\n", table_(i, 0) + 1, table_(i, 1));
    }
    folder_.write("q.csv", q);
    folder_.write("l.npy", io::npy_bytes(table_));
    folder_.write("u.csv", "7,8\n");
  }
  problems::Table table_;
  test_support::TemporaryFolder folder_;
};

TEST_F(StreamedFolder, GivesTheRowsOfEveryBlock) {
  FamilyFiles files(folder_.path(), {});
  FamilyStream stream(files, {"q", "l", "u"});
  EXPECT_EQ(stream.instances(), rows);
  EXPECT_EQ(stream.columns(), 4U);
  ASSERT_EQ(files.files().size(), 3U);
  EXPECT_EQ(files.files()[1].sha256, io::sha256_hex(io::npy_bytes(table_)));
  EXPECT_EQ(stream.first().at("q")(0, 0), 1);
  for (const auto& [first, count] : {std::pair<Index, Index>{3, 1}, {100, 2000}, {2100, 7}, {4990, 10}}) {
    const FamilyStream::Vectors vectors = stream.next(first, count);
    EXPECT_EQ(vectors.at("l"), table_.middleRows(first, count));
    ASSERT_EQ(vectors.at("q").rows(), count);
    EXPECT_EQ(vectors.at("q")(count - 1, 0), static_cast<double>(first + count));
    ASSERT_EQ(vectors.at("u").rows(), 1);
    EXPECT_EQ(vectors.at("u")(0, 1), 8);
  }
  stream.require_unchanged();
}

TEST_F(StreamedFolder, EachRowHasTheNumbersThatVary) {
  FamilyFiles files(folder_.path(), {});
  const FamilyStream stream(files, {"q", "l", "u"});
  Index row = 0;
  stream.each_row([&](const double* numbers) {
    ASSERT_EQ(numbers[0], table_(row, 0) + 1);
    ASSERT_EQ(numbers[3], table_(row, 1));
    ++row;
  });
  EXPECT_EQ(row, rows);
}

TEST_F(StreamedFolder, RefusesOtherNumbersOfRows) {
  folder_.write("u.csv", "1,1\n2,2\n");
  FamilyFiles files(folder_.path(), {});
  EXPECT_TRUE(test::contains(test_support::input_error([&] {
                               FamilyStream(files, {"q", "l", "u"});
                             }),
                             "u.csv: u: has 2 rows, must have 5000 (instances) or 1"));
}

TEST_F(StreamedFolder, RefusesAFileThatChangesAndNamesIt) {
  FamilyFiles files(folder_.path(), {});
  FamilyStream stream(files, {"q", "l", "u"});
  (void)stream.next(0, 100);
  folder_.write("q.csv", "1,2\n");
  const std::string changed = "q.csv: changed while it was streamed";
  EXPECT_TRUE(test::contains(test_support::input_error([&] { (void)stream.next(100, 100); }), changed));
  EXPECT_TRUE(test::contains(test_support::input_error([&] { stream.require_unchanged(); }), changed));
}

// Ctrl-C is heard wherever files are read: looking at every row, reading a block, comparing digests.
TEST_F(StreamedFolder, CanBeStoppedWhileItReads) {
  FamilyFiles files(folder_.path(), {});
  bool stopped = false;
  FamilyStream stream(files, {"q", "l", "u"}, [&] {
    if (stopped) throw Interrupted();
  });
  stopped = true;
  Index looked_at = 0;
  EXPECT_THROW(stream.each_row([&](const double*) { ++looked_at; }), Interrupted);
  EXPECT_LT(looked_at, rows);
  EXPECT_THROW((void)stream.next(0, 10), Interrupted);
  EXPECT_THROW(stream.require_unchanged(), Interrupted);
  stopped = false;
  EXPECT_NO_THROW(stream.require_unchanged());
}

// Written over in place, with the size and the time that it had.
TEST_F(StreamedFolder, RefusesAFileThatChangesUnseen) {
  FamilyFiles files(folder_.path(), {});
  FamilyStream stream(files, {"q", "l", "u"});
  (void)stream.next(0, 100);
  const std::filesystem::path path = folder_ / "l.npy";
  const auto written = std::filesystem::last_write_time(path);
  problems::Table other = table_;
  other(4000, 0) += 1;
  folder_.write("l.npy", io::npy_bytes(other));
  std::filesystem::last_write_time(path, written);
  EXPECT_TRUE(test::contains(test_support::input_error([&] { stream.require_unchanged(); }),
                             "l.npy: changed while it was streamed: its SHA-256 was"));
}

}  // namespace
}  // namespace surefoot::families
