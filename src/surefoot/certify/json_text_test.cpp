#include "surefoot/certify/json_text.hpp"

#include "surefoot/core/random.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace surefoot::certify {
namespace {

using Json = nlohmann::ordered_json;

void expect_dumped(const JsonText& text, const Json& tree) {
  constexpr auto replace = Json::error_handler_t::replace;
  EXPECT_EQ(text.compact(), tree.dump(-1, ' ', false, replace));
  EXPECT_EQ(text.indented(), tree.dump(1, ' ', false, replace));
}

TEST(JsonText, IsWhatATreeOfTheSameValuesDumps) {
  JsonText text;
  text.object("count", Index{-7}, "place", std::size_t{3}, "rate", 0.1, "true", true, "name", "a name",  //
              "none", std::vector<double>{}, "numbers", std::vector<double>{1, 2.5e-9, 1e22},            //
              "steps", std::vector<Index>{1, 20}, "texts", std::vector<std::string>{"", "b"},            //
              "missing", std::optional<Index>(), "there", std::optional<Index>(9),                       //
              "inner", [](JsonText& inner) { inner.object("x", 1); });
  const Json tree{{"count", -7},
                  {"place", 3U},
                  {"rate", 0.1},
                  {"true", true},
                  {"name", "a name"},
                  {"none", Json::array()},
                  {"numbers", {1.0, 2.5e-9, 1e22}},
                  {"steps", {1, 20}},
                  {"texts", {"", "b"}},
                  {"missing", nullptr},
                  {"there", 9},
                  {"inner", {{"x", 1}}}};
  expect_dumped(text, tree);
}

TEST(JsonText, HasTheTreesDigitsForAnyNumber) {
  RandomStream random(1, "json text test", 0);
  std::vector<double> numbers{0.0,
                              -0.0,
                              1.0,
                              123456789.0,
                              1e15,
                              1e16,
                              9007199254740993.0,
                              5e-324,
                              -1.7976931348623157e308,
                              infinity,
                              -infinity,
                              std::numeric_limits<double>::quiet_NaN()};
  for (int i = 0; i < 20000; ++i) {
    numbers.push_back(random.uniform());
    // Any bits: exponents far apart, subnormal numbers, NaN with a payload.
    numbers.push_back(std::bit_cast<double>(random.bits()));
  }
  JsonText text;
  text.object("numbers", numbers);
  expect_dumped(text, Json{{"numbers", numbers}});
}

TEST(JsonText, EscapesAndRepairsTextsAsTheTreeDoes) {
  std::vector<std::string> texts{
      "quote \" and \\",        "tab\t line\n", "caf\xC3\xA9 \xF0\x9F\x98\x80", "broken \xC3", "\xFF\xFE",
      std::string("nul\0x", 5), "\x7F"};
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  JsonText text;
  text.object("texts", texts, "plain", texts.front());
  expect_dumped(text, Json{{"texts", texts}, {"plain", texts.front()}});
}

TEST(JsonText, WritesAnyJsonAgainWhereverItStands) {
  for (const char* run : {"null", "{}", "[]", "3", "[[],{},[{}]]",
                          R"({"b":[1,-2,3.50,1E3,18446744073709551615],"a\n":{"x":"\u00e4"}})"}) {
    JsonText text;
    text.object("run", [&](JsonText& part) { part.json(run); });
    expect_dumped(text, Json{{"run", Json::parse(run)}});
  }
}

}  // namespace
}  // namespace surefoot::certify
