#include "surefoot/io/sha256.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

// FIPS 180-4 examples.
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheDataIsCut) {
  const std::string text(1000, 'q');
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += 37) {
    hash.update(text.data() + at, std::min<std::size_t>(37, text.size() - at));
  }
  Sha256 moved = std::move(hash);
  EXPECT_EQ(moved.hex(), sha256_hex(text));
}

}  // namespace
}  // namespace surefoot::io
