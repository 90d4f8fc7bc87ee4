#include "surefoot/io/checkpoint_file.hpp"

#include "surefoot/core/build.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/input_error.hpp"
#include "support/ordinary_user.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

using test_support::input_error;
using test_support::TemporaryFolder;

const Configuration example_work{{"work", "run qp"}, {"--iterations", "200"}, {"--metric", "residual"}};

std::string checkpoint_complaint(const std::string& bytes,
                                 const Configuration& configuration = example_work) {
  return input_error([&] { (void)checkpoint_state(bytes, "c", configuration); });
}

TEST(CheckpointFile, GivesBackTheStateOfTheSameConfiguration) {
  const std::string state("any bytes \0 at all", 18);
  EXPECT_EQ(checkpoint_state(checkpoint_bytes(example_work, state), "c", example_work), state);
  EXPECT_EQ(checkpoint_state(checkpoint_bytes({}, ""), "c", {}), "");
}

TEST(CheckpointFile, NamesWhatDiffersInAnotherConfiguration) {
  const std::string bytes = checkpoint_bytes(example_work, "state");
  Configuration other = example_work;
  other[1].second = "300";
  EXPECT_EQ(checkpoint_complaint(bytes, other),
            "c: belongs to another configuration: --iterations is '200' there and '300' here");
  other = example_work;
  other.pop_back();
  EXPECT_NE(checkpoint_complaint(bytes, other).find("other work"), std::string::npos);
  other = example_work;
  other[0].first = "verb";
  EXPECT_NE(checkpoint_complaint(bytes, other).find("other work"), std::string::npos);
}

TEST(CheckpointFile, RefusesEveryTruncationAndEveryFlippedBit) {
  const std::string bytes = checkpoint_bytes(example_work, "the state");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(checkpoint_complaint(bytes.substr(0, size)), "(no error)") << size;
  EXPECT_NE(checkpoint_complaint(bytes + "x"), "(no error)");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_NE(checkpoint_complaint(flipped), "(no error)") << at;
  }
}

TEST(CheckpointFile, RefusesOtherVersionsAndOtherFiles) {
  std::string bytes = checkpoint_bytes(example_work, "the state");
  bytes[bytes.find('1')] = '2';
  EXPECT_NE(checkpoint_complaint(bytes).find("another version"), std::string::npos);
  EXPECT_EQ(checkpoint_complaint("certificate"), "c: is not a checkpoint");
}

TEST(CheckpointFile, LengthsBeyondTheEndAreRefusedThoughTheChecksumFits) {
  std::string bytes = checkpoint_bytes(example_work, "the state");
  bytes.resize(bytes.size() - 64);
  const std::size_t head = std::string_view("surefoot checkpoint 1\n").size();
  const std::size_t length_of_state = bytes.size() - std::string_view("the state").size() - 8;
  for (const std::size_t at : {head, head + 8, length_of_state}) {
    std::string hostile = bytes;
    hostile.replace(at, 8, 8, '\x7f');
    hostile += sha256_hex(hostile);
    EXPECT_NE(checkpoint_complaint(hostile), "(no error)") << at;
  }
}

TEST(CheckpointFile, KeepsTheLastStateUntilItIsRemoved) {
  const TemporaryFolder folder;
  CheckpointFile file(folder / "c", example_work, 0);
  EXPECT_FALSE(file.read());
  file.write("one");
  file.write("two");
  EXPECT_EQ(CheckpointFile(folder / "c", example_work, 0).read(), "two");
  EXPECT_EQ(folder.entries(), 1);
  file.remove();
  EXPECT_EQ(folder.entries(), 0);
  file.remove();
}

TEST(CheckpointFile, OfAnotherBuildIsRefused) {
  const TemporaryFolder folder;
  const CheckpointFile file(folder / "c", example_work, 0);
  const auto write_as = [&](const std::string& build) {
    Configuration all = example_work;
    all.insert(all.begin(), {"the build of the program", build});
    write_file_atomically(folder / "c", checkpoint_bytes(all, "state"));
  };
  write_as(build_id());
  EXPECT_EQ(file.read(), "state");
  write_as("0123456789abcdef0123456789abcdef01234567");
  EXPECT_NE(input_error([&] { (void)file.read(); }).find("the build of the program is '0123456789abcdef"),
            std::string::npos);
}

TEST(CheckpointFile, WithoutAPathNothingIsKept) {
  CheckpointFile none;
  EXPECT_FALSE(none.kept());
  EXPECT_FALSE(none.due());
  none.write("state");
  EXPECT_FALSE(none.read());
}

TEST(CheckpointFile, IsDueAfterItsTimeAndWritesAtMostATwentiethOfIt) {
  const TemporaryFolder folder;
  double now = 1000;
  double write_time = 0;
  CheckpointFile file(folder / "c", example_work, 10, CheckpointFile::Writer::first,
                      [&] { return now += write_time; });
  now += 9.9;
  EXPECT_FALSE(file.due());
  now += 0.2;
  EXPECT_TRUE(file.due());
  file.write("state");
  EXPECT_FALSE(file.due());
  write_time = 3;
  file.write("state");
  write_time = 0;
  now += 59;
  EXPECT_FALSE(file.due());
  now += 2;
  EXPECT_TRUE(file.due());
}

TEST(CheckpointFile, AClockThatGoesBackDoesNotStopTheWriting) {
  const TemporaryFolder folder;
  double now = 1000;
  CheckpointFile file(folder / "c", example_work, 10, CheckpointFile::Writer::first, [&] { return now; });
  now = 20;
  EXPECT_TRUE(file.due());
  file.write("state");
  EXPECT_FALSE(file.due());
  now = 31;
  EXPECT_TRUE(file.due());
}

TEST(CheckpointFile, NamesAFolderThatCannotBeWritten) {
  const TemporaryFolder folder;
  CheckpointFile file(folder / "c", example_work, 0);
  file.write("before");
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read |
                                                  std::filesystem::perms::owner_exec |
                                                  std::filesystem::perms::others_exec);
  {
    const test_support::OrdinaryUser user;
    EXPECT_FALSE(file.write("after"));
    const std::string message = checkpoint_losses().last;
    EXPECT_NE(message.find("cannot write in this folder: Permission denied"), std::string::npos) << message;
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  EXPECT_EQ(file.read(), "before");
}

TEST(CheckpointFile, OneThatCannotBeWrittenIsWarnedOfAndEndsNothing) {
  const test_support::TemporaryFolder folder;
  const std::filesystem::path gone = folder.path() / "gone";
  std::filesystem::create_directory(gone);
  CheckpointFile file(gone / "c", {{"work", "test"}}, 0);
  EXPECT_TRUE(file.write("one"));
  std::filesystem::remove_all(gone);
  CheckpointLosses& losses = checkpoint_losses();
  const CheckpointLosses before = losses;
  int warnings = 0;
  losses.warn = [&](const std::string&) { ++warnings; };
  EXPECT_FALSE(file.write("two"));
  EXPECT_FALSE(file.write("three"));
  EXPECT_EQ(losses.count, before.count + 2);
  EXPECT_EQ(warnings, 1) << "once for a series";
  EXPECT_NE(losses.last.find("gone"), std::string::npos) << losses.last;
  std::filesystem::create_directory(gone);
  EXPECT_TRUE(file.write("four"));
  EXPECT_EQ(file.read(), "four");
  losses = before;
}

}  // namespace
}  // namespace surefoot::io
