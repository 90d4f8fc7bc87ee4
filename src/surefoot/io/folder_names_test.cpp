#include "surefoot/io/folder_names.hpp"

#include "support/input_error.hpp"
#include "support/ordinary_user.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

TEST(FolderNames, AreSortedAndWithoutTheFolderItself) {
  const test_support::TemporaryFolder folder;
  folder.write("b", "");
  folder.write(".hidden", "");
  std::filesystem::create_directory(folder / "a");
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{".hidden", "a", "b"}));
}

TEST(FolderNames, OfWhatIsNoFolderAreNone) {
  const test_support::TemporaryFolder folder;
  folder.write("file", "");
  EXPECT_TRUE(names_in(folder / "nowhere").empty());
  EXPECT_TRUE(names_in(folder / "file").empty());
}

TEST(FolderNames, OfAFolderThatCannotBeReadAreAnError) {
  const test_support::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_exec);
  const test_support::OrdinaryUser user;
  EXPECT_INPUT_ERROR((void)names_in(folder.path()), "cannot read this folder: Permission denied");
}

TEST(Inside, IsTheFolderItselfWhereNothingIsBelow) {
  EXPECT_EQ(inside("a/b", ""), "a/b");
  EXPECT_EQ(inside("a/b", "c/d"), "a/b/c/d");
  EXPECT_EQ(inside("", "c"), "c");
}

}  // namespace
}  // namespace surefoot::io
