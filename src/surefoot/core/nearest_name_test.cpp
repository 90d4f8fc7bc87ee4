#include "surefoot/core/nearest_name.hpp"

#include <gtest/gtest.h>

namespace surefoot {
namespace {

const std::vector<std::string> verbs{"certify", "run", "verify", "compare", "calibrate"};

TEST(NearestName, IsWhatWasMeant) {
  EXPECT_EQ(nearest_name("certfy", verbs), "certify");
  EXPECT_EQ(nearest_name("cerfity", verbs), "certify");
  EXPECT_EQ(nearest_name("rnu", verbs), "run");
  EXPECT_EQ(nearest_name("verfy", verbs), "verify");
  EXPECT_EQ(nearest_name("compar", verbs), "compare");
  EXPECT_EQ(nearest_name("calibrat", verbs), "calibrate");
}

TEST(NearestName, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("x", verbs), "");
  EXPECT_EQ(nearest_name("", verbs), "");
  EXPECT_EQ(nearest_name("optimize", verbs), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'c'), verbs), "");
  EXPECT_EQ(nearest_name("certify", {}), "");
}

}  // namespace
}  // namespace surefoot
