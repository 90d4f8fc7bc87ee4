// Formats of certificates: format 1 stays readable for ever, format 2 refuses what it cannot check.
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/parts.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "support/input_error.hpp"
#include "support/tampering.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace surefoot::certify {
namespace {

namespace fs = std::filesystem;
using FormatJson = nlohmann::ordered_json;
using test::resealed;

std::vector<fs::path> certificates_of_format_1() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(SUREFOOT_SOURCE_DIR "/tests/certificates/v1"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  return files;
}

std::string text_of(const fs::path& file) {
  return io::read_file(file, std::size_t{1} << 24);
}

TEST(Format1, EveryCertificateVerifiesForEver) {
  const std::vector<fs::path> files = certificates_of_format_1();
  ASSERT_EQ(files.size(), 14U);
  for (const fs::path& file : files) {
    const ParsedCertificate parsed = parse_certificate(text_of(file));
    EXPECT_EQ(parsed.certificate.format, 1) << file;
    const Verification verification = verify(parsed);
    EXPECT_TRUE(verification.holds()) << file << ": " << verification.findings.front();
    EXPECT_EQ(verification.claims, verification.claims_that_hold) << file;
    EXPECT_GT(verification.claims, 0) << file;
  }
}

TEST(Format1, IsWrittenAgainByteForByte) {
  for (const fs::path& file : certificates_of_format_1()) {
    const std::string text = text_of(file);
    EXPECT_TRUE(to_json(parse_certificate(text).certificate) == text) << file;
  }
}

TEST(Format1, IsStillCheckedAgainstAForger) {
  const FormatJson body = FormatJson::parse(text_of(SUREFOOT_SOURCE_DIR "/tests/certificates/v1/table.json"));
  const auto refused = [&](const char* pointer, const FormatJson& value) {
    FormatJson changed = body;
    changed.at(FormatJson::json_pointer(pointer)) = value;
    return !verify(parse_certificate(resealed(changed))).holds();
  };
  // Another version does not make its words optional.
  FormatJson silent = body;
  silent["surefoot_version"] = "9.9.9";
  silent["assumptions"] = FormatJson::array();
  EXPECT_FALSE(verify(parse_certificate(resealed(silent))).holds());
  EXPECT_TRUE(refused("/variants/0/last_step", 7));  // claims speak of step 8
  EXPECT_TRUE(refused("/variants/0/first_step", -1));
  EXPECT_TRUE(refused("/variants/0/columns", 60));
}

Certificate small_certificate(const std::vector<Index>& steps) {
  Options options;
  options.tolerances = {1e-2, 1e-1};
  options.quantiles = {0.5};
  options = resolved(options, {steps});
  runs::Tally tally(tally_spec(options, steps));
  std::vector<double> run(steps.size());
  for (int i = 0; i < 60; ++i) {
    for (std::size_t k = 0; k < run.size(); ++k)
      run[k] = (1.0 + 0.1 * i) * std::pow(0.4, static_cast<double>(steps[k]));
    tally.add_run(run.data());
  }
  Variant variant;
  variant.name = "table";
  variant.source = "table.csv";
  return certify(options, {{variant, tally}});
}

TEST(Format2, ListsItsPartsAndRefusesUnknownOnesByName) {
  const FormatJson body = FormatJson::parse(to_json(small_certificate({1, 2, 5})));
  EXPECT_EQ(body.at("format_version"), 2);
  const std::set<std::string> parts = body.at("parts");
  EXPECT_TRUE(parts.contains("quantile") && parts.contains("recorded_steps"));
  EXPECT_FALSE(parts.contains("pac_bayes"));
  FormatJson later = body;
  later["parts"].push_back("time_travel");
  later["time_travel"] = {{"years", 3}};
  const std::string message = test_support::input_error([&] { parse_certificate(later.dump()); });
  EXPECT_NE(message.find("'time_travel'"), std::string::npos) << message;
}

TEST(Format2, APartThatIsNotListedOrNotThereIsFound) {
  const FormatJson body = FormatJson::parse(to_json(small_certificate({1, 2, 5})));
  FormatJson hidden = body;
  hidden["time_travel"] = {{"years", 3}};
  EXPECT_FALSE(verify(parse_certificate(resealed(hidden))).holds());
  FormatJson unlisted = body;
  unlisted["parts"].erase(0);
  EXPECT_FALSE(verify(parse_certificate(resealed(unlisted))).holds());
  FormatJson missing = body;
  missing["parts"].push_back("pac_bayes");
  EXPECT_FALSE(verify(parse_certificate(resealed(missing))).holds());
}

TEST(Format2, StepsThatWereNotRecordedAreFound) {
  const Certificate good = small_certificate({1, 2, 5});
  ASSERT_TRUE(verify(parse_certificate(to_json(good))).holds());
  const auto holds = [](const Certificate& certificate) {
    return verify(parse_certificate(to_json(certificate))).holds();
  };
  const auto moved = [&](Index from, Index to) {
    Certificate changed = good;
    std::ranges::replace(changed.steps, from, to);
    for (SuccessClaim& claim : changed.success)
      if (claim.step == from) claim.step = to;
    for (QuantileClaim& claim : changed.quantile)
      if (claim.step == from) claim.step = to;
    return changed;
  };
  EXPECT_FALSE(holds(moved(5, 1000)));  // beyond the horizon
  EXPECT_FALSE(holds(moved(1, -3)));
  EXPECT_FALSE(holds(moved(2, 3)));  // within it, but no column
  Certificate negative = moved(1, -3);
  negative.variants[0].first_step = -3;
  negative.variants[0].recorded_steps.front() = -3;
  EXPECT_FALSE(holds(negative));
  Certificate longer = good;
  longer.variants[0].last_step = 9;
  EXPECT_FALSE(holds(longer));
  Certificate filled = good;  // columns 1 .. 5, of which three are said to exist
  filled.variants[0].recorded_steps.clear();
  EXPECT_FALSE(holds(filled));
}

TEST(Format2, ClaimsLeftOutAreFound) {
  Certificate fewer = small_certificate({1, 2, 5});
  fewer.success.erase(fewer.success.begin());
  for (Share& share : fewer.shares)
    if (share.purpose == "success rates") --share.claims;
  EXPECT_FALSE(verify(parse_certificate(to_json(fewer))).holds());
}

TEST(Format2, WordsThatDoNotBelongThereAreFound) {
  Certificate more = small_certificate({1, 2, 5});
  more.assumptions.emplace_back("The optimizer never fails.");
  EXPECT_FALSE(verify(parse_certificate(to_json(more))).holds());
  Certificate less = small_certificate({1, 2, 5});
  less.assumptions.pop_back();
  less.version = "9.9.9";
  EXPECT_FALSE(verify(parse_certificate(to_json(less))).holds());
}

TEST(Format2, RoundedValuesFollowFromTheSizes) {
  Certificate changed = small_certificate({1, 2, 5});
  changed.variants[0].values_rounded_up = true;
  EXPECT_FALSE(verify(parse_certificate(to_json(changed))).holds());
  changed = small_certificate({1, 2, 5});
  changed.variants[0].non_finite_runs = 61;
  EXPECT_FALSE(verify(parse_certificate(to_json(changed))).holds());
}

TEST(Parts, AreNamedOnce) {
  std::set<std::string_view> names;
  for (const CertificatePart& part : known_parts()) EXPECT_TRUE(names.insert(part.name).second) << part.name;
}

}  // namespace
}  // namespace surefoot::certify
