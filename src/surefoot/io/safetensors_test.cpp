#include "surefoot/io/safetensors.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace surefoot::io {
namespace {

using test_support::input_error;
using test_support::TemporaryFolder;

Safetensors example() {
  Safetensors content;
  content.tensors.push_back({"mean.W", {2, 3}, {1, -2, 3, 0.5, 1e-300, -0.0}});
  content.tensors.push_back({"empty", {0, 4}, {}});
  content.tensors.push_back({"scalar \"q\"", {}, {42}});
  content.metadata = {{"model", "alista"}, {"note", "line\nbreak, \u00e9"}};
  return content;
}

std::string file_of(std::string header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string error_of(const std::string& bytes, const SafetensorsLimits& limits = {}) {
  return input_error([&] { read_safetensors(*memory_bytes("w.safetensors", bytes), limits); });
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const Safetensors content = example();
  const Safetensors read = read_safetensors(folder.write("w", to_safetensors(content)));
  ASSERT_EQ(read.tensors.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor* tensor = read.find(content.tensors[i].name);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->shape, content.tensors[i].shape);
    EXPECT_EQ(tensor->values, content.tensors[i].values);
  }
  EXPECT_TRUE(std::signbit(read.find("mean.W")->values[5]));
  EXPECT_EQ(read.metadata, content.metadata);
  EXPECT_EQ(read.find("mean"), nullptr);
}

TEST(Safetensors, NumbersBeginAtAMultipleOfTheirSize) {
  const std::string bytes = to_safetensors(example());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(bytes[8], '{');
  EXPECT_EQ(bytes.size(), 8 + length + 7 * 8);
}

TEST(Safetensors, TensorsMayBeDescribedInAnyOrder) {
  const std::string header =
      R"({"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})";
  const Safetensors read = read_safetensors(*memory_bytes("w", file_of(header, std::string(16, '\0'))));
  EXPECT_EQ(read.tensors[0].name, "a");
  EXPECT_EQ(read.tensors[1].name, "b");
}

TEST(Safetensors, EveryShorterFileIsRefused) {
  const std::string bytes = to_safetensors(example());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(error_of(bytes.substr(0, length)), "(no error)") << length;
  EXPECT_EQ(error_of(bytes.substr(0, 3)), "w.safetensors: ends before the length of its header");
  EXPECT_EQ(error_of(bytes.substr(0, 12)),
            "w.safetensors: ends inside its header, at byte 4 of " + std::to_string(bytes.size() - 8 - 56));
  EXPECT_EQ(error_of(bytes.substr(0, bytes.size() - 1)),
            "w.safetensors: holds 55 bytes of data, its header needs 56");
  EXPECT_EQ(error_of(bytes + "x"), "w.safetensors: goes on after the data that its header names");
}

TEST(Safetensors, ClaimsOfSizeCostNothing) {
  EXPECT_EQ(error_of(std::string(8, '\x7f') + "{}"),
            "w.safetensors: claims a header of 9187201950435737471 bytes, at most 1048576 are read");
  const std::string huge =
      R"({"a":{"dtype":"F64","shape":[1000000,1000000],"data_offsets":[0,8000000000000]}})";
  EXPECT_EQ(error_of(file_of(huge, "12345678")),
            "w.safetensors: claims 8000000000000 bytes of data, at most 4294967296 are read");
  const std::string large = R"({"a":{"dtype":"F64","shape":[100000],"data_offsets":[0,800000]}})";
  EXPECT_EQ(error_of(file_of(large, "12345678")),
            "w.safetensors: holds 8 bytes of data, its header needs 800000");
  const std::string overflow =
      R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})";
  EXPECT_EQ(error_of(file_of(overflow, "")),
            "w.safetensors: tensor 'a': data_offsets 0 .. 0 do not fit its shape");
}

TEST(Safetensors, HeadersThatContradictThemselvesAreRefused) {
  const std::string data(16, '\0');
  const auto error = [&](const std::string& header) { return error_of(file_of(header, data)); };
  EXPECT_EQ(error("[]"), "w.safetensors: the header is not a JSON object");
  EXPECT_EQ(error("{"), "w.safetensors: the header is not JSON at its byte 2");
  EXPECT_EQ(error(std::string(200, '[')), "w.safetensors: the header is nested deeper than 8");
  EXPECT_EQ(error(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})"),
            "w.safetensors: tensor 'a' has dtype \"F32\", only F64 is read");
  EXPECT_EQ(
      error(
          R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})"),
      "w.safetensors: the header gives 'a' twice");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16],"dtype":"F64"}})"),
            "w.safetensors: the header gives 'dtype' twice");
  EXPECT_EQ(
      error(
          R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"b":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}})"),
      "w.safetensors: data of tensor 'b' begin at 8, inside the data before it, which end at 16");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}})"),
            "w.safetensors: data of tensor 'a' begin at 8, after a gap from 0");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[16,0]}})"),
            "w.safetensors: tensor 'a': data_offsets 16 .. 0 do not fit its shape");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[3],"data_offsets":[0,16]}})"),
            "w.safetensors: tensor 'a': data_offsets 0 .. 16 do not fit its shape");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[-2],"data_offsets":[0,16]}})"),
            "w.safetensors: tensor 'a': entries of shape are not whole numbers in range");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16.5]}})"),
            "w.safetensors: tensor 'a': data_offsets are not whole numbers in range");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[2]}})"), "w.safetensors: tensor 'a' has no data_offsets");
  EXPECT_EQ(error(R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16],"x":1}})"),
            "w.safetensors: tensor 'a' has an unknown field 'x'");
  EXPECT_EQ(error(R"({"__metadata__":{"n":1}})"), "w.safetensors: __metadata__ 'n' is not a text");
  EXPECT_EQ(error(R"({"a":1e999})"), "w.safetensors: the header holds a number out of range");
}

TEST(Safetensors, ContentThatCannotBeWrittenIsRefused) {
  Safetensors twice = example();
  twice.tensors.push_back(twice.tensors[0]);
  EXPECT_NE(input_error([&] { to_safetensors(twice); }), "(no error)");
  Safetensors shape = example();
  shape.tensors[0].shape = {7};
  EXPECT_NE(input_error([&] { to_safetensors(shape); }), "(no error)");
  Safetensors bytes = example();
  bytes.metadata["bad"] = "\xff";
  EXPECT_EQ(input_error([&] { to_safetensors(bytes); }),
            "safetensors: a name or a text of the metadata is not UTF-8");
}

}  // namespace
}  // namespace surefoot::io
