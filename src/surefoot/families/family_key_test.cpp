#include "surefoot/families/family_key.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::families {
namespace {

using test::contains;
using test_support::input_error;

TEST(FamilyKey, IsTheNameWithEveryConstant) {
  EXPECT_EQ(key_of(SparseCodingOptions{}).text(),
            "sparse-coding(density=0.1, measurements=256, noise=0.01, variables=512)");
  EXPECT_EQ(key_of(ModelPredictiveControlOptions{.pushed = {0, 2}}).constants.at("pushed"), "0;2");
}

TEST(FamilyKey, OfOtherConstantsIsAnother) {
  const std::string usual = key_of(SparseCodingOptions{}).text();
  SparseCodingOptions other;
  other.noise = std::nextafter(other.noise, 1.0);  // the last bit is enough
  EXPECT_NE(key_of(other).text(), usual);
  other = {};
  ++other.variables;
  EXPECT_NE(key_of(other).text(), usual);
  UnconstrainedQpOptions quadratic;
  const std::string before = key_of(quadratic).text();
  quadratic.stiff_factor *= 2;
  EXPECT_NE(key_of(quadratic).text(), before);
}

TEST(FamilyKey, IsReadAsItIsWritten) {
  for (const FamilyKey& key : {key_of(SparseCodingOptions{}), key_of(UnconstrainedQpOptions{}),
                               key_of(SinusoidsOptions{}), key_of(ModelPredictiveControlOptions{})}) {
    const FamilyKey read = parse_family_key(key.text());
    EXPECT_EQ(read.name, key.name);
    EXPECT_EQ(read.constants, key.constants);
    EXPECT_FALSE(key.constants.empty());
  }
}

TEST(FamilyKey, AnythingElseIsRefused) {
  for (const char* text : {"", "sparse-coding", "sparse coding()", "(a=1)", "f(a)", "f(a=1", "f(b=1, a=2)",
                           "f(a=1, a=1)", "f(a=1)x", "f(a=1,b=2)", "f(a=1, )"}) {
    EXPECT_TRUE(contains(input_error([&] { parse_family_key(text); }), text)) << text;
  }
}

}  // namespace
}  // namespace surefoot::families
