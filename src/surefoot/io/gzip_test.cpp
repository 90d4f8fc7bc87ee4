#include "surefoot/io/gzip.hpp"

#include "surefoot/io/byte_source.hpp"

#include <gtest/gtest.h>

#include <string>

namespace surefoot::io {
namespace {

TEST(Gzip, IsReadBackByTheReader) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += std::to_string(i * i % 977) + (i % 7 == 0 ? "\n" : " ");
  for (const std::string& each : {std::string(), std::string("one line\n"), text}) {
    SCOPED_TRACE(each.size());
    const std::string packed = gzipped(each);
    EXPECT_EQ(packed, gzipped(each));
    if (each.size() > 1000) {
      EXPECT_LT(packed.size(), each.size() / 2);
    }
    const auto source = gunzip_if_compressed(memory_bytes("m", packed));
    std::string unpacked(each.size() + 1, '\0');
    unpacked.resize(source->read(unpacked.data(), unpacked.size()));
    EXPECT_EQ(unpacked, each);
  }
}

TEST(Gzip, Base64IsThatOfTheStandard) {
  // RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string_view("\xff\xfe\x00", 3)), "//4A");
}

}  // namespace
}  // namespace surefoot::io
