#include "surefoot/certify/worst_case_part.hpp"

#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/sentences.hpp"

#include "support/input_error.hpp"
#include "support/random_problems.hpp"
#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace surefoot::certify {
namespace {

using test_support::input_error;
using PartJson = nlohmann::ordered_json;

TEST(WorstCasePart, WhatIsStatedIsParsedOrRefusedByName) {
  EXPECT_EQ(parse_stated_worst_case("averaged:0.5", 26.0).question.parameters.alpha, 0.5);
  EXPECT_EQ(parse_stated_worst_case("contractive:0.25", 1.0).question.parameters.factor, 0.25);
  EXPECT_FALSE(parse_stated_worst_case("averaged:0.5", 26.0).estimated);
  EXPECT_TRUE(parse_stated_worst_case("averaged:0.5", std::nullopt, 26.0).estimated);
  EXPECT_EQ(input_error([] { parse_stated_worst_case("scs:0.5", 1.0); }),
            "--worst-case: 'scs:0.5' is neither averaged:ALPHA nor contractive:FACTOR");
  EXPECT_EQ(input_error([] { parse_stated_worst_case("averaged", 1.0); }),
            "--worst-case: 'averaged' has no number after the colon");
  EXPECT_EQ(input_error([] { parse_stated_worst_case("averaged:2", 1.0); }), "alpha: 2 is outside (0, 1]");
  EXPECT_EQ(input_error([] { parse_stated_worst_case("contractive:1.5", 1.0); }),
            "--worst-case: an operator of factor 1.5 is no contraction");
  EXPECT_NE(input_error([] { parse_stated_worst_case("averaged:0.5", std::nullopt); }).find("--dist0"),
            std::string::npos);
  EXPECT_NE(input_error([] { parse_stated_worst_case("averaged:0.5", 1.0, 1.0); }).find("only one of them"),
            std::string::npos);
}

/// Without runs that diverge, which no averaged operator has.
Certificate finite_certificate(bool decibel = false) {
  Certificate certificate =
      test::SyntheticCertificate({.variants = 1, .steps = 20, .decibel = decibel}).get();
  certificate.variants.front().non_finite_runs = 0;
  return certificate;
}

/// The synthetic certificate with tolerances that its worst case reaches and others that it does not.
Certificate certificate_with(const StatedWorstCase& stated) {
  Certificate certificate = finite_certificate();
  for (SuccessClaim& claim : certificate.success) {
    if (claim.tolerance != 0.1) continue;
    claim.tolerance = 60;
    claim.failures = 0;
  }
  for (BudgetClaim& claim : certificate.budget)
    if (claim.tolerance == 0.1) claim.tolerance = 60;
  certificate.tolerances = {1e-4, 1e-3, 1e-2, 60};
  add_worst_case(certificate, stated);
  return certificate;
}

Certificate stated_certificate() {
  return certificate_with(parse_stated_worst_case("averaged:0.5", 200.0));
}

TEST(WorstCasePart, IsProvenCarriedAndSaidWithWhatItRestsOn) {
  const Certificate certificate = stated_certificate();
  EXPECT_TRUE(wrong_in_worst_case(certificate).empty());
  const ParsedCertificate again = parse_certificate(to_json(certificate));
  EXPECT_TRUE(again.canonical);
  EXPECT_TRUE(wrong_in_worst_case(again.certificate).empty());
  EXPECT_EQ(to_json(again.certificate), to_json(certificate));
  EXPECT_NE(certificate.assumptions.back().find("Stated by the user"), std::string::npos);
  const std::string condition = worst_case_condition(certificate);
  EXPECT_EQ(condition,
            "if the fixed-point residual is |z^k - z^(k-1)| of some 0.5-averaged operator and |z^0 - z*| <= "
            "200 for every problem, as the user states");
  // Every sentence that speaks of every problem says what it rests on; the others do not use it.
  std::vector<std::string> sentences = statements_of(certificate);
  for (const BudgetClaim& claim : certificate.budget) sentences.push_back(quotable(certificate, claim));
  std::size_t of_every_problem = 0;
  for (const std::string& sentence : sentences) {
    const bool every = sentence.find("every problem is") != std::string::npos;
    EXPECT_EQ(every, sentence.find(condition.substr(1)) != std::string::npos) << sentence;
    EXPECT_NE(every, sentence.find("onfidence") != std::string::npos ||
                         sentence.find("No guarantee") != std::string::npos)
        << sentence;
    of_every_problem += every ? 1U : 0U;
  }
  EXPECT_GE(of_every_problem, 3U);
  const std::vector<std::string> says = what_it_says(certificate);
  EXPECT_NE(std::find(says.begin(), says.end(), worst_case_sentences(certificate).front()), says.end());
}

// The worst case of a 1/2-averaged operator in row k is sqrt(((k-1)/k)^(k-1) / k) dist0.
TEST(WorstCasePart, ClaimsTakeTheBetterOfTheTwo) {
  const Certificate certificate = stated_certificate();
  const WorstCaseBounds bounds(certificate);
  const auto formula = [](double k) { return 200 * std::sqrt(std::pow((k - 1) / k, k - 1) / k); };
  for (const Index step : certificate.steps) {
    // At the proven steps it is the formula; in between, that of the proven step before.
    EXPECT_GE(bounds.at(step) * (1 + 1e-12), formula(static_cast<double>(step))) << step;
    EXPECT_LE(bounds.at(step), 200.0 * (1 + 1e-6));
  }
  EXPECT_NEAR(bounds.at(1), 200, 1e-3);
  EXPECT_EQ(bounds.at(0), infinity);
  // The first row below 60: k = 5 (k = 4: 64.95).
  EXPECT_EQ(bounds.below(60), std::optional<Index>(5));
  EXPECT_LT(formula(5), 60);
  EXPECT_GT(formula(4), 60);
  EXPECT_EQ(bounds.below(1e-3), std::nullopt);
  EXPECT_EQ(bounds.at(1000000), bounds.at(20)) << "it never grows";
  std::size_t gained = 0;
  for (const SuccessClaim& claim : certificate.success) {
    const bool proven = claim.tolerance == 60 && claim.step >= 5;
    EXPECT_EQ(bounds.better(claim), proven ? 1.0 : claim.lower_bound);
    gained += proven ? 1U : 0U;
  }
  EXPECT_GT(gained, 5U);
  for (const QuantileClaim& claim : certificate.quantile)
    EXPECT_EQ(bounds.better(claim), std::min(claim.upper_bound, bounds.at(claim.step)));
  for (const BudgetClaim& claim : certificate.budget) {
    const std::optional<Index> better = bounds.better(claim);
    if (claim.tolerance == 60 && (!claim.steps || *claim.steps > 5)) {
      EXPECT_EQ(better, std::optional<Index>(5));
    } else {
      EXPECT_EQ(better, claim.steps);
    }
  }
  EXPECT_TRUE(uses_worst_case(certificate));
}

TEST(WorstCasePart, AnEstimateIsShownAndNeverUsed) {
  const Certificate stated = stated_certificate();
  const Certificate certificate =
      certificate_with(parse_stated_worst_case("averaged:0.5", std::nullopt, 200.0));
  const WorstCaseBounds bounds(certificate);
  EXPECT_TRUE(bounds.present());
  EXPECT_FALSE(bounds.used());
  EXPECT_EQ(bounds.at(7), WorstCaseBounds(stated).at(7)) << "it is drawn";
  for (const SuccessClaim& claim : certificate.success) EXPECT_EQ(bounds.better(claim), claim.lower_bound);
  for (const QuantileClaim& claim : certificate.quantile) EXPECT_EQ(bounds.better(claim), claim.upper_bound);
  for (const BudgetClaim& claim : certificate.budget) EXPECT_EQ(bounds.better(claim), claim.steps);
  EXPECT_FALSE(uses_worst_case(certificate));
  EXPECT_EQ(to_json(certificate).find("with_worst_case"), std::string::npos);
  for (const std::string& statement : statements_of(certificate))
    EXPECT_EQ(statement.find("every problem"), std::string::npos) << statement;
  for (const std::string& sentence : worst_case_sentences(certificate))
    EXPECT_EQ(sentence.rfind("An estimate, not a guarantee", 0), 0U) << sentence;
  EXPECT_NE(certificate.assumptions.back().find("estimate"), std::string::npos);
  EXPECT_NE(note_on_worst_case(certificate).find("estimate"), std::string::npos);
  // Called a fact afterwards, it is none that the certificate's numbers say.
  PartJson forged = PartJson::parse(to_json(certificate));
  forged["worst_case"]["dist0"] = "stated";
  EXPECT_FALSE(parse_certificate(forged.dump()).canonical);
}

// A table that no such operator can have made.
TEST(WorstCasePart, CountsThatContradictTheStatementAreFound) {
  const auto refused = [](double dist0) {
    return input_error([&] { certificate_with(parse_stated_worst_case("averaged:0.5", dist0)); });
  };
  EXPECT_NE(refused(1.0).find("the data show that the statement is false"), std::string::npos)
      << refused(1.0);
  Certificate forged = stated_certificate();
  forged.variants.front().non_finite_runs = 1;
  EXPECT_FALSE(wrong_in_worst_case(forged).empty());
  forged = stated_certificate();
  for (SuccessClaim& claim : forged.success)
    if (claim.tolerance == 60 && claim.step == 20) claim.failures = 1;
  EXPECT_FALSE(wrong_in_worst_case(forged).empty());
}

TEST(WorstCasePart, IsRefusedWhereTheMetricCannotBeTheResidual) {
  const StatedWorstCase stated = parse_stated_worst_case("averaged:0.5", 200.0);
  Certificate decibels = finite_certificate(true);
  EXPECT_NE(input_error([&] { add_worst_case(decibels, stated); }).find("decibels"), std::string::npos);
  Certificate from_zero = finite_certificate();
  from_zero.variants.front().first_step = 0;
  EXPECT_NE(input_error([&] { add_worst_case(from_zero, stated); }).find("--first-step 1"),
            std::string::npos);
}

TEST(WorstCasePart, ABoundNearRoundingIsNotProven) {
  Certificate certificate = finite_certificate();
  for (QuantileClaim& claim : certificate.quantile) claim.empirical = 1e-9;
  for (SuccessClaim& claim : certificate.success) claim.failures = 0;
  add_worst_case(certificate, parse_stated_worst_case("contractive:0.01", 200.0));
  const WorstCaseBounds bounds(certificate);
  EXPECT_GE(bounds.at(20), 200 * 1.01e-4) << "that of row 3";
  EXPECT_LT(bounds.at(20), 200 * 1.02e-4);
}

TEST(WorstCasePart, ChangesAreFound) {
  const Certificate good = stated_certificate();
  Certificate bad = good;
  bad.worst_case.replace(bad.worst_case.find("\"start\":200.0"), 13, "\"start\":100.0");
  EXPECT_GE(wrong_in_worst_case(bad).size(), 2U);
  const auto with_proof = [&](const worst_case::ProofFile& proof) {
    PartJson part = PartJson::parse(good.worst_case);
    part["proof"] = PartJson::parse(worst_case::to_json(proof));
    bad = good;
    bad.worst_case = part.dump();
    return wrong_in_worst_case(bad);
  };
  EXPECT_FALSE(with_proof(worst_case::prove_steps({"averaged", {}, 1, "distance", {}}, {1}, 200.0)).empty());
  worst_case::Question growing{"contractive", {}, 1, "residual", {}};
  growing.parameters.factor = 1.2;
  EXPECT_FALSE(with_proof(worst_case::prove_steps(growing, {1}, 200.0)).empty())
      << "a residual that may grow";
  bad = good;
  bad.format = 1;
  EXPECT_FALSE(wrong_in_worst_case(bad).empty());
  // Every number that the worst case makes better, in the text.
  const PartJson body = PartJson::parse(to_json(good));
  for (const char* claims : {"success_rate", "quantile", "iteration_budget"}) {
    PartJson forged = body;
    forged["claims"][claims][0]["with_worst_case"] = 3;
    EXPECT_FALSE(parse_certificate(forged.dump()).canonical) << claims;
    forged = body;
    forged["claims"][claims][0].erase("with_worst_case");
    EXPECT_FALSE(parse_certificate(forged.dump()).canonical) << claims;
  }
}

TEST(WorstCasePart, RunsTakeItFromOperatorsThatDeclareIt) {
  const problems::Qp problem = testing::random_qp(3, 4, 5, 2, 0.6);
  const auto refused = [](const algorithms::Operator& op, const std::string& text = "averaged:0.5") {
    return input_error([&] {
      StatedWorstCase stated = parse_stated_worst_case(text, 1.0);
      require_declared(stated, op, {});
    });
  };
  EXPECT_NE(refused(algorithms::Osqp(problem, algorithms::OsqpOptions::package())).find("osqp: scaled OSQP"),
            std::string::npos);
  algorithms::OsqpOptions faster = algorithms::OsqpOptions::paper();
  faster.rho = 2;
  EXPECT_NE(refused(algorithms::Osqp(problem, faster)).find("rho = sigma = 1"), std::string::npos);
  faster = algorithms::OsqpOptions::paper();
  faster.alpha = 1.6;
  EXPECT_NE(refused(algorithms::Osqp(problem, faster)).find("0.8-averaged"), std::string::npos);
  EXPECT_NE(refused(algorithms::Osqp(problem, algorithms::OsqpOptions::paper()), "contractive:0.5")
                .find("0.5-averaged"),
            std::string::npos);
  // A start with w = clip(w + y, l, u) fits, another does not.
  const algorithms::Osqp op(problem, algorithms::OsqpOptions::paper());
  problems::Table starts = problems::Table::Zero(2, op.iterate_size());
  const Index n = problem.variables();
  const Index m = problem.constraints();
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < m; ++j)
      starts(i, n + m + j) =
          std::clamp(0.0, problems::table_row(problem.l, i)[j], problems::table_row(problem.u, i)[j]);
  }
  StatedWorstCase stated = parse_stated_worst_case("averaged:0.5", 1.0);
  require_declared(stated, op, starts);
  EXPECT_EQ(stated.variables, "the Euclidean norm of (x, w + y)");
  starts(1, n + m) = 1e6;
  EXPECT_NE(input_error([&] { require_declared(stated, op, starts); }).find("problem 1"), std::string::npos);
  EXPECT_NE(input_error([&] { require_declared(stated, op, problems::Table::Zero(2, 3)); }).find("--start"),
            std::string::npos);
}

}  // namespace
}  // namespace surefoot::certify
