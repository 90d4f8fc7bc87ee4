#include "surefoot/io/atomic_file.hpp"

#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"
#include "support/ordinary_user.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

namespace fs = std::filesystem;
using test_support::input_error;
using test_support::OrdinaryUser;
using test_support::TemporaryFolder;

constexpr std::size_t any_size = 1000;

TEST(WriteFileAtomically, CreatesAndReplacesAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "a.json", "old");
  EXPECT_EQ(read_file(folder / "a.json", any_size), "old");
  write_file_atomically(folder / "a.json", std::string_view("new\0bytes", 9));
  EXPECT_EQ(read_file(folder / "a.json", any_size), std::string("new\0bytes", 9));
  EXPECT_EQ(folder.entries(), 1);
}

TEST(WriteFileAtomically, WritesIntoTheCurrentFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("plain.txt", "x");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder / "plain.txt", any_size), "x");
}

TEST(WriteFileAtomically, FollowsASymbolicLink) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "old");
  fs::create_symlink("target", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(target, any_size), "new");
}

TEST(WriteFileAtomically, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  const auto attempt = [](const std::string& path) {
    return input_error([&] { write_file_atomically(path, "x"); });
  };
  EXPECT_EQ(attempt(folder / ""), fmt::format("'{}' is not a file name", folder / ""));
  EXPECT_EQ(attempt(folder.path().string()), folder.path().string() + ": is a directory, not a file");
  EXPECT_EQ(attempt("/dev/null"), "/dev/null: is not a regular file");
  EXPECT_EQ(attempt(folder / "none/a"), (folder / "none") + ": no such folder");
  folder.write("file", "");
  EXPECT_EQ(attempt(folder / "file/a"), (folder / "file") + ": is a file, not a folder");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(WriteFileAtomically, RemovesTheTemporaryFileWhenTheNameIsImpossible) {
  const TemporaryFolder folder;
  const std::string message =
      input_error([&] { write_file_atomically(folder / std::string(300, 'n'), "x"); });
  EXPECT_NE(message.find("cannot write: File name too long"), std::string::npos) << message;
  EXPECT_EQ(folder.entries(), 0);
}

TEST(WriteFilesAtomically, WritesAllOrNone) {
  const TemporaryFolder folder;
  EXPECT_INPUT_ERROR(write_files_atomically({{folder / "first", "1"}, {folder / "second/deep", "2"}}),
                     "second");
  EXPECT_EQ(folder.entries(), 0);
  write_files_atomically({{folder / "first", "1"}, {folder / "second", "2"}});
  EXPECT_EQ(read_file(folder / "first", 10), "1");
  EXPECT_EQ(read_file(folder / "second", 10), "2");
}

TEST(WriteFileAtomically, SaysThatAFolderIsNotWritable) {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(0555));
  const OrdinaryUser user;
  EXPECT_EQ(input_error([&] { write_file_atomically(folder / "a", "x"); }),
            folder.path().string() + ": cannot write in this folder: Permission denied");
  EXPECT_EQ(input_error([&] { prepare_output_folder(folder.path()); }),
            folder.path().string() + ": cannot write in this folder: Permission denied");
}

TEST(PrepareOutputFolder, CreatesParentsAndLeavesTheFolderEmpty) {
  const TemporaryFolder folder;
  prepare_output_folder(folder / "a/b/c");
  prepare_output_folder(folder / "a/b/c");
  EXPECT_TRUE(fs::is_empty(folder / "a/b/c"));
}

TEST(PrepareOutputFolder, RefusesAFileAndAnEmptyName) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  EXPECT_EQ(input_error([&] { prepare_output_folder(file); }), file + ": is a file, not a folder");
  EXPECT_EQ(input_error([&] { prepare_output_folder(file + "/below"); }),
            file + "/below: cannot create this folder: Not a directory");
  EXPECT_EQ(input_error([] { prepare_output_folder(""); }), "the name of the output folder is empty");
}

TEST(PrepareOutputFolder, SaysThatTheSystemForbidsIt) {
  EXPECT_NE(input_error([] { prepare_output_folder("/proc/surefoot"); }).find("/proc/surefoot: cannot"),
            std::string::npos);
}

TEST(ReadFile, RefusesMoreThanItsLimit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_EQ(input_error([&] { read_file(path, 4); }), path + ": is larger than 4 bytes");
  EXPECT_EQ(input_error([&] { read_file(folder / "none", 4); }),
            (folder / "none") + ": cannot open: No such file or directory");
}

}  // namespace
}  // namespace surefoot::io
