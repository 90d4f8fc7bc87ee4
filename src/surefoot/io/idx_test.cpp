#include "surefoot/io/idx.hpp"

#include "surefoot/io/byte_source.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::io {
namespace {

using namespace std::string_literals;
using test_support::gzip;
using test_support::input_error;
using test_support::TemporaryFolder;

const std::string images = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x03"s + "\0\x01\x02\x80\xfe\xff"s;
const std::string labels = "\0\0\x08\x01\0\0\0\x02\x07\x09"s;

std::string idx_error(const std::string& bytes, std::size_t limit = 1000) {
  return input_error([&] { read_idx(*memory_bytes("i", bytes), limit); });
}

TEST(Idx, ReadsImagesAndLabelsPlainAndGzip) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder.write("a", images), folder.write("a.gz", gzip(images))}) {
    const IdxArray array = read_idx(path);
    EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 1, 3}));
    EXPECT_EQ(array.values, (std::vector<std::uint8_t>{0, 1, 2, 128, 254, 255}));
  }
  const IdxArray array = read_idx(*memory_bytes("i", labels));
  EXPECT_EQ(array.shape, std::vector<std::size_t>{2});
  EXPECT_EQ(array.values, (std::vector<std::uint8_t>{7, 9}));
}

TEST(Idx, ComplainsAboutTheHead) {
  EXPECT_EQ(idx_error(""), "i: the IDX header is truncated");
  EXPECT_EQ(idx_error(images.substr(0, 11)), "i: the IDX header is truncated");
  EXPECT_EQ(idx_error("a,b\n1,2\n"), "i: is not an IDX file: it begins 'a,b\\n'");
  EXPECT_EQ(idx_error("\0\0\x0d\x01\0\0\0\0"s), "i: the IDX element type 0x0d is not 0x08 (unsigned byte)");
  EXPECT_EQ(idx_error("\0\0\x08\0"s), "i: the IDX array has 0 dimensions, outside 1 .. 8");
  EXPECT_EQ(idx_error("\0\0\x08\x09"s), "i: the IDX array has 9 dimensions, outside 1 .. 8");
}

TEST(Idx, ComplainsAboutDataOfAnotherLength) {
  EXPECT_EQ(idx_error(images.substr(0, images.size() - 1)),
            "i: the IDX header claims 2 x 1 x 3 = 6 bytes, the file has 5");
  EXPECT_EQ(idx_error(images + "x"), "i: the IDX header claims 2 x 1 x 3 = 6 bytes, the file has more");
}

TEST(Idx, ComplainsAboutClaimsBeyondItsLimit) {
  EXPECT_EQ(idx_error(labels, 1), "i: the IDX header claims 2 bytes, more than 1");
  EXPECT_EQ(idx_error("\0\0\x08\x03"s + std::string(12, '\xff')),
            "i: the IDX header claims 4294967295 x 4294967295 x 4294967295 bytes, more than 1000");
}

}  // namespace
}  // namespace surefoot::io
