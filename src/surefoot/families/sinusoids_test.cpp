#include "surefoot/families/sinusoids.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot {
namespace {

using families::SampleSet;
using families::Sinusoids;

TEST(Sinusoids, DrawsThePapersTasks) {
  const Sinusoids family;
  const Sinusoids::Samples samples = family.draw(2, SampleSet::training, 20000);
  samples.tasks.validate();
  EXPECT_EQ(samples.tasks.train_inputs.cols(), 10);
  EXPECT_EQ(samples.tasks.test_inputs.cols(), 100);
  EXPECT_NEAR(samples.amplitude.mean(), 2.55, 0.04);
  EXPECT_GE(samples.amplitude.minCoeff(), 0.1);
  EXPECT_LE(samples.amplitude.maxCoeff(), 5.0);
  EXPECT_NEAR(samples.phase.mean(), std::numbers::pi / 2, 0.03);
  EXPECT_NEAR(samples.tasks.train_inputs.mean(), 0, 0.05);
  EXPECT_LE(samples.tasks.test_inputs.cwiseAbs().maxCoeff(), 5.0);
  EXPECT_NEAR(samples.tasks.test_outputs(7, 3),
              samples.amplitude[7] * std::sin(samples.tasks.test_inputs(7, 3) - samples.phase[7]), 1e-14);
}

TEST(Sinusoids, TaskDependsOnItsNumberAndSetOnly) {
  const Sinusoids family;
  const auto all = family.draw(1, SampleSet::training, 10);
  EXPECT_EQ(family.draw(1, SampleSet::training, 3, 5).tasks.test_outputs,
            all.tasks.test_outputs.middleRows(5, 3));
  EXPECT_NE(family.draw(1, SampleSet::hold_out, 10).tasks.test_outputs, all.tasks.test_outputs);
}

}  // namespace
}  // namespace surefoot
