#pragma once

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/runs/tally.hpp"

#include "support/tampering.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What every kind of claims must pass: put a new kind through expect_kind_contract() and then test its bound
/// against an independent computation.
namespace surefoot::test {

/// Runs whose metric halves from step to step, started at random; run i fails for good from step 5 on where i
/// is a multiple of 50.
inline std::vector<std::vector<double>> halving_runs(Index samples, Index columns) {
  std::vector<std::vector<double>> runs;
  for (Index i = 0; i < samples; ++i) {
    RandomStream random(11, "kinds of claims", static_cast<std::uint64_t>(i));
    const double scale = std::exp(random.normal());
    std::vector<double>& run = runs.emplace_back();
    for (Index k = 1; k <= columns; ++k)
      run.push_back(i % 50 == 0 && k >= 5 ? infinity : scale * std::pow(0.5, static_cast<double>(k)));
  }
  return runs;
}

struct KindExample {
  certify::Options options;
  std::vector<std::vector<double>> runs;
  certify::Certificate certificate;
  runs::Tally tally;
};

/// A certificate with claims of these kinds alone, of two variants with the same 200 runs of 8 steps.
inline KindExample kinds_example(std::vector<std::string> kinds, certify::Options options = {}) {
  std::vector<Index> steps;
  for (Index k = 1; k <= 8; ++k) steps.push_back(k);
  if (options.tolerances.empty()) options.tolerances = {1e-2, 0.1, 1.0};
  options.kinds = std::move(kinds);
  options = certify::resolved(options, {steps});
  std::vector<std::vector<double>> runs = halving_runs(200, 8);
  if (options.range)  // means are of numbers
    for (std::vector<double>& run : runs)
      for (double& value : run) value = std::min(value, *options.range);
  runs::Tally tally(certify::tally_spec(options, steps));
  for (const std::vector<double>& run : runs) tally.add_run(run.data());
  certify::Variant a;
  a.name = "a";
  a.sha256 = std::string(64, 'a');
  certify::Variant b = a;
  b.name = "b";
  return {options, runs, certify::certify(options, {{a, tally}, {b, tally}}), tally};
}

inline KindExample kind_example(std::string_view kind, const certify::Options& options = {}) {
  return kinds_example({std::string(kind)}, options);
}

/// Its text is read and written alike; verify() accepts it and finds a change in every field that arithmetic
/// is said to find beside claims of all other kinds; a recount agrees; it has sentences, a table and a share
/// of the confidence.
inline void expect_kind_contract(std::string_view name, const certify::Options& options = {}) {
  const certify::ClaimKind& kind = certify::claim_kind(name);
  const KindExample example = kind_example(name, options);
  const certify::Certificate& certificate = example.certificate;
  ASSERT_GT(kind.size(certificate), 0);
  for (const certify::ClaimKind* other : certify::claim_kinds())
    EXPECT_EQ(other->size(certificate) > 0, other == &kind);

  const std::string text = certify::to_json(certificate);
  const certify::ParsedCertificate parsed = certify::parse_certificate(text);
  EXPECT_EQ(certify::to_json(parsed.certificate), text);
  EXPECT_TRUE(parsed.canonical);
  const certify::Verification verification = certify::verify(parsed);
  EXPECT_TRUE(verification.holds()) << verification.findings.front();
  EXPECT_EQ(verification.claims, kind.size(certificate));
  EXPECT_EQ(verification.claims_that_hold, verification.claims);

  std::vector<std::string> all_kinds;
  for (const certify::ClaimKind* other : certify::claim_kinds())
    if (other->claimed_of(options.sampling) && (options.range || other->name() != "mean"))
      all_kinds.emplace_back(other->name());
  certify::Options everything = options;
  if (options.sampling != certify::Sampling::sequence) everything.shift = {bounds::Divergence::kl, 0.01};
  const std::string with_all = certify::to_json(kinds_example(all_kinds, everything).certificate);
  for (const certify::FieldCheck& check : kind.fields()) {
    if (check.in_tables != certify::Evidence::arithmetic || check.field.ends_with(".with_worst_case"))
      continue;
    const std::string field = check.field.substr(check.field.rfind('.') + 1);
    auto body = nlohmann::ordered_json::parse(with_all);
    auto& value = body["claims"][std::string(kind.part())][0][field];
    ASSERT_FALSE(value.is_null()) << check.field << ": the first claim of the example does not have it";
    if (value.is_number_integer())
      value = value.get<Index>() + 1;
    else if (value.is_number())
      value = value.get<double>() * 0.75 + 0.01;
    else if (value.is_boolean())
      value = !value.get<bool>();
    else
      value = "another";
    bool found = false;
    try {
      found = !certify::verify(certify::parse_certificate(resealed(body))).holds();
    } catch (const InputError&) {
      found = true;
    }
    EXPECT_TRUE(found) << check.field;
  }

  EXPECT_TRUE(kind.recount(certificate, 0, example.tally).empty());
  runs::Tally other(example.tally.spec());
  for (std::size_t i = 0; i < example.runs.size(); ++i) {
    std::vector<double> run = example.runs[i];
    for (double& value : run) value *= 16;
    other.add_run(run.data());
  }
  EXPECT_FALSE(kind.recount(certificate, 1, other).empty());
  EXPECT_FALSE(kind.made_twice(certificate));

  double paid = 0;
  for (const certify::Share& share : certificate.shares)
    paid += static_cast<double>(share.claims) * share.delta_each;
  EXPECT_LE(paid, certificate.delta);
  EXPECT_GT(paid, 0.999 * certificate.delta);

  const certify::SectionWords words = kind.section(certificate);
  for (const std::string& text_of :
       {std::string(kind.section_id()), words.heading, words.caption, words.introduction})
    EXPECT_FALSE(text_of.empty());
  EXPECT_FALSE(kind.table(certificate, 0, certificate.steps).rows.empty());
  bool quoted = false;
  for (const std::string& sentence : certify::statements_of(certificate))
    quoted = quoted || sentence.starts_with("With confidence 0.99, for a: ");
  EXPECT_TRUE(quoted);
}

}  // namespace surefoot::test
