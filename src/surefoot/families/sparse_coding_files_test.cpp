#include "surefoot/families/sparse_coding_files.hpp"

#include "surefoot/families/family_key.hpp"
#include "surefoot/io/npy.hpp"

#include "support/dense_codes.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <string>

namespace surefoot::families {
namespace {

constexpr SparseCodingOptions small_codes{.measurements = 6, .variables = 12};

/// Files of a small family: D of seed 3 with columns of other norms, ten codes and their measurements.
class OwnSparseCodes : public ::testing::Test {
 protected:
  OwnSparseCodes() : D_(SparseCoding(3, small_codes).dictionary()) {
    for (Index j = 0; j < D_.cols(); ++j) D_.col(j) *= 0.5 + static_cast<double>(j);
    codes_ = problems::Table::Zero(10, 12);
    for (Index i = 0; i < 10; ++i) {
      codes_(i, i) = 1 + static_cast<double>(i);
      codes_(i, (3 * i + 1) % 12) = -0.5;
    }
    measurements_ = codes_ * D_.transpose() + problems::Table::Constant(10, 6, 0.25);
    save("D.npy", D_);
    save("codes.npy", codes_);
    save("b.npy", measurements_);
  }
  void save(const std::string& name, const Eigen::MatrixXd& matrix) const {
    io::write_npy(folder_ / name, matrix);
  }
  [[nodiscard]] SparseCodingFiles files(const std::string& dictionary, const std::string& codes = "",
                                        const std::string& measurements = "") const {
    const auto at = [&](const std::string& name) { return name.empty() ? name : folder_ / name; };
    SparseCodingFiles own;
    own.dictionary.path = at(dictionary);
    own.codes.path = at(codes);
    own.measurement_file.path = at(measurements);
    return own;
  }
  void expect_refused(SparseCodingFiles own, const std::string& words,
                      SparseCodingOptions options = {}) const {
    EXPECT_INPUT_ERROR(OwnSparseCoding(0, options, own), words);
  }

  test_support::TemporaryFolder folder_;
  problems::Matrix D_;
  problems::Table codes_;
  problems::Table measurements_;
};

TEST_F(OwnSparseCodes, WithTheDrawnDictionaryAreTheDrawnOnes) {
  const SparseCoding drawn(3, small_codes);
  save("drawn.npy", drawn.dictionary());
  SparseCodingFiles own = files("drawn.npy");
  SparseCodingOptions options;
  const OwnSparseCoding law(3, options, own);
  EXPECT_EQ(options.measurements, 6);
  EXPECT_EQ(options.variables, 12);
  EXPECT_EQ(law.dictionary(), drawn.dictionary());
  for (const SampleSet set : {SampleSet::training, SampleSet::hold_out}) {
    const problems::SparseCodes ours = law.draw(set, 20, 5);
    const problems::SparseCodes theirs = drawn.draw(set, 20, 5);
    EXPECT_EQ(ours.b, theirs.b);
    EXPECT_EQ(ours.value, theirs.value);
    EXPECT_EQ(ours.entry, theirs.entry);
  }
  // What is known of the family is the digest, and not the path.
  const std::string key = key_of(options, own).text();
  EXPECT_NE(key.find("dictionary=" + own.dictionary.sha256), std::string::npos) << key;
  EXPECT_EQ(key.find("drawn.npy"), std::string::npos) << key;
  EXPECT_EQ(key_of(small_codes, {}).text(), key_of(small_codes).text());
}

TEST_F(OwnSparseCodes, AreRowsWhateverTheSet) {
  SparseCodingFiles own = files("D.npy", "codes.npy");
  SparseCodingOptions options;
  std::vector<FamilyFiles::Read> read;
  const OwnSparseCoding law(3, options, own, &read);
  EXPECT_EQ(read.size(), 2U);
  const problems::SparseCodes samples = law.draw(SampleSet::training, 6, 2);
  samples.validate();
  EXPECT_EQ(test::dense_codes(samples), codes_.middleRows(2, 6));
  EXPECT_EQ(samples.b, law.draw(SampleSet::hold_out, 6, 2).b);
  EXPECT_EQ(samples.b.row(3), law.draw(SampleSet::training, 1, 5).b.row(0));
  // Noise of 0.01 times the deviation of the code's entries.
  for (Index i = 0; i < 6; ++i) {
    const auto z = codes_.row(2 + i);
    const double deviation = std::sqrt((z.array() - z.mean()).square().mean());
    const double noise = (samples.b.row(i) - z * D_.transpose()).norm() / std::sqrt(6.0);
    EXPECT_GT(noise, 0.002 * deviation);
    EXPECT_LT(noise, 0.03 * deviation);
  }
  SparseCodingOptions again;
  SparseCodingFiles measured = files("D.npy", "codes.npy", "b.npy");
  EXPECT_EQ(OwnSparseCoding(0, again, measured).draw(SampleSet::test, 6, 2).b,
            measurements_.middleRows(2, 6));
  EXPECT_INPUT_ERROR((void)law.draw(SampleSet::training, 6, 5),
                     "codes.npy: has rows 0 .. 9; samples 5 .. 10");
}

TEST_F(OwnSparseCodes, OtherFilesOfTheSameNameAreRefused) {
  SparseCodingFiles own = files("D.npy", "codes.npy");
  SparseCodingOptions options;
  (void)OwnSparseCoding(3, options, own);
  codes_(4, 4) += 1;
  save("codes.npy", codes_);
  expect_refused(own, "codes.npy: is not the file that the weights were trained on", options);
}

TEST_F(OwnSparseCodes, BadFilesAreNamed) {
  const auto changed = [&](const std::string& name, Eigen::MatrixXd matrix,
                           const std::function<void(Eigen::MatrixXd&)>& change) {
    change(matrix);
    save(name, matrix);
  };
  expect_refused(files("none.npy"), "none.npy");
  save("long.npy", D_.transpose());
  expect_refused(files("long.npy"), "long.npy: is 12 x 6, must not have more rows than columns");
  changed("zero.npy", D_, [](Eigen::MatrixXd& D) { D.col(4).setZero(); });
  expect_refused(files("zero.npy"), "zero.npy: column 4 has norm 0, must be positive");
  changed("nan.npy", D_, [](Eigen::MatrixXd& D) { D(1, 2) = std::numeric_limits<double>::quiet_NaN(); });
  expect_refused(files("nan.npy"), "nan.npy: ");
  expect_refused(files("D.npy"), "measurements: 7, and ", {.measurements = 7});
  expect_refused(files("D.npy"), "variables: 13, and ", {.variables = 13});
  expect_refused(files("D.npy", "b.npy"), "b.npy: has 6 columns, must have 12");
  changed("empty.npy", codes_, [](Eigen::MatrixXd& codes) { codes.row(3).setZero(); });
  expect_refused(files("D.npy", "empty.npy"), "empty.npy: row 3 is 0; a code has an entry that is not");
  save("few.npy", measurements_.topRows(9));
  expect_refused(files("D.npy", "codes.npy", "few.npy"), "few.npy: has 9 rows, and ");
  expect_refused(files("D.npy", "codes.npy", "codes.npy"), "codes.npy: has 12 columns, must have 6");
  std::ofstream(folder_ / "D.csv") << "1,2\n3,4\n";
  expect_refused(files("D.csv"), "D.csv");
}

TEST_F(OwnSparseCodes, WhatDoesNotGoTogetherIsNamed) {
  const auto refused = [](const SparseCodingFiles& own, const std::string& words,
                          SparseCodingOptions options = {},
                          std::uint64_t seed = 0) { EXPECT_INPUT_ERROR(own.validate(options, seed), words); };
  refused(files("D.npy", "", "b.npy"), "measurement_file: needs codes too");
  refused(files("D.npy", "codes.npy"), "density: 0.2, and codes are given", {.density = 0.2});
  refused(files("D.npy", "codes.npy", "b.npy"), "noise: 0.5, and measurements are given", {.noise = 0.5});
  refused(files("D.npy", "codes.npy", "b.npy"), "seed: 4, and dictionary, codes and measurements", {}, 4);
  refused(files("D.npy", "D.npy"), "codes: its file is called D.npy, as that of dictionary");
  EXPECT_NO_THROW(files("D.npy", "codes.npy", "b.npy").validate({}, 0));
  EXPECT_NO_THROW(files("", "codes.npy").validate({.noise = 0.5}, 4));
}

}  // namespace
}  // namespace surefoot::families
