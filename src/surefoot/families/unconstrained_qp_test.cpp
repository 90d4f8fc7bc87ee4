#include "surefoot/families/unconstrained_qp.hpp"

#include <gtest/gtest.h>

namespace surefoot {
namespace {

using families::SampleSet;
using families::UnconstrainedQp;

TEST(UnconstrainedQp, DrawsThePapersBox) {
  const UnconstrainedQp family;
  const problems::Table c = family.draw(3, SampleSet::training, 20000);
  EXPECT_EQ(c.cols(), 20);
  for (Index j = 0; j < 20; ++j) {
    const double range = j < 10 ? 1e5 : 10;
    EXPECT_LE(c.col(j).cwiseAbs().maxCoeff(), range);
    EXPECT_NEAR(c.col(j).mean() / range, 0, 0.02);
    EXPECT_NEAR(c.col(j).squaredNorm() / 20000 / (range * range), 1.0 / 3, 0.02);
  }
  EXPECT_LE(family.solutions(c).rowwise().norm().maxCoeff(), family.largest_solution());
  EXPECT_NEAR(family.largest_solution(), std::sqrt(10 * 1e6 + 10 * 100.0), 1e-9);
}

TEST(UnconstrainedQp, SampleDependsOnItsNumberAndSetOnly) {
  const UnconstrainedQp family;
  const problems::Table all = family.draw(1, SampleSet::training, 10);
  EXPECT_EQ(family.draw(1, SampleSet::training, 3, 5), all.middleRows(5, 3));
  EXPECT_NE(family.draw(1, SampleSet::hold_out, 10), all);
  EXPECT_NE(family.draw(1, SampleSet::base, 10), all);
}

TEST(UnconstrainedQp, SolutionsHaveNoGradient) {
  const UnconstrainedQp family;
  const problems::Quadratic problem = family.problem(family.draw(1, SampleSet::test, 5));
  const problems::Table z = family.solutions(problem.c);
  EXPECT_LT((z * problem.P + problem.c).cwiseAbs().maxCoeff(), 1e-9);
}

}  // namespace
}  // namespace surefoot
