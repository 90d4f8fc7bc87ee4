#include "surefoot/experiments/files_by_digest.hpp"

#include "surefoot/io/sha256.hpp"

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::experiments {
namespace {

TEST(FilesByDigest, AreFoundWhateverTheyAreCalled) {
  const surefoot::test_support::TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.path() / "a" / "deep");
  fs::create_directories(folder.path() / "b");
  surefoot::testing::spill(folder.path() / "a" / "table.csv", "another");
  surefoot::testing::spill(folder.path() / "b" / "renamed.csv", "content");
  surefoot::testing::spill(folder.path() / "a" / "deep" / "below.csv", "too deep");
  const std::string digest = io::sha256_hex("content");
  EXPECT_EQ(file_by_digest({folder.path()}, "table.csv", digest), folder.path() / "b" / "renamed.csv");
  EXPECT_EQ(file_by_digest({folder.path() / "a", folder.path() / "b"}, "table.csv", digest),
            folder.path() / "b" / "renamed.csv");
  EXPECT_FALSE(file_by_digest({folder.path() / "a"}, "table.csv", digest));
  EXPECT_FALSE(file_by_digest({folder.path()}, "below.csv", io::sha256_hex("too deep")));
  EXPECT_TRUE(file_by_digest({folder.path() / "a"}, "below.csv", io::sha256_hex("too deep")));
}

}  // namespace
}  // namespace surefoot::experiments
