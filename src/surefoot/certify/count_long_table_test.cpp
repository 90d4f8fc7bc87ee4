// One number per problem, from the table to the sentence and back.
#include "surefoot/certify/count_long_table.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/implied.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace surefoot::certify::count_long_table_tests {
namespace {

using test::contains;

/// Iterations to converge: whole numbers with many ties, some failures.
std::string iteration_counts(Index samples) {
  std::string text = "iterations\n";
  RandomStream random(3, "iteration counts", 0);
  for (Index i = 0; i < samples; ++i) {
    const double u = random.uniform();
    text += u > 0.98 ? "> 500\n" : fmt::format("{}\n", 10 * (1 + static_cast<int>(u * 8)));
  }
  return text;
}

Certificate certified(const std::string& text, const TableChoice& choice, Options options = {}) {
  std::vector<LongTable> tables;
  tables.emplace_back(io::memory_bytes("t.csv", text), choice);
  options.metric = "";
  options = resolved_for(options, {&tables[0]});
  return certify(options, count_variants(tables[0], options, "solver", false, "t.csv", false));
}

TableChoice scalars() {
  TableChoice choice;
  choice.scalar = true;
  return choice;
}

void expect_verified(const Certificate& certificate) {
  const Verification found = verify(parse_certificate(to_json(certificate)));
  EXPECT_TRUE(found.holds()) << found.findings.front();
  EXPECT_EQ(found.claims_that_hold, found.claims);
}

TEST(Scalars, AValueThatEqualsTheToleranceIsASuccess) {
  Options options;
  options.tolerances = {10, 20, 75};
  const std::string text = iteration_counts(400);
  const Certificate certificate = certified(text, scalars(), options);
  expect_verified(certificate);
  ASSERT_EQ(certificate.success.size(), 3U);
  for (const SuccessClaim& claim : certificate.success) {
    Index above = 0;
    std::size_t at = text.find('\n') + 1;
    for (std::size_t end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      const std::string cell = text.substr(at, end - at);
      above += cell.starts_with(">") || std::stod(cell) > claim.tolerance ? 1 : 0;
    }
    EXPECT_EQ(claim.failures, above) << claim.tolerance;
    EXPECT_EQ(claim.lower_bound,
              bounds::success_lower_bound(above, 400, claim.delta, bounds::RiskMethod::exact));
  }
  EXPECT_GT(certificate.success[0].empirical, 0);  // ties at 10 count
}

TEST(Scalars, HaveNoStepsInTheirWords) {
  Options options;
  options.tolerances = {60};
  options.choose = Choice::both;
  const Certificate certificate = certified(iteration_counts(2000), scalars(), options);
  expect_verified(certificate);
  EXPECT_EQ(certificate.metric, "iterations");
  EXPECT_EQ(certificate.quantiles,
            (std::vector<double>{0.5, 0.8, 0.9, 0.95, 0.99}));  // 0.999 needs thousands
  EXPECT_TRUE(certificate.budget.empty());
  EXPECT_EQ(certificate.bands.size(), 1U);
  std::string all;
  for (const std::string& line : statements_of(certificate)) all += line + '\n';
  for (const std::string& line : what_it_says(certificate)) all += line + '\n';
  for (const std::string& line : certificate.assumptions) all += line + '\n';
  for (const ClaimKind* kind : claim_kinds())
    if (kind->size(certificate) > 0) all += kind->section(certificate).introduction + '\n';
  for (const char* word : {"step", "after 0", "at the start", "stay", "below the tolerance"})
    EXPECT_EQ(all.find(word), std::string::npos) << word << " in " << all;
  const std::vector<std::string> statements = statements_of(certificate);
  EXPECT_TRUE(std::ranges::count(
                  statements,
                  "With confidence 0.99, the iterations of at least 90 % of new problems is at most 80.0.") ==
              1)
      << all;
}

TEST(Scalars, TakeTheirTimeInMilliseconds) {
  std::string text = "solve time (ms)\n";
  RandomStream random(4, "solve times", 0);
  for (int i = 0; i < 600; ++i) text += fmt::format("{}\n", 1 + 1.25 * random.uniform());
  Options options;
  options.quantiles = {0.9};
  const Certificate certificate = certified(text, scalars(), options);
  EXPECT_EQ(certificate.unit, "ms");
  const Headline lines = headline(certificate);
  EXPECT_EQ(lines.opening,
            "With confidence 0.99, all of these hold together for the solve time of new problems:");
  ASSERT_EQ(lines.groups.front().claims.size(), 1U);
  EXPECT_TRUE(contains(lines.groups.front().claims.front(), "at least 90 % of problems take at most 2."))
      << lines.groups.front().claims.front();
  EXPECT_TRUE(contains(statements_of(certificate).front(),
                       "the solve time of at least 90 % of new problems is at most 2."));
}

TEST(Scalars, AnswersAreAtMost) {
  Options options;
  options.tolerances = {40};
  options.choose = Choice::both;
  const Certificate certificate = certified(iteration_counts(2000), scalars(), options);
  const auto share_of = [&](const std::string& claim) {
    return ask(certificate, claim).front().claim.share.value_or(0);
  };
  // All values are multiples of ten: at most 40 is below 40.01, and below 40 is at most 30.
  EXPECT_EQ(share_of("at most 40"), share_of("below 40.01"));
  EXPECT_EQ(share_of("below 40"), share_of("at most 30"));
  EXPECT_GT(share_of("at most 40"), share_of("below 40") + 0.05);
  const Answer answer = ask(certificate, "at most 40").front();
  EXPECT_TRUE(answer.holds);
  EXPECT_TRUE(contains(answer.sentence, "of new problems is at most 40."));
  EXPECT_EQ(answer.sentence.find("iteration "), std::string::npos);
  const Answer refused = ask(certificate, "99.99% at most 40").front();
  EXPECT_FALSE(refused.holds);
  EXPECT_EQ(to_text(refused.claim), "99.99% at most 40");
  ASSERT_GE(refused.but.size(), 1U);
  EXPECT_TRUE(contains(refused.but.front(), "is at most 40"));
  EXPECT_INPUT_ERROR(
      ask(certificate, "90% at most 40 after 3"),
      "ask: this certificate is of one number per problem and has no iterations: leave 'after 3' out");
}

TEST(Scalars, NoRateIsBelowWhatAnotherClaimImplies) {
  Options options;
  options.tolerances = {30, 80};
  options.choose = Choice::both;
  const Certificate certificate = certified(iteration_counts(800), scalars(), options);
  const ImpliedShares implied(certificate);
  for (const SuccessClaim& rate : certificate.success) {
    for (const QuantileClaim& quantile : certificate.quantile) {
      if (quantile.upper_bound <= rate.tolerance) {
        EXPECT_GE(implied.at(rate), quantile.quantile);
      }
    }
  }
}

TEST(Scalars, WhatIsForStepsIsRefused) {
  Options options;
  options.scalar = true;
  options.kinds = {"budget"};
  EXPECT_INPUT_ERROR(options.validate(),
                     "a scalar has no iterations, so there are no iteration budgets of it");
  options = {};
  options.scalar = true;
  options.quantile_method = bounds::QuantileMethod::grid;
  EXPECT_INPUT_ERROR(options.validate(), "quantiles of scalars are exact");
  options = {};
  options.scalar = true;
  options.steps = {3};
  EXPECT_INPUT_ERROR(options.validate(), "a scalar has no steps; leave them out");
}

TEST(Scalars, DriftIsSeenAndTiesAreNot) {
  std::string drifting = "t\n";
  for (int i = 0; i < 480; ++i) drifting += fmt::format("{}\n", 1 + i * 0.01);
  EXPECT_INPUT_ERROR(certified(drifting, scalars()),
                     "solver: the rows of the table are not independent samples");
  std::string tied = "t\n";
  for (int i = 0; i < 480; ++i) tied += "7\n";
  expect_verified(certified(tied, scalars()));
}

/// As benchmark programs write it: two solvers, named problems, settings of which one is chosen.
std::string benchmark(int problems) {
  std::string text = "problem,solver,settings,runtime (s),found\n";
  RandomStream random(9, "benchmark", 0);
  for (int i = 0; i < problems; ++i)
    for (const char* solver : {"osqp", "scs"})
      for (const char* settings : {"default", "high_accuracy"})
        text += fmt::format("\"SET, {}\",{},{},{},{}\n", i, solver, settings, random.uniform(),
                            random.uniform() < 0.05 ? "False" : "True");
  return text;
}

TableChoice of_benchmark() {
  TableChoice choice;
  choice.values = {"runtime"};
  choice.variants = "solver";
  choice.rows = "problem";
  choice.where = {"settings=default"};
  choice.failed = {"found=False"};
  return choice;
}

TEST(LongTables, SentencesSayWhatTheyRestOn) {
  const Certificate certificate = certified(benchmark(100), of_benchmark());
  expect_verified(certificate);
  ASSERT_EQ(certificate.variants.size(), 2U);
  EXPECT_EQ(certificate.variants[1].name, "scs");
  EXPECT_EQ(certificate.variants[1].samples, 100);
  EXPECT_FALSE(certificate.variants[1].independence);
  EXPECT_EQ(certificate.metric, "runtime");
  EXPECT_EQ(certificate.unit, "s");
  for (const std::string& statement : statements_of(certificate))
    EXPECT_TRUE(statement.starts_with(
        "If these problems were drawn at random from those you will meet, with confidence 0.99, for "))
        << statement;
  EXPECT_TRUE(headline(certificate).opening.starts_with("If these problems were drawn at random"));
  EXPECT_TRUE(std::ranges::any_of(certificate.assumptions, [](const std::string& line) {
    return contains(line, "holds if these were drawn at random from those you will meet");
  }));
  // What all variants share is said once.
  EXPECT_TRUE(contains(notes_on_rows(certificate).front(),
                       "Table of all variants: the numbers are those of 'runtime (s)'"));
}

TEST(LongTables, AreRecountedByTheirSelection) {
  const test_support::TemporaryFolder folder;
  const std::string path = (folder.path() / "results.csv").string();
  const std::string text = benchmark(60);
  std::ofstream(path) << text;
  std::vector<LongTable> tables;
  tables.emplace_back(path, of_benchmark());
  Options options;
  options.metric = "";
  options = resolved_for(options, {&tables[0]});
  const Certificate honest =
      certify(options, count_variants(tables[0], options, "", false, "results.csv", false));
  const auto findings = [&](const Certificate& certificate) {
    Verification verification;
    const auto groups = variants_by_table(certificate);
    EXPECT_EQ(groups.size(), 1U);
    recount_table(certificate, groups.front(), path, {}, nullptr, verification);
    return verification.findings;
  };
  EXPECT_TRUE(findings(honest).empty());
  Certificate other = honest;
  for (Variant& variant : other.variants) variant.selection->where = {"settings=high_accuracy"};
  EXPECT_FALSE(findings(other).empty());
  other = honest;
  other.variants[0].selection->variant = "nobody";
  EXPECT_FALSE(findings(other).empty());
  other = honest;
  for (Variant& variant : other.variants) variant.selection->failed.clear();
  EXPECT_FALSE(findings(other).empty());
  other = honest;
  for (Variant& variant : other.variants) variant.selection->rows = "settings";
  ASSERT_FALSE(findings(other).empty());
  EXPECT_TRUE(contains(findings(other).front(), "the table cannot be read as the certificate says"));
  std::ofstream(path) << text << "extra,osqp,default,1,True\nextra,scs,default,1,True\n";
  EXPECT_FALSE(findings(honest).empty());
}

TEST(LongTables, TracesAreCountedAsTablesOfColumnsAre) {
  std::string text = "problem,step,gap\n";
  RandomStream random(5, "long traces", 0);
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 120; ++i) {
    std::vector<double>& row = rows.emplace_back();
    for (int k = 1; k <= 4; ++k) {
      row.push_back(random.uniform() * std::pow(0.1, k));
      text += fmt::format("p{},{},{}\n", i, k, row.back());
    }
  }
  TableChoice choice;
  choice.values = {"gap"};
  choice.rows = "problem";
  const Certificate certificate = certified(text, choice);
  EXPECT_FALSE(certificate.scalar);
  EXPECT_FALSE(certificate.budget.empty());
  expect_verified(certificate);
  Options options = resolved(Options{}, std::vector<std::vector<Index>>{{1, 2, 3, 4}});
  runs::Tally tally(tally_spec(options, {1, 2, 3, 4}));
  for (const std::vector<double>& row : rows) tally.add_run(row.data());
  const Certificate wide = certify(options, {{Variant{}, tally}});
  ASSERT_EQ(certificate.success.size(), wide.success.size());
  for (std::size_t i = 0; i < wide.success.size(); ++i)
    EXPECT_EQ(certificate.success[i].failures, wide.success[i].failures);
  for (std::size_t i = 0; i < wide.budget.size(); ++i)
    EXPECT_EQ(certificate.budget[i].steps, wide.budget[i].steps);
}

TEST(DefaultQuantiles, AreThoseThatTheNumberOfSamplesSupports) {
  const auto quantiles = [](Index samples, bool scalar) {
    Options options;
    options.scalar = scalar;
    if (!scalar) options.tolerances = {0.5};
    options = resolved(options, {{scalar_step}});
    runs::Tally tally(tally_spec(options, {scalar_step}));
    for (Index i = 0; i < samples; ++i) {
      const double value = static_cast<double>(i % 7) / 7;
      tally.add_run(&value);
    }
    const Certificate certificate = certify(options, {{Variant{}, tally}});
    for (const QuantileClaim& claim : certificate.quantile)
      EXPECT_EQ(claim.rank, bounds::order_statistic_rank(samples, claim.quantile, claim.delta));
    return certificate.quantiles;
  };
  using List = std::vector<double>;
  EXPECT_EQ(quantiles(2, true), (List{0.5}));  // never none: it says how many are needed
  EXPECT_EQ(quantiles(20, true), (List{0.5}));
  EXPECT_EQ(quantiles(64, true), (List{0.5, 0.8, 0.9}));
  EXPECT_EQ(quantiles(600, true), (List{0.5, 0.8, 0.9, 0.95}));
  EXPECT_EQ(quantiles(700, true), (List{0.5, 0.8, 0.9, 0.95, 0.99}));
  EXPECT_EQ(quantiles(10'000, true), (List{0.5, 0.8, 0.9, 0.95, 0.99, 0.999}));
  EXPECT_EQ(quantiles(100, false), (List{0.5, 0.9}));
  EXPECT_EQ(quantiles(2000, false), (List{0.5, 0.9, 0.99}));
}

TEST(DefaultQuantiles, DeclaredOnesStayAndSayWhatTheyNeed) {
  Options options;
  options.scalar = true;
  options.quantiles = {0.99};
  options = resolved(options, {{scalar_step}});
  runs::Tally tally(tally_spec(options, {scalar_step}));
  for (int i = 0; i < 300; ++i) {
    const double value = i;
    tally.add_run(&value);
  }
  const Certificate certificate = certify(options, {{Variant{}, tally}});
  EXPECT_EQ(certificate.quantiles, (std::vector<double>{0.99}));
  EXPECT_EQ(lack_of_samples(certificate), "A share of 99 % needs 459 runs without failure, you have 300.");
}

}  // namespace
}  // namespace surefoot::certify::count_long_table_tests
