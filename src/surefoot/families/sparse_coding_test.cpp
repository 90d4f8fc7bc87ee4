#include "surefoot/families/sparse_coding.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include "support/dense_codes.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::families {
namespace {

TEST(SparseCoding, DrawsHaveTheMomentsOfTheFamily) {
  const SparseCoding family(1, {.measurements = 64, .variables = 128});
  EXPECT_LT((family.dictionary().colwise().norm().array() - 1).abs().maxCoeff(), 1e-12);
  const Index count = 2000;
  const problems::SparseCodes samples = family.draw(SampleSet::training, count);
  samples.validate();
  const double entries = static_cast<double>(samples.value.size()) / static_cast<double>(count * 128);
  EXPECT_NEAR(entries, 0.1, 0.003);
  const Eigen::Map<const Eigen::ArrayXd> values(samples.value.data(),
                                                static_cast<Index>(samples.value.size()));
  EXPECT_NEAR(values.mean(), 0, 0.03);
  EXPECT_NEAR(values.square().mean(), 1, 0.04);
  // Noise: its size over the deviation of the code's entries.
  const problems::Table codes = test::dense_codes(samples);
  double ratio = 0;
  for (Index i = 0; i < count; ++i) {
    const auto z = codes.row(i).transpose();
    const double deviation = std::sqrt((z.array() - z.mean()).square().mean());
    const problems::Vector noise = samples.b.row(i).transpose() - family.dictionary() * z;
    ratio += noise.squaredNorm() / 64 / (deviation * deviation);
  }
  EXPECT_NEAR(std::sqrt(ratio / static_cast<double>(count)), 0.01, 2e-4);
}

TEST(SparseCoding, SampleDoesNotDependOnTheOthersOrOnThreads) {
  const SparseCoding family(1, {.measurements = 16, .variables = 32});
  set_threads(3);
  const problems::SparseCodes many = family.draw(SampleSet::training, 600);
  set_threads(1);
  const problems::SparseCodes few = family.draw(SampleSet::training, 5, 290);
  set_threads(0);
  EXPECT_EQ(many.b.middleRows(290, 5), few.b);
  EXPECT_EQ(test::dense_codes(many).middleRows(290, 5), test::dense_codes(few));
}

TEST(SparseCoding, SetsOfSamplesShareNothing) {
  const SparseCoding family(1, {.measurements = 16, .variables = 32});
  const problems::Table first = family.draw(SampleSet::training, 3).b;
  for (const SampleSet set : {SampleSet::validation, SampleSet::hold_out, SampleSet::test}) {
    EXPECT_GT((family.draw(set, 3).b - first).norm(), 1.0) << to_string(set);
  }
}

TEST(SparseCoding, FlippedSignsKeepTheNoise) {
  const SparseCoding family(1, {.measurements = 16, .variables = 200});
  const problems::SparseCodes original = family.draw(SampleSet::training, 400);
  problems::SparseCodes codes = original;
  flip_signs(original, 5, 3, codes);
  const problems::Matrix D = family.dictionary();
  const problems::Table before = original.b - test::dense_codes(original) * D.transpose();
  const problems::Table after = codes.b - test::dense_codes(codes) * D.transpose();
  EXPECT_LT((before - after).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_EQ(test::dense_codes(original).cwiseAbs(), test::dense_codes(codes).cwiseAbs());
  Index flipped = 0;
  for (std::size_t t = 0; t < codes.value.size(); ++t) flipped += codes.value[t] != original.value[t] ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(flipped) / static_cast<double>(codes.value.size()), 0.5, 0.03);
  problems::SparseCodes again = codes;  // from any state, round 3 is the same
  flip_signs(original, 5, 3, again);
  EXPECT_EQ(again.b, codes.b);
}

TEST(SparseCoding, NamesWhatIsWrong) {
  EXPECT_INPUT_ERROR(SparseCoding(1, {.measurements = 10, .variables = 5}),
                     "variables: 5 is below 10 (measurements)");
  EXPECT_INPUT_ERROR(SparseCoding(1, {.density = 0}), "density: 0 is outside (0, 1]");
  EXPECT_INPUT_ERROR(SparseCoding(1, {.noise = -1}), "noise: -1 is negative");
  EXPECT_INPUT_ERROR(SparseCoding(1).draw(SampleSet::test, 0), "count: 0 is below 1");
}

}  // namespace
}  // namespace surefoot::families
