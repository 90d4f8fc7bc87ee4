#include "surefoot/families/family_key.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::families {
namespace {

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

}  // namespace
}  // namespace surefoot::families
