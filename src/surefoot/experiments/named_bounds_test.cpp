#include "surefoot/experiments/named_bounds.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/kl.hpp"

#include <gtest/gtest.h>

#include <set>

namespace surefoot::experiments {
namespace {

TEST(NamedBounds, ComputeWhatTheirNamesSay) {
  BoundArguments given;
  given.q = 0.1;
  given.c = 0.01;
  given.failures = 3;
  given.samples = 1000;
  given.quantile = 0.9;
  given.delta = 0.0081;
  std::set<std::string> seen;
  for (const NamedBound& bound : named_bounds()) {
    seen.insert(bound.name);
    const auto number = bound.compute(given);
    if (bound.name == "rank") {
      EXPECT_EQ(std::get<Index>(number), 923);
      continue;
    }
    const double value = std::get<double>(number);
    if (bound.name == "kl-inverse")
      EXPECT_EQ(value, bounds::kl_inverse(0.1, 0.01));
    else if (bound.name == "risk")
      EXPECT_EQ(value, bounds::clopper_pearson_upper(3, 1000, 0.0081));
    else if (bound.name == "anytime")
      EXPECT_GT(value, bounds::clopper_pearson_upper(3, 1000, 0.0081));
    else
      EXPECT_LT(value, 0.0081 / 40);
  }
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace
}  // namespace surefoot::experiments
