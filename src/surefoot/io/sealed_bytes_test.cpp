#include "surefoot/io/sealed_bytes.hpp"

#include "surefoot/core/bytes.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

TEST(SealedBytes, GiveTheirBodyBack) {
  const std::string bytes = sealed_bytes("format 1\n", [](ByteWriter& to) { to.bytes("the body"); });
  EXPECT_EQ(sealed_body(bytes, "format 1\n", "x"), "the body");
}

TEST(SealedBytes, RefuseEveryChangedByte) {
  const std::string bytes = sealed_bytes("format 1\n", [](ByteWriter& to) { to.bytes("the body"); });
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_TRUE(test::contains(
        test_support::input_error([&] { (void)sealed_body(changed, "format 1\n", "x"); }), "x: is damaged"))
        << i;
    EXPECT_TRUE(test::contains(
        test_support::input_error([&] { (void)sealed_body(bytes.substr(0, i), "format 1\n", "x"); }),
        "x: is damaged"))
        << i;
  }
}

}  // namespace
}  // namespace surefoot::io
