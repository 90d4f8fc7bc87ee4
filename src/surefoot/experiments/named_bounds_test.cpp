#include "surefoot/experiments/named_bounds.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/kl.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
  given.risk = 0.01;
  given.shifts = {{bounds::Divergence::density_ratio, 3}};
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
    else if (bound.name == "shift")
      EXPECT_EQ(value, bounds::risk_under_shift(0.01, {bounds::Divergence::density_ratio, 3}));
    else
      EXPECT_LT(value, 0.0081 / 40);
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(NamedBounds, ShiftTakesOneDivergence) {
  const auto& all = named_bounds();
  const auto shift = std::ranges::find_if(all, [](const NamedBound& bound) { return bound.name == "shift"; });
  ASSERT_NE(shift, all.end());
  BoundArguments given;
  given.risk = 0.01;
  EXPECT_INPUT_ERROR(shift->compute(given), "give one of --kl, --tv, --chi2 and --ratio, not 0");
  given.shifts = {{bounds::Divergence::kl, 0.1}, {bounds::Divergence::total_variation, 0.1}};
  EXPECT_INPUT_ERROR(shift->compute(given), "give one of --kl, --tv, --chi2 and --ratio, not 2");
}

}  // namespace
}  // namespace surefoot::experiments
