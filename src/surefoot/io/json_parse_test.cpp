#include "surefoot/io/json_parse.hpp"

#include "support/input_error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace surefoot::io {
namespace {

using test_support::input_error;
using ParsedJson = nlohmann::ordered_json;

std::string refusal(const std::string& text, const JsonLimits& limits) {
  return input_error([&] { (void)parse_json("it", text, limits); });
}

TEST(ParseJson, GivesTheValuesInTheirOrder) {
  const std::string text = R"({"b":[1,-2,3.5,null,true,"x\"y",{}],"a":{"b":18446744073709551615}})";
  EXPECT_EQ(parse_json("it", text, {}).dump(), text);
}

TEST(ParseJson, RefusesWhatIsBeyondItsLimits) {
  EXPECT_EQ(refusal("[[[0]]]", {.deepest = 3}), "(no error)");
  EXPECT_EQ(refusal("[[[[0]]]]", {.deepest = 3}), "it: nested deeper than 3");
  EXPECT_EQ(refusal("[{\"a\":{\"b\":[]}}]", {.deepest = 3}), "it: nested deeper than 3");
  EXPECT_EQ(refusal(std::string(3'000'000, '['), {}), "it: nested deeper than 64");
  EXPECT_EQ(refusal(R"({"a":{"x":1,"y":2},"b":{"x":1}})", {.most_fields = 2}), "(no error)");
  EXPECT_EQ(refusal(R"([{"a":1,"b":2,"c":3}])", {.most_fields = 2}), "it: an object has more than 2 fields");
  EXPECT_EQ(refusal(R"({"a":{"x":1,"x":2}})", {}), "it: 'x' is given twice in one object");
  EXPECT_EQ(refusal(R"({"a":{"a":1}})", {}), "(no error)");
}

TEST(ParseJson, LeavesItToTheLibraryToSayWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1}x", "[1e999]", "\"\xff\""})
    EXPECT_THROW((void)parse_json("it", text, {}), ParsedJson::exception) << text;
}

TEST(ParseJson, TextsAreComparedAsTheyAre) {
  const auto json = parse_json("it", R"({"a": "x", "b": 1})", {});
  EXPECT_TRUE(is_text(json.at("a"), "x"));
  EXPECT_FALSE(is_text(json.at("a"), "y"));
  EXPECT_FALSE(is_text(json.at("b"), "1"));
}

// The library's callback takes minutes for this.
TEST(ParseJson, TakesALongListOfObjects) {
  constexpr int count = 400'000;
  std::string text = "[{\"a\":{}}";
  for (int i = 1; i < count; ++i) text += ",{\"a\":{}}";
  EXPECT_EQ(parse_json("it", text + "]", {}).size(), static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace surefoot::io
