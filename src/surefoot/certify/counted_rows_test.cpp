#include "surefoot/certify/counted_rows.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/tampering.hpp"

#include <gtest/gtest.h>

namespace surefoot::certify {
namespace {

using surefoot::test::contains;

const std::vector<Index> appended_steps{1, 2, 3};

std::vector<double> appended_row(Index row) {
  RandomStream random(3, "rows that are added", static_cast<std::uint64_t>(row));
  std::vector<double> values;
  for (const double scale : {1.0, 0.1, 0.01}) values.push_back(scale * random.uniform(0.1, 1.1));
  return values;
}

Options anytime_options() {
  Options options;
  options.risk_method = bounds::RiskMethod::anytime;
  options.tolerances = {0.01, 0.1};
  options.quantiles = {0.5, 0.9};
  options.metric = "residual";
  options.kind_delta["success"] = 1e-4;
  return options;
}

void add_appended(CountedRows& counted, const runs::TallySpec& spec, Index first, Index count, char digest) {
  runs::Tally tally(spec);
  DependenceCheck check(spec.steps);
  for (Index row = first; row < first + count; ++row) {
    const std::vector<double> values = appended_row(row);
    tally.add_run(values.data());
    check.add(row, values.data());
  }
  counted.add(std::move(tally), check,
              {std::string(1, digest) + ".csv", std::string(64, digest), 0, {"read"}});
}

Certificate certificate_of_rows(const Options& options, CountedRows& counted) {
  Variant variant;
  variant.name = "solver";
  counted.describe(variant);
  return certify(options, {{variant, counted.tally()}});
}

TEST(CountedRows, OfSeveralTablesAreThoseOfOne) {
  const Options options = resolved(anytime_options(), {appended_steps});
  const runs::TallySpec spec = tally_spec(options, appended_steps);
  CountedRows parts;
  add_appended(parts, spec, 0, 100, 'a');
  add_appended(parts, spec, 100, 37, 'b');
  add_appended(parts, spec, 137, 163, 'c');
  CountedRows whole;
  add_appended(whole, spec, 0, 300, 'd');
  EXPECT_EQ(parts.rows(), 300);
  EXPECT_EQ(parts.tally().state(), whole.tally().state());
  EXPECT_EQ(parts.independence(), whole.independence());
  Variant variant;
  parts.describe(variant);
  EXPECT_EQ(variant.source, "a.csv");
  ASSERT_EQ(variant.appended.size(), 2U);
  EXPECT_EQ(variant.appended[1].samples, 163);
  EXPECT_EQ(table_count(variant), 3U);
}

TEST(CountedRows, WhatWasAppendedLastIsTakenBack) {
  Certificate certificate;
  certificate.variants.resize(2);
  for (Variant& variant : certificate.variants) {
    variant.samples = 60;
    variant.appended = {{"b.csv", "bb", 20, {}}, {"c.csv", "cc", 30, {}}};
  }
  const Certificate before = certificate;
  EXPECT_FALSE(take_back_appended(certificate, {{"cc"}}));
  EXPECT_FALSE(take_back_appended(certificate, {{"cc"}, {"bb"}}));
  EXPECT_FALSE(take_back_appended(certificate, {{"aa", "bb", "cc"}, {"cc"}}));
  EXPECT_EQ(certificate.variants[0].appended, before.variants[0].appended);
  ASSERT_TRUE(take_back_appended(certificate, {{"cc"}, {"bb", "cc"}}));
  EXPECT_EQ(certificate.variants[0].samples, 30);
  ASSERT_EQ(certificate.variants[0].appended.size(), 1U);
  EXPECT_EQ(certificate.variants[0].appended[0].sha256, "bb");
  EXPECT_EQ(certificate.variants[1].samples, 10);
  EXPECT_TRUE(certificate.variants[1].appended.empty());
}

TEST(CountedRows, AreNotCountedTwice) {
  const Options options = resolved(anytime_options(), {appended_steps});
  const runs::TallySpec spec = tally_spec(options, appended_steps);
  CountedRows counted;
  add_appended(counted, spec, 0, 100, 'a');
  EXPECT_INPUT_ERROR(add_appended(counted, spec, 100, 10, 'a'),
                     "counted already: a.csv has the same SHA-256");
  // The same rows in another file.
  runs::Tally tally(spec);
  DependenceCheck check(appended_steps);
  for (Index row = 0; row < 50; ++row) {
    tally.add_run(appended_row(row).data());
    check.add(100 + row, appended_row(row).data());
  }
  counted.add(std::move(tally), check, {"b.csv", std::string(64, 'b'), 0, {}});
  Independence found = counted.independence();
  EXPECT_EQ(found.exact.repeated, 50);
  EXPECT_INPUT_ERROR(found.require_none("b.csv", false), "b.csv");
  const std::vector<Index> others{1, 2, 4};
  const runs::TallySpec other = tally_spec(resolved(anytime_options(), {others}), others);
  EXPECT_INPUT_ERROR(add_appended(counted, other, 150, 5, 'c'), "3 steps 1 .. 4");
}

TEST(CountedRows, ContinueACertificateUnderItsDeclarations) {
  const Options options = resolved(anytime_options(), {appended_steps});
  const runs::TallySpec spec = tally_spec(options, appended_steps);
  CountedRows counted;
  add_appended(counted, spec, 0, 200, 'a');
  const Certificate before = parse_certificate(to_json(certificate_of_rows(options, counted))).certificate;
  const Options again = options_to_append(before);
  EXPECT_EQ(again.kind_delta.at("success"), 1e-4);
  EXPECT_EQ(again.metric, "residual");
  add_appended(counted, tally_spec(again, appended_steps), 200, 300, 'b');
  const Certificate after = certificate_of_rows(again, counted);
  EXPECT_NO_THROW(require_continues(before, after));
  EXPECT_EQ(after.success.front().delta, before.success.front().delta);
  EXPECT_EQ(after.quantile.front().delta, before.quantile.front().delta);
  EXPECT_INPUT_ERROR(require_continues(after, before), "not read as they were");
  const ParsedCertificate parsed = parse_certificate(to_json(after));
  const Verification verification = verify(parsed);
  EXPECT_TRUE(verification.holds()) << verification.findings.front();
  EXPECT_EQ(to_json(parsed.certificate), to_json(after));
  EXPECT_TRUE(contains(statements_of(after).front(), "With confidence 0.99 at every number of runs, "));

  Verification recount;
  compare_counted(after, 0, counted, recount);
  EXPECT_TRUE(recount.holds()) << recount.findings.front();
  CountedRows other;
  add_appended(other, spec, 0, 201, 'a');
  add_appended(other, spec, 201, 299, 'c');
  Verification changed;
  compare_counted(after, 0, other, changed);
  EXPECT_EQ(changed.findings.size(), 2U) << "another digest, another number of rows";
}

TEST(CountedRows, AreNotAddedToWhatWasNotDeclaredSo) {
  Options fixed = anytime_options();
  fixed.risk_method = bounds::RiskMethod::exact;
  fixed = resolved(fixed, {appended_steps});
  CountedRows counted;
  add_appended(counted, tally_spec(fixed, appended_steps), 0, 100, 'a');
  Certificate certificate = certificate_of_rows(fixed, counted);
  EXPECT_INPUT_ERROR(options_to_append(certificate),
                     "only claims that were declared to hold at every number");
  // Nor may a forger say that they were.
  certificate.variants.front().appended = {{"b.csv", std::string(64, 'b'), 10, {}}};
  EXPECT_FALSE(verify(parse_certificate(to_json(certificate))).holds());

  const Options options = resolved(anytime_options(), {appended_steps});
  Certificate ours = certificate_of_rows(options, counted);
  ours.run = "{\"solver\":\"x\"}";
  EXPECT_INPUT_ERROR(options_to_append(ours), "cannot be added to them");
}

TEST(CountedRows, OfAnytimeCertificatesAreCheckedAsSuch) {
  const Options options = resolved(anytime_options(), {appended_steps});
  const runs::TallySpec spec = tally_spec(options, appended_steps);
  CountedRows counted;
  add_appended(counted, spec, 0, 200, 'a');
  add_appended(counted, spec, 200, 200, 'b');
  const std::string text = to_json(certificate_of_rows(options, counted));
  const auto differs = [&](const char* pointer, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json body = nlohmann::ordered_json::parse(text);
    body.at(nlohmann::ordered_json::json_pointer(pointer)) = value;
    try {
      return !verify(parse_certificate(test::resealed(body))).holds();
    } catch (const InputError&) {
      return true;
    }
  };
  EXPECT_TRUE(differs("/declared/grid_method", "exact"));
  EXPECT_TRUE(differs("/claims/quantile/0/method", "exact"));
  EXPECT_TRUE(differs("/claims/success_rate/0/method", "exact"));
  EXPECT_TRUE(differs("/claims/iteration_budget/0/rank", 1));
  EXPECT_TRUE(differs("/claims/iteration_budget/0/method", "paper"));
  EXPECT_TRUE(differs("/variants/0/appended/0/sha256", std::string(64, 'a')));
  EXPECT_TRUE(differs("/variants/0/appended/0/samples", 400));
  EXPECT_TRUE(differs("/variants/0/appended/0/samples", 0));
  EXPECT_TRUE(contains(text, "\"anytime\""));
  EXPECT_TRUE(contains(text, "The number of runs need not have been"));
}

TEST(CountedRows, OfMoreThanAKindThatHoldsAtOneNumberAreRefused) {
  Options options = anytime_options();
  options.choose = Choice::both;
  EXPECT_INPUT_ERROR(resolved(options, {appended_steps}), "choose: 'both' makes bands");
  options.choose = Choice::after;
  EXPECT_INPUT_ERROR(resolved(options, {appended_steps}), "choose: 'after' makes bands");
  options.choose = Choice::before;
  options.kinds = {"success", "bands"};
  EXPECT_INPUT_ERROR(resolved(options, {appended_steps}), "claims: 'bands'");
  options = anytime_options();
  options.budget_method = bounds::BudgetMethod::paper;
  EXPECT_INPUT_ERROR(resolved(options, {appended_steps}), "budget method: 'paper'");
}

}  // namespace
}  // namespace surefoot::certify
