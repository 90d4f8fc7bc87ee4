#include "surefoot/experiments/verifying.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/result_folder.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::experiments {
namespace {

std::string certificate_text() {
  const std::vector<Index> steps{1, 2, 3, 4, 5};
  certify::Options options;
  options.tolerances = {1e-2, 1e-1};
  options = certify::resolved(options, {steps});
  runs::Tally tally(certify::tally_spec(options, steps));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    RandomStream random(1, "test of verifying", i);
    std::vector<double> run(steps.size());
    for (std::size_t k = 0; k < run.size(); ++k)
      run[k] = std::exp(random.normal() - 2 * static_cast<double>(k));
    tally.add_run(run.data());
  }
  certify::Variant variant;
  variant.name = "variant";
  variant.source = "table.csv";
  variant.sha256 = std::string(64, 'a');
  return certify::to_json(certify::certify(options, {{variant, tally}}));
}

VerifyOptions of_file(const std::filesystem::path& file) {
  VerifyOptions options;
  options.certificate = file.string();
  return options;
}

TEST(Verifying, ACertificateHoldsAndSaysWhatItRestsOn) {
  const test_support::TemporaryFolder folder;
  io::write_file_atomically(folder / "certificate.json", certificate_text());
  const VerifiedResult result = verify_result(of_file(folder / "certificate.json"));
  EXPECT_TRUE(result.holds) << result.text;
  EXPECT_NE(result.text.find("Checked:    arithmetic only"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("On trust:"), std::string::npos);
  EXPECT_TRUE(result.text.ends_with("\nVERIFIED\n")) << result.text;
}

TEST(Verifying, AChangedNumberIsADifference) {
  const test_support::TemporaryFolder folder;
  std::string text = certificate_text();
  const std::size_t samples = text.find("\"samples\": 1000");
  ASSERT_NE(samples, std::string::npos);
  text.replace(samples, 15, "\"samples\": 1001");
  io::write_file_atomically(folder / "certificate.json", text);
  const VerifiedResult result = verify_result(of_file(folder / "certificate.json"));
  EXPECT_FALSE(result.holds);
  EXPECT_NE(result.text.find("DIFFERS  "), std::string::npos) << result.text;
  EXPECT_TRUE(result.text.ends_with("\nNOT VERIFIED\n")) << result.text;
}

TEST(Verifying, WhatDoesNotFitTheCertificateIsRefused) {
  const test_support::TemporaryFolder folder;
  io::write_file_atomically(folder / "certificate.json", certificate_text());
  VerifyOptions options = of_file(folder / "certificate.json");
  options.data = {"a.csv", "b.csv"};
  EXPECT_INPUT_ERROR(verify_result(options), "--data: 2 files for 1 variants");
  options.data.clear();
  options.weights = {"a", "b", "c"};
  EXPECT_INPUT_ERROR(verify_result(options), "--weights: 3 files for 1 variants");
  EXPECT_INPUT_ERROR(verify_result(of_file(folder.path())), "has no manifest.json");
}

TEST(Verifying, AFolderIsItsOnlyCertificateOrEachOfThem) {
  const test_support::TemporaryFolder folder;
  const auto write = [&](const std::filesystem::path& inside, const std::vector<std::string>& names) {
    io::ResultFolder result(folder.path() / inside);
    for (const std::string& name : names) result.write(name, certificate_text());
    result.finish();
  };
  write("one", {"certificate.json"});
  const VerifiedResult one = verify_result(of_file(folder / "one"));
  EXPECT_TRUE(one.holds) << one.text;
  EXPECT_NE(one.text.find("1 file as listed in manifest.json"), std::string::npos) << one.text;

  write("two", {"a/certificate.json", "b/certificate.json"});
  const VerifiedResult two = verify_result(of_file(folder / "two"));
  EXPECT_TRUE(two.holds) << two.text;
  EXPECT_NE(two.text.find("2 files as listed, 2 certificates"), std::string::npos) << two.text;
  VerifyOptions recount = of_file(folder / "two");
  recount.data = {"a.csv"};
  EXPECT_INPUT_ERROR(verify_result(recount), "are for one certificate, not for a folder with 2 of them");

  std::filesystem::remove(folder.path() / "two" / "b" / "certificate.json");
  const VerifiedResult missing = verify_result(of_file(folder / "two"));
  EXPECT_FALSE(missing.holds);
  EXPECT_NE(missing.text.find("b/certificate.json"), std::string::npos) << missing.text;
}

TEST(Verifying, MemoryOfCertificatesIsRefusedWithNumbers) {
  const test_support::TemporaryFolder folder;
  io::write_file_atomically(folder / "large", std::string(std::size_t{1} << 20, ' '));
  EXPECT_NO_THROW(require_memory_of_certificates({folder / "large"}, 0));
  EXPECT_THROW(require_memory_of_certificates({folder / "large"}, 1 << 20), ResourceError);
  EXPECT_NO_THROW(require_memory_of_certificates({folder / "missing"}, std::uint64_t{1} << 40));
}

}  // namespace
}  // namespace surefoot::experiments
