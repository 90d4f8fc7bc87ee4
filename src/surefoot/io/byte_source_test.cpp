#include "surefoot/io/byte_source.hpp"

#include "surefoot/io/sha256.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"
#include "support/ordinary_user.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace surefoot::io {
namespace {

using test_support::gzip;
using test_support::input_error;
using test_support::OrdinaryUser;
using test_support::TemporaryFolder;

std::string drain(ByteSource& source, std::size_t step = 7) {
  std::string all;
  std::vector<char> piece(step);
  while (const std::size_t got = source.read(piece.data(), step)) all.append(piece.data(), got);
  return all;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919 % 10007) + ",";
  return text;
}

TEST(ByteSource, GivesTheSameBytesFromFileMemoryAndGzip) {
  const TemporaryFolder folder;
  const std::string text = long_text();
  const auto file = open_bytes(folder.write("a", text));
  const auto memory = memory_bytes("m", text);
  const auto packed = open_bytes(folder.write("a.gz", gzip(text)));
  for (ByteSource* source : {file.get(), memory.get(), packed.get()}) {
    EXPECT_EQ(drain(*source, 4096 + 1), text) << source->name();
    EXPECT_TRUE(source->peek(1).empty());
  }
  EXPECT_EQ(file->sha256(), sha256_hex(text));
  EXPECT_EQ(memory->sha256(), sha256_hex(text));
  EXPECT_EQ(packed->sha256(), sha256_hex(gzip(text)));
  EXPECT_EQ(packed->bytes_total(), static_cast<Index>(gzip(text).size()));
  EXPECT_EQ(packed->bytes_read(), packed->bytes_total());
}

TEST(ByteSource, PeekConsumesNothing) {
  const auto source = memory_bytes("m", "abcdef");
  EXPECT_EQ(source->peek(2), "ab");
  EXPECT_EQ(source->peek(4), "abcd");
  EXPECT_EQ(source->peek(1), "a");
  EXPECT_EQ(source->remaining(), 6);
  std::string three(3, ' ');
  EXPECT_EQ(source->read(three.data(), 3), 3U);
  EXPECT_EQ(three, "abc");
  EXPECT_EQ(source->remaining(), 3);
  EXPECT_EQ(source->peek(99), "def");
  EXPECT_EQ(drain(*source), "def");
}

TEST(ByteSource, ReadsStandardInput) {
  const TemporaryFolder folder;
  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(folder.write("a", "from a pipe").c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  ::close(file);
  const auto source = open_bytes("-");
  EXPECT_EQ(source->name(), "standard input");
  EXPECT_EQ(source->remaining(), std::nullopt);
  EXPECT_EQ(drain(*source), "from a pipe");
  EXPECT_EQ(source->bytes_total(), 0);
  EXPECT_EQ(source->sha256(), sha256_hex("from a pipe"));
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

TEST(ByteSource, SaysWhyAFileCannotBeOpened) {
  const TemporaryFolder folder;
  EXPECT_EQ(input_error([&] { open_bytes(folder / "no\nsuch"); }),
            (folder / "no\\nsuch") + ": cannot open: No such file or directory");
  EXPECT_EQ(input_error([&] { open_bytes(folder.path().string()); }),
            folder.path().string() + ": is a directory, not a file");
  EXPECT_EQ(input_error([] { open_bytes(""); }), "a file name is empty");
  const std::string secret = folder.write("secret", "x");
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const OrdinaryUser user;
  EXPECT_EQ(input_error([&] { open_bytes(secret); }), secret + ": cannot open: Permission denied");
}

TEST(Gunzip, ReadsMembersBackToBack) {
  const auto source = gunzip_if_compressed(memory_bytes("m", gzip("one,") + gzip("") + gzip("two")));
  EXPECT_EQ(drain(*source), "one,two");
}

TEST(Gunzip, RefusesEveryTruncation) {
  const std::string packed = gzip("0.25,0.5,0.75,1,0.25,0.5,0.75,1\n");
  for (std::size_t length = 2; length < packed.size(); ++length) {
    const auto attempt = [&] { drain(*gunzip_if_compressed(memory_bytes("m", packed.substr(0, length)))); };
    EXPECT_EQ(input_error(attempt), "m: gzip data is truncated") << length;
  }
}

TEST(Gunzip, RefusesDamage) {
  const std::string packed = gzip("0.25,0.5,0.75,1,0.25,0.5,0.75,1\n");
  for (std::size_t at = 10; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const std::string message =
        input_error([&] { drain(*gunzip_if_compressed(memory_bytes("m", damaged))); });
    EXPECT_TRUE(message.starts_with("m: gzip data is ")) << at << ": " << message;
  }
  const auto garbage = [&] { drain(*gunzip_if_compressed(memory_bytes("m", packed + "garbage"))); };
  EXPECT_EQ(input_error(garbage), "m: gzip data is damaged: incorrect header check");
}

TEST(ReadGrowing, GivesWhatThereIsWithoutTrustingTheClaim) {
  const auto source = memory_bytes("m", std::string(1000, 'x'));
  std::vector<char> buffer;
  EXPECT_EQ(read_growing(*source, buffer, std::size_t{1} << 60U), 1000U);
  EXPECT_LT(buffer.size(), std::size_t{1} << 20U);
  const auto exact = memory_bytes("m", std::string(3000000, 'y'));
  EXPECT_EQ(read_growing(*exact, buffer, 3000000), 3000000U);
  EXPECT_EQ(buffer.size(), 3000000U);
  EXPECT_EQ(buffer.back(), 'y');
}

// At the end of a line nothing else would tell.
TEST(FileBytes, AFileThatBecomesShorterIsNoticed) {
  const test_support::TemporaryFolder folder;
  std::string lines;
  while (lines.size() < 600'000) lines += "1,2,3,4\n";
  const std::string path = folder.write("t.csv", lines);
  const auto source = open_raw_bytes(path);
  std::vector<char> front(300'000);
  ASSERT_EQ(source->read(front.data(), front.size()), front.size());
  std::filesystem::resize_file(path, 400'000);
  std::vector<char> rest(600'000);
  EXPECT_NE(test_support::input_error([&] {
              (void)source->read(rest.data(), rest.size());
            }).find("has become shorter while it was read: 400000 bytes of 600000"),
            std::string::npos);
}

}  // namespace
}  // namespace surefoot::io
