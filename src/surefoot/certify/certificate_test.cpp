#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/tampering.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace surefoot::certify {
namespace {

using Json = nlohmann::ordered_json;
using test::collect_numbers;
using test::resealed;

runs::Tally example_tally(const Options& options, Index samples, std::uint64_t variant) {
  std::vector<Index> steps;
  for (Index k = 1; k <= 12; ++k) steps.push_back(10 * k);
  runs::Tally tally(tally_spec(options, steps));
  for (Index i = 0; i < samples; ++i) {
    RandomStream random(variant, "certificate test", static_cast<std::uint64_t>(i));
    std::vector<double> run;
    const double scale = std::exp(random.normal());
    for (Index k = 1; k <= 12; ++k) run.push_back(scale * std::pow(0.5, static_cast<double>(k)));
    if (i % 97 == 3) run[7] = infinity;
    tally.add_run(run.data());
  }
  return tally;
}

std::vector<std::vector<Index>> example_steps() {
  return {{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120}};
}

Certificate example_certificate(Options options, std::size_t variants = 2) {
  options = resolved(options, example_steps());
  std::vector<Counted> counted;
  for (std::size_t i = 0; i < variants; ++i) {
    Variant variant;
    variant.name = "variant \"" + std::to_string(i) + "\"";
    variant.source = "table.csv";
    variant.sha256 = std::string(64, 'a');
    counted.push_back({variant, example_tally(options, 400, i)});
  }
  return certify(options, counted);
}

std::vector<Options> kinds_of_options() {
  std::vector<Options> all;
  Options plain;
  plain.tolerances = {1e-3, 1e-2, 1e-1};
  all.push_back(plain);
  Options grid = plain;
  grid.quantile_method = bounds::QuantileMethod::grid;
  grid.risk_method = bounds::RiskMethod::kl;
  grid.budget_method = bounds::BudgetMethod::paper;
  all.push_back(grid);
  Options each = plain;
  each.simultaneous = Simultaneity::each;
  each.budget_method = bounds::BudgetMethod::first_hit;
  all.push_back(each);
  Options every = plain;
  every.budget_method = bounds::BudgetMethod::every_step;
  all.push_back(every);
  Options few = plain;
  few.kinds = {"quantile"};
  few.steps = {20, 120};
  all.push_back(few);
  Options wanted = plain;
  wanted.kind_delta["success"] = 1e-5;
  all.push_back(wanted);
  return all;
}

TEST(Certificate, SurvivesTheWayThroughJson) {
  for (const Options& options : kinds_of_options()) {
    const Certificate certificate = example_certificate(options);
    const std::string text = to_json(certificate);
    const ParsedCertificate parsed = parse_certificate(text);
    EXPECT_EQ(parsed.recorded_digest, parsed.computed_digest);
    EXPECT_EQ(to_json(parsed.certificate), text);
    EXPECT_EQ(Json::parse(text).dump(1) + "\n", text);
  }
}

TEST(Certificate, IsVerifiedAsWritten) {
  for (const Options& options : kinds_of_options()) {
    const Certificate certificate = example_certificate(options);
    Verification verification = verify(parse_certificate(to_json(certificate)));
    EXPECT_TRUE(verification.holds()) << verification.findings.front();
    EXPECT_EQ(verification.claims, verification.claims_that_hold);
    EXPECT_EQ(verification.claims,
              static_cast<Index>(certificate.success.size() + certificate.quantile.size() +
                                 certificate.budget.size()));
    const Options filled = resolved(options, example_steps());
    for (std::size_t i = 0; i < 2; ++i) {
      compare_recount(certificate, i, example_tally(filled, 400, i), std::string(64, 'a'), verification);
    }
    EXPECT_TRUE(verification.holds()) << verification.findings.front();
  }
}

TEST(Certificate, EveryChangedNumberIsFound) {
  Options options = kinds_of_options().front();
  options.steps = {20, 60, 120};
  const Json body = Json::parse(to_json(example_certificate(options)));
  std::set<std::string> pointers;
  collect_numbers(body, "", pointers);
  ASSERT_GT(pointers.size(), 300U);
  for (const std::string& pointer : pointers) {
    Json changed = body;
    Json& value = changed.at(Json::json_pointer(pointer));
    value = value.is_number_float() ? Json(std::nextafter(value.get<double>(), 2.0))
                                    : Json(value.get<Index>() + 1);
    try {
      EXPECT_FALSE(verify(parse_certificate(changed.dump())).holds()) << pointer;
    } catch (const InputError&) {
      SUCCEED();  // refused altogether
    }
  }
}

TEST(Certificate, AStrongerClaimIsFoundEvenUnderAFittingDigest) {
  const Json body = Json::parse(to_json(example_certificate(kinds_of_options().front())));
  EXPECT_TRUE(verify(parse_certificate(resealed(body))).holds());
  const auto differs = [&](const std::string& pointer, const Json& value) {
    Json changed = body;
    changed.at(Json::json_pointer(pointer)) = value;
    return !verify(parse_certificate(resealed(changed))).holds();
  };
  EXPECT_TRUE(differs("/claims/success_rate/5/lower_bound", 0.999));
  EXPECT_TRUE(differs("/claims/success_rate/30/failures", 0));
  EXPECT_TRUE(differs("/claims/success_rate/30/delta", 0.5));
  EXPECT_TRUE(differs("/claims/quantile/5/rank", 201));
  EXPECT_TRUE(differs("/claims/quantile/5/at_most", 10));
  EXPECT_TRUE(differs("/claims/iteration_budget/0/reached", 3));
  EXPECT_TRUE(differs("/claims/iteration_budget/0/steps", nullptr));
  EXPECT_TRUE(differs("/confidence/shares/0/delta_each", 0.009));
  EXPECT_TRUE(differs("/confidence/shares/0/claims", 1));
  EXPECT_TRUE(differs("/confidence/delta", 1e-6));
  EXPECT_TRUE(differs("/variants/0/samples", 4000));
  EXPECT_TRUE(differs("/declared/steps/3", 41));
  EXPECT_TRUE(differs("/claims/success_rate/0/variant", 7));
}

// Values and budgets have no counts of their own that a smaller number would contradict: the success counts
// of the same runs do.
TEST(Certificate, ClaimsThatContradictOneAnotherAreFoundEvenUnderAFittingDigest) {
  for (const bounds::BudgetMethod method :
       {bounds::BudgetMethod::settling, bounds::BudgetMethod::every_step, bounds::BudgetMethod::first_hit}) {
    Options options = kinds_of_options().front();
    options.budget_method = method;
    const Certificate certificate = example_certificate(options);
    int values = 0;
    int budgets = 0;
    const auto findings_of = [](const Certificate& changed) {
      return verify(parse_certificate(to_json(changed))).findings;
    };
    EXPECT_TRUE(findings_of(certificate).empty());
    for (std::size_t i = 0; i < certificate.quantile.size(); ++i) {
      for (double QuantileClaim::*value : {&QuantileClaim::upper_bound, &QuantileClaim::empirical}) {
        const double stated = certificate.quantile[i].*value;
        if (stated == infinity) continue;
        Certificate changed = certificate;
        changed.quantile[i].*value = 0.05 * stated;
        // Only a tolerance in between knows better.
        const auto between = [&](double tolerance) {
          return 0.05 * stated < tolerance && tolerance <= stated;
        };
        if (std::none_of(options.tolerances.begin(), options.tolerances.end(), between)) continue;
        ++values;
        EXPECT_FALSE(findings_of(changed).empty()) << i;
      }
    }
    for (std::size_t i = 0; i < certificate.budget.size(); ++i) {
      if (!certificate.budget[i].steps || *certificate.budget[i].steps <= 20) continue;
      Certificate changed = certificate;
      changed.budget[i].steps = *certificate.budget[i].steps - 20;
      if (method == bounds::BudgetMethod::first_hit)
        changed.budget[i].steps = *certificate.budget[i].steps + 20;
      ++budgets;
      EXPECT_FALSE(findings_of(changed).empty()) << i;
    }
    EXPECT_GT(values, 30);
    EXPECT_GT(budgets, 4);
  }
}

TEST(Certificate, ClaimsOutsideTheBudgetAreFoundEvenUnderAFittingDigest) {
  const Json body = Json::parse(to_json(example_certificate(kinds_of_options().front())));
  const auto refused = [](const Json& changed) {
    return !verify(parse_certificate(resealed(changed))).holds();
  };
  Json unpaid = body;  // a grid that no claim uses must not make quantile claims cheaper
  unpaid["declared"]["grid"] = {1.0};
  unpaid["confidence"]["shares"].erase(1);
  EXPECT_TRUE(refused(unpaid));
  Json twice = body;
  twice["claims"]["success_rate"].push_back(body["claims"]["success_rate"][0]);
  twice["confidence"]["shares"][0]["claims"] = body["claims"]["success_rate"].size() + 1;
  EXPECT_TRUE(refused(twice));
  Json relabelled = body;
  relabelled["claims"]["iteration_budget"][3]["method"] = "first-hit";
  EXPECT_TRUE(refused(relabelled));
  Json covered = Json::parse(to_json(example_certificate(kinds_of_options()[1])));
  covered["claims"]["iteration_budget"][0]["covered_by_confidence"] = true;
  EXPECT_TRUE(refused(covered));
  Json more = body;
  more["claims"]["worst_case"] = Json::array();
  EXPECT_TRUE(refused(more));
  Json silent = body;
  silent["assumptions"] = Json::array();
  EXPECT_TRUE(refused(silent));
  Json empty = body;
  for (const char* kind : {"success_rate", "quantile", "iteration_budget"})
    empty["claims"][kind] = Json::array();
  empty["confidence"]["shares"] = Json::array();
  EXPECT_TRUE(refused(empty));
  Json beyond = body;
  beyond["claims"]["iteration_budget"][0]["steps"] = 5;
  EXPECT_TRUE(refused(beyond));
}

TEST(Certificate, CountsThatDoNotFitTogetherAreRefused) {
  const Json body = Json::parse(to_json(example_certificate(kinds_of_options().front())));
  Json large = body;
  large["variants"][0]["samples"] = std::numeric_limits<Index>::max();
  EXPECT_INPUT_ERROR(parse_certificate(large.dump()),
                     "samples is 9223372036854775807, beyond 1000000000000000");
  large["variants"][0]["samples"] = std::numeric_limits<Index>::min();
  EXPECT_INPUT_ERROR(parse_certificate(large.dump()), "samples is -9223372036854775808, beyond");
  Json many = body;  // their sum is not an Index
  Json& shares = many["confidence"]["shares"];
  shares[0]["claims"] = most_counted;
  for (int i = 0; i < 9300; ++i) shares.push_back(shares[0]);
  const ParsedCertificate parsed = parse_certificate(resealed(many));
  EXPECT_INPUT_ERROR(verify(parsed), "shares: ");
}

bool is_found(const Certificate& certificate, const std::string& words) {
  const std::vector<std::string> findings = verify(parse_certificate(to_json(certificate))).findings;
  return std::any_of(findings.begin(), findings.end(),
                     [&](const std::string& finding) { return test::contains(finding, words); });
}

TEST(Certificate, ClaimsOfAVariantThatIsNotThereAreFoundAndNotLookedUp) {
  Certificate certificate = example_certificate(kinds_of_options().front());
  const std::size_t beyond = certificate.variants.size();
  Index number = 0;
  for (SuccessClaim& claim : certificate.success) {  // that contradict each other as well
    if (claim.variant == 0) continue;
    claim.variant = beyond;
    claim.failures = ++number % claim.samples;
  }
  for (QuantileClaim& claim : certificate.quantile) {
    if (claim.variant == 0) continue;
    claim.variant = beyond;
    claim.upper_bound = claim.empirical = 1.0 / static_cast<double>(++number);
  }
  for (BudgetClaim& claim : certificate.budget) {
    if (claim.variant == 0) continue;
    claim.variant = beyond;
    claim.steps = 10 * (12 - ++number % 12);
  }
  EXPECT_FALSE(verify(parse_certificate(to_json(certificate))).holds());
  EXPECT_FALSE(is_found(certificate, "contradiction")) << "of a variant without a name";
}

TEST(Certificate, ADeltaOutsideItsRangeIsFound) {
  for (const double delta : {0.0, 1.0, 1.5}) {
    Certificate certificate = example_certificate(kinds_of_options().front());
    certificate.delta = delta;
    EXPECT_TRUE(is_found(certificate, "is outside (0, 1)")) << delta;
  }
  EXPECT_FALSE(is_found(example_certificate(kinds_of_options().front()), "is outside (0, 1)"));
}

TEST(Certificate, DependenceWasLookedForInTheTableUnlessItRan) {
  const std::string words = "what was looked at for dependence";
  Certificate certificate = example_certificate(kinds_of_options().front());
  for (Variant& variant : certificate.variants) variant.independence = Independence{};
  EXPECT_FALSE(is_found(certificate, words));
  certificate.variants[1].independence->of = "problem data";
  EXPECT_TRUE(is_found(certificate, words));
  certificate.run = "{}";
  EXPECT_FALSE(is_found(certificate, words));
}

TEST(Certificate, TextsThatHideSomethingAreRefused) {
  std::string twice = to_json(example_certificate(kinds_of_options().front()));
  twice.replace(twice.find("\"lower_bound\":"), 14, "\"lower_bound\": 0.9999, \"lower_bound\":");
  EXPECT_INPUT_ERROR(parse_certificate(twice), "'lower_bound' is given twice");
  EXPECT_INPUT_ERROR(parse_certificate(std::string(300000, '[')), "nested deeper than");
  EXPECT_INPUT_ERROR(parse_certificate("{\"run\": " + std::string(1000, '[') + std::string(1000, ']') + "}"),
                     "nested deeper than");
}

TEST(Certificate, ObjectsOfManyFieldsWhichTakeLongAreRefused) {
  std::string fields = "{\"run\": [{}, {\"f\": 0";
  for (int i = 0; i < 300'000; ++i) fields += fmt::format(",\"f{}\":0", i);
  EXPECT_INPUT_ERROR(parse_certificate(fields + "}]}"), "an object has more than 10000 fields");
}

TEST(Certificate, AnotherHorizonIsFoundInTheData) {
  const Options options = resolved(kinds_of_options().front(), example_steps());
  Certificate certificate = example_certificate(options, 1);
  certificate.variants[0].last_step = 100000;
  Verification verification;
  compare_recount(certificate, 0, example_tally(options, 400, 0), std::string(64, 'a'), verification);
  EXPECT_FALSE(verification.holds());
}

TEST(Certificate, ChangedDataAreFound) {
  const Options options = resolved(kinds_of_options().front(), example_steps());
  const Certificate certificate = example_certificate(options, 1);
  Verification other;
  compare_recount(certificate, 0, example_tally(options, 400, 5), std::string(64, 'b'), other);
  EXPECT_GT(other.findings.size(), 3U);
  Verification shorter;
  compare_recount(certificate, 0, example_tally(options, 399, 0), std::string(64, 'a'), shorter);
  EXPECT_FALSE(shorter.holds());
}

TEST(Certificate, MalformedOnesAreRefusedWithAReason) {
  const std::string good = to_json(example_certificate(kinds_of_options().front()));
  EXPECT_INPUT_ERROR(parse_certificate(""), "not JSON at byte");
  EXPECT_INPUT_ERROR(parse_certificate("{"), "not JSON at byte");
  EXPECT_INPUT_ERROR(parse_certificate("[1, 2]"), "the certificate is not an object");
  EXPECT_INPUT_ERROR(parse_certificate("{\"format\": \"surefoot-certificate\"}"), "the certificate has no '");
  EXPECT_INPUT_ERROR(parse_certificate(good.substr(0, good.size() / 2)), "not JSON at byte");
  const auto with = [&](const char* pointer, const Json& value) {
    Json changed = Json::parse(good);
    changed.at(Json::json_pointer(pointer)) = value;
    return changed.dump();
  };
  EXPECT_INPUT_ERROR(parse_certificate(with("/format_version", 99)), "format_version 99 is not known");
  EXPECT_INPUT_ERROR(parse_certificate(with("/claims/success_rate/0/method", "best")), "'best'");
  EXPECT_INPUT_ERROR(parse_certificate(with("/claims/success_rate/0/failures", 1.5)),
                     "failures is not a whole number in range");
  EXPECT_INPUT_ERROR(parse_certificate(with("/claims/success_rate/0/failures", 18446744073709551615ULL)),
                     "failures is not a whole number in range");
  EXPECT_INPUT_ERROR(parse_certificate(with("/claims/success_rate", "many")), "success_rate is not a list");
  EXPECT_INPUT_ERROR(parse_certificate(with("/confidence/simultaneous", "some")),
                     "simultaneous: 'some' is not one of all, each");
}

TEST(Options, DefaultsDependOnTheShapeAlone) {
  std::vector<Index> recorded(1000);
  for (std::size_t i = 0; i < recorded.size(); ++i) recorded[i] = static_cast<Index>(i) + 1;
  const std::vector<Index> steps = default_steps(recorded);
  EXPECT_LE(steps.size(), 60U);
  EXPECT_GE(steps.size(), 40U);
  EXPECT_EQ(steps.front(), 1);
  EXPECT_EQ(steps.back(), 1000);
  EXPECT_EQ(default_steps({0, 5, 10}), (std::vector<Index>{0, 5, 10}));
  EXPECT_EQ(default_tolerances("dB").front(), -40);
}

TEST(Options, NameTheBadValue) {
  Options options;
  options.delta = 1.5;
  EXPECT_INPUT_ERROR(options.validate(), "delta: 1.5 is outside (0, 1)");
  options = {};
  options.quantiles = {0.9, 0.5};
  EXPECT_INPUT_ERROR(options.validate(), "quantiles: 0.5 does not come after 0.9");
  options = {};
  options.steps = {15};
  EXPECT_INPUT_ERROR(resolved(options, example_steps()), "step 15 was not recorded");
  options = {};
  options.kind_delta["success"] = 0.5;
  EXPECT_INPUT_ERROR(example_certificate(options), "0.5");
  options.simultaneous = Simultaneity::each;
  EXPECT_INPUT_ERROR(example_certificate(options), "delta 0.5 for each of the");
  options = {};
  options.kinds.clear();
  EXPECT_INPUT_ERROR(example_certificate(options), "nothing is claimed");
}

TEST(Options, KindsThatAreNamedTwiceAreClaimedOnce) {
  Options twice;
  twice.kinds = {"success", "success"};
  Options once;
  once.kinds = {"success"};
  EXPECT_EQ(to_json(example_certificate(twice)), to_json(example_certificate(once)));
  once.kind_delta["budget"] = 1e-5;  // of a kind that is not claimed: nothing to pay
  EXPECT_EQ(to_json(example_certificate(once)), to_json(example_certificate(twice)));
  once.kind_delta["budgets"] = 1e-5;
  EXPECT_INPUT_ERROR(example_certificate(once), "claims: 'budgets' is not one of");
}

TEST(Names, AreOneLineOfLimitedLengthWhenCertifying) {
  const std::string forged = "residual of every problem is 0.\nWith confidence 1";
  const auto refusal = [&](std::string Options::*field, const std::string& name) {
    Options options;
    options.*field = name;
    return test_support::input_error([&] { options.validate(); });
  };
  const std::string has_controls =
      "'residual of every problem is 0.\\nWith confidence 1' has control characters, a name has none";
  EXPECT_EQ(refusal(&Options::metric, forged), "metric: " + has_controls);
  EXPECT_EQ(refusal(&Options::unit, forged), "unit: " + has_controls);
  EXPECT_EQ(refusal(&Options::title, forged), "title: " + has_controls);
  const std::string longest = std::string(199, 'x') + "\u00e9";
  EXPECT_EQ(refusal(&Options::metric, longest), "(no error)");
  EXPECT_TRUE(
      refusal(&Options::metric, longest + "x").ends_with("has 201 characters, a name has at most 200"));
  const Options options = resolved({}, example_steps());
  Variant variant;
  variant.name = forged;
  EXPECT_EQ(test_support::input_error([&] {
              (void)certify(options, {{variant, runs::Tally(tally_spec(options, example_steps().front()))}});
            }),
            "names: " + has_controls);
}

TEST(Names, AreOneLineOfLimitedLengthWhenVerifying) {
  const auto findings = [](const auto& change) {
    Certificate certificate = example_certificate({});
    change(certificate);
    const Verification found = verify(parse_certificate(to_json(certificate)));
    return fmt::format("{}", fmt::join(found.findings, "; "));
  };
  EXPECT_EQ(findings([](Certificate&) {}), "");
  EXPECT_TRUE(
      findings([](Certificate& c) { c.metric = "a\nb"; }).starts_with("declared: metric: 'a\\nb' has"));
  EXPECT_TRUE(findings([](Certificate& c) { c.unit = "\x1b"; }).starts_with("declared: unit: "));
  EXPECT_TRUE(
      findings([](Certificate& c) { c.title = std::string(201, 'x'); }).starts_with("declared: title: "));
  EXPECT_TRUE(
      test::contains(findings([](Certificate& c) { c.variants[0].name = "a\tb"; }), "name: 'a\\tb' has"));
}

TEST(Claims, SpendTheWholeBudgetAndNoMore) {
  for (const Options& options : kinds_of_options()) {
    if (options.simultaneous == Simultaneity::each) continue;
    const Certificate certificate = example_certificate(options);
    double spent = 0;
    for (const Share& share : certificate.shares)
      spent += static_cast<double>(share.claims) * share.delta_each;
    EXPECT_NEAR(spent, 0.01, 1e-12);
  }
}

TEST(Claims, AllFailingRunsGiveNoGuaranteeButNoError) {
  Options options = resolved(kinds_of_options().front(), example_steps());
  runs::Tally tally(tally_spec(options, example_steps().front()));
  const std::vector<double> diverged(12, std::nan(""));
  for (int i = 0; i < 50; ++i) tally.add_run(diverged.data());
  const Certificate certificate = certify(options, {{Variant{}, tally}});
  EXPECT_EQ(certificate.variants[0].non_finite_runs, 50);
  for (const SuccessClaim& claim : certificate.success) EXPECT_EQ(claim.lower_bound, 0.0);
  for (const QuantileClaim& claim : certificate.quantile) EXPECT_EQ(claim.upper_bound, infinity);
  for (const BudgetClaim& claim : certificate.budget) EXPECT_FALSE(claim.steps);
  EXPECT_TRUE(verify(parse_certificate(to_json(certificate))).holds());
}

}  // namespace
}  // namespace surefoot::certify
