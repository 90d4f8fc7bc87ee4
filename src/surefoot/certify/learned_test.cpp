#include "surefoot/certify/learned.hpp"

#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/certify/verify_learned.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/tampering.hpp"
#include "support/toy_learned.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace surefoot::certify {
namespace {

using Json = nlohmann::ordered_json;
using test::collect_numbers;
using test::resealed;
using test::toy_metric;
using test::toy_posterior;
using test::ToyLearned;
using test_support::input_error;

constexpr Index samples = 500;
constexpr Index steps = 3;

std::vector<double> targets(Index count, std::uint64_t seed = 3) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) {
    RandomStream random(seed, "toy targets", static_cast<std::uint64_t>(i));
    values.push_back(1.0 + random.normal());
  }
  return values;
}

struct Toy {
  explicit Toy(Index count = samples) : op(std::vector<Index>(static_cast<std::size_t>(count), 0), 1) {}
  ToyLearned op;
  runs::Metric metric = toy_metric(targets(op.instances()));

  LearnedModel model(const learning::Posterior& posterior, const std::string& name = "") {
    LearnedModel result{op, posterior, metric, steps};
    result.name = name;
    result.source = "toy.safetensors";
    return result;
  }
};

PacBayesOptions example_options() {
  PacBayesOptions options;
  options.claims.tolerances = {0.5, 1.0, 2.0, 4.0};
  options.claims.quantiles = {0.5, 0.8};
  options.claims.metric = "distance";
  options.claims.grid = bounds::log_spaced(0.1, 10.0, 41);
  return resolved(options, recorded_steps(toy_metric({}), steps));
}

Certificate example_certificate(const PacBayesOptions& options = example_options(),
                                const CalibrationOptions& calibration = {}) {
  Toy toy;
  const learning::Posterior close = toy_posterior({0.5}, 1e-3, 500);
  const learning::Posterior wide = toy_posterior({0.4}, 1e-1, 400);
  return certify(options, {calibrate(toy.model(close, "close"), options, calibration),
                           calibrate(toy.model(wide, "wide"), options, calibration)});
}

CalibrationOptions paper_design(Index draws) {
  CalibrationOptions options;
  options.design = Design::paper;
  options.draws = draws;
  return options;
}

Verification verified(const Certificate& certificate) {
  return verify(parse_certificate(to_json(certificate)));
}

TEST(Calibration, CountsWhatAPlainLoopCounts) {
  Toy toy;
  const learning::Posterior posterior = toy_posterior({0.5}, 0.04, 500);
  const PacBayesOptions options = example_options();
  CalibrationOptions calibration;
  calibration.draws = 2;
  calibration.seed = 11;
  const Calibrated counted = calibrate(toy.model(posterior), options, calibration);
  EXPECT_EQ(counted.tally.samples(), 2 * samples);
  const std::vector<double> x = targets(samples);
  for (const Index k : {1, 3}) {
    for (std::size_t g = 0; g < options.claims.grid.size(); g += 10) {
      Index failures = 0;
      for (Index repeat = 0; repeat < 2; ++repeat) {
        for (Index i = 0; i < samples; ++i) {
          RandomStream random(11, stratified_purpose, static_cast<std::uint64_t>(repeat * samples + i));
          const double theta = 0.5 + 0.2 * random.normal();
          double z = 0;
          for (Index step = 0; step < k; ++step) z += theta;
          failures += std::abs(z - x[static_cast<std::size_t>(i)]) >= options.claims.grid[g] ? 1 : 0;
        }
      }
      // A weight is drawn as mean + deviation x normal here and there; equal up to a tie at a tolerance.
      EXPECT_NEAR(static_cast<double>(counted.tally.grid_failures(static_cast<std::size_t>(k), g)),
                  static_cast<double>(failures), 0);
    }
  }
}

TEST(Calibration, DoesNotDependOnThreadsOrParts) {
  const PacBayesOptions options = example_options();
  const std::string two = to_json(example_certificate(options));
  set_threads(1);
  const std::string one = to_json(example_certificate(options));
  set_threads(0);
  EXPECT_EQ(one, two);
}

TEST(Calibration, ThePapersDesignSharesWeightsAmongSamples) {
  // With weights that dwarf the targets, samples that share a weight vector fail together.
  Toy toy(64);
  const learning::Posterior posterior = toy_posterior({0.0}, 1e6, 1);
  PacBayesOptions options = example_options();
  const Calibrated shared = calibrate(toy.model(posterior), options, paper_design(5));
  EXPECT_EQ(shared.tally.samples(), 5 * 64);
  const Index failures = shared.tally.failures(3, 3);
  EXPECT_EQ(failures % 64, 0) << failures;
  EXPECT_EQ(shared.variant.weights->purpose, paper_purpose);
}

TEST(Calibration, RefusesWhatDoesNotFit) {
  Toy toy;
  const PacBayesOptions options = example_options();
  const learning::Posterior two = toy_posterior({0.5, 0.5}, 0.1, 500);
  EXPECT_NE(input_error([&] { calibrate(toy.model(two), options, {}); }), "(no error)");
  learning::Posterior off_grid = toy_posterior({0.5}, 0.1, 500);
  off_grid.gaussians.prior_log_variance[0] += 0.004;
  EXPECT_NE(input_error([&] { calibrate(toy.model(off_grid), options, {}); }), "(no error)");
  const learning::Posterior good = toy_posterior({0.5}, 0.1, 500);
  CalibrationOptions calibration;
  calibration.first = samples;
  EXPECT_NE(input_error([&] { calibrate(toy.model(good), options, calibration); }), "(no error)");
}

TEST(PacBayesClaims, AreThoseOfTheFormulas) {
  const PacBayesOptions options = example_options();
  const Certificate certificate = example_certificate(options);
  ASSERT_EQ(certificate.variants.size(), 2U);
  const PacBayes& guarantee = *certificate.variants[1].pac_bayes;
  // 4 recorded steps x (41 + 4) tolerances + 4 tolerances x 4 steps.
  EXPECT_EQ(guarantee.losses, 4 * 45 + 16);
  EXPECT_EQ(guarantee.prior_means, 1);
  EXPECT_EQ(guarantee.candidates, 2);
  EXPECT_NEAR(guarantee.delta_each, 0.00972 / 2 / 196, 1e-12);
  EXPECT_NEAR(guarantee.omega_each, 0.00972 / 2 / 196 / 2, 1e-12);
  const double lambda = 100 * std::exp(-4.0);
  const double kl = 0.5 * ((0.1 + 0.16) / lambda - 1 + std::log(lambda) - std::log(0.1));
  EXPECT_NEAR(guarantee.kl, kl, 1e-12);
  const double b = (kl + 2 * std::log(400.0) + std::log(std::acos(-1.0) * std::acos(-1.0) / 6) +
                    std::log(2 * std::sqrt(500.0) / guarantee.delta_each)) /
                   500;
  EXPECT_NEAR(guarantee.regularizer, b, 1e-12);
  EXPECT_GE(guarantee.regularizer, b * (1 - 1e-15));
  for (const SuccessClaim& claim : certificate.success) {
    const PacBayes& own = *certificate.variants[claim.variant].pac_bayes;
    const double r_hat = static_cast<double>(claim.failures) / static_cast<double>(claim.samples);
    const double r_bar =
        bounds::kl_inverse(r_hat, std::log(1 / own.omega_each) / static_cast<double>(own.runs));
    EXPECT_NEAR(claim.lower_bound, 1 - bounds::kl_inverse(r_bar, own.regularizer), 1e-12);
    EXPECT_LE(claim.lower_bound, claim.empirical);
  }
}

TEST(PacBayesClaims, FollowFromOneAnother) {
  const Certificate certificate = example_certificate();
  for (const QuantileClaim& claim : certificate.quantile) EXPECT_GE(claim.upper_bound, claim.empirical);
  for (const BudgetClaim& claim : certificate.budget) {
    if (!claim.steps) continue;
    EXPECT_LE(*claim.empirical, *claim.steps);
    // What has settled by then is below at that step.
    for (const SuccessClaim& success : certificate.success) {
      if (success.variant == claim.variant && success.step == *claim.steps &&
          success.tolerance == claim.tolerance) {
        EXPECT_GE(success.lower_bound, claim.quantile - 1e-12);
      }
    }
  }
}

TEST(PacBayesClaims, SpendTheBudgetAndNoMore) {
  const Certificate certificate = example_certificate();
  double spent = 0;
  for (const Share& share : certificate.shares) spent += static_cast<double>(share.claims) * share.delta_each;
  EXPECT_LE(spent, certificate.delta);
  EXPECT_NEAR(spent, certificate.delta, 1e-12);
}

TEST(PacBayesClaims, ThePapersAccountingIsItsNumbers) {
  PacBayesOptions options;
  options.claims.unit = "dB";
  options.claims.tolerances = {0.5, 1};
  options = resolved(paper_accounting(options), recorded_steps(toy_metric({}), steps));
  const Certificate certificate = example_certificate(options, paper_design(3));
  const PacBayes& guarantee = *certificate.variants[0].pac_bayes;
  EXPECT_NEAR(guarantee.delta_each, 1e-5, 1e-18);
  EXPECT_NEAR(guarantee.omega_each, 1e-5, 1e-18);
  EXPECT_NEAR(1 - certificate.success.front().delta, 0.99988, 1e-12);
  EXPECT_NEAR(1 - certificate.quantile.front().delta, 0.99028, 1e-12);
  EXPECT_EQ(certificate.simultaneous, Simultaneity::each);
  EXPECT_TRUE(verified(certificate).holds());
}

TEST(PacBayesClaims, SeveralPriorMeansPayDeltaEach) {
  Toy toy;
  const PacBayesOptions options = example_options();
  learning::Posterior one = toy_posterior({0.5}, 1e-3, 500);
  learning::Posterior two = one;
  two.gaussians.prior_mean[0] = 0.3;
  const Certificate certificate =
      certify(options, {calibrate(toy.model(one), options, {}), calibrate(toy.model(two), options, {})});
  EXPECT_EQ(certificate.variants[0].pac_bayes->prior_means, 2);
  EXPECT_NEAR(certificate.variants[0].pac_bayes->delta_each, 0.00972 / 2 / 196 / 2, 1e-12);
  PacBayesOptions unpaid = options;
  unpaid.prior_means = 1;
  EXPECT_NE(
      input_error([&] {
        certify(unpaid, {calibrate(toy.model(one), options, {}), calibrate(toy.model(two), options, {})});
      }),
      "(no error)");
}

TEST(LearnedCertificate, SurvivesTheWayThroughJsonAndIsVerified) {
  const Certificate stratified = example_certificate();
  PacBayesOptions each = example_options();
  each.claims.simultaneous = Simultaneity::each;
  for (const Certificate& certificate :
       {stratified, example_certificate(each), example_certificate(example_options(), paper_design(4))}) {
    const std::string text = to_json(certificate);
    EXPECT_EQ(to_json(parse_certificate(text).certificate), text);
    const Verification verification = verified(certificate);
    EXPECT_TRUE(verification.holds()) << verification.findings.front();
    EXPECT_EQ(verification.claims, verification.claims_that_hold);
    EXPECT_EQ(verification.claims, 2 * (4 * 4 + 2 * 4 + 4 * 2));
  }
}

bool is_refused(const std::string& text) {
  try {
    return !verify(parse_certificate(text)).holds();
  } catch (const InputError&) {
    return true;
  }
}

TEST(LearnedCertificate, EveryChangedNumberIsFound) {
  const Json body = Json::parse(to_json(example_certificate()));
  std::set<std::string> pointers;
  collect_numbers(body, "", pointers);
  ASSERT_GT(pointers.size(), 500U);
  for (const std::string& pointer : pointers) {
    Json changed = body;
    Json& value = changed.at(Json::json_pointer(pointer));
    value = value.is_number_float() ? Json(std::nextafter(value.get<double>(), 1e300))
                                    : Json(value.get<Index>() + 1);
    EXPECT_TRUE(is_refused(changed.dump())) << pointer;
  }
}

TEST(LearnedCertificate, WhatWouldTightenItIsFoundEvenUnderAFittingDigest) {
  const Json body = Json::parse(to_json(example_certificate()));
  EXPECT_FALSE(is_refused(resealed(body)));
  const auto differs = [&](const std::string& pointer, const Json& value) {
    Json changed = body;
    changed.at(Json::json_pointer(pointer)) = value;
    return is_refused(resealed(changed));
  };
  const std::string g = "/variants/0/pac_bayes/";
  EXPECT_TRUE(differs(g + "kl", 0.0));
  EXPECT_TRUE(differs(g + "regularizer", 1e-4));
  EXPECT_TRUE(differs(g + "positions/0", 1));
  EXPECT_TRUE(differs(g + "groups/0", 2));
  EXPECT_TRUE(differs(g + "samples", 5000));
  EXPECT_TRUE(differs(g + "runs", 50000));
  EXPECT_TRUE(differs(g + "draws", 100));
  EXPECT_TRUE(differs(g + "losses", 1));
  EXPECT_TRUE(differs(g + "candidates", 1));
  EXPECT_TRUE(differs(g + "prior_means", 0));
  EXPECT_TRUE(differs(g + "delta_each", 0.005));
  EXPECT_TRUE(differs(g + "omega_each", 0.005));
  EXPECT_TRUE(differs(g + "design", "paper"));
  EXPECT_TRUE(differs("/variants/0/columns", 2));
  EXPECT_TRUE(differs("/variants/0/weights/sampling", "means"));
  EXPECT_TRUE(differs("/variants/0/weights/count", 10));
  EXPECT_TRUE(differs("/claims/success_rate/5/lower_bound", 0.999));
  EXPECT_TRUE(differs("/claims/success_rate/5/failures", 0));
  EXPECT_TRUE(differs("/claims/success_rate/5/method", "exact"));
  EXPECT_TRUE(differs("/claims/quantile/3/upper_bound", 0.1));
  EXPECT_TRUE(differs("/claims/quantile/3/delta", 0.009));
  EXPECT_TRUE(differs("/confidence/shares/0/claims", 1));
  EXPECT_TRUE(differs("/confidence/delta", 1e-6));
  EXPECT_TRUE(differs("/declared/grid_method", "exact"));
}

TEST(LearnedCertificate, CountsThatNobodyPaysForAreFound) {
  const auto said = [](const Certificate& certificate) {
    const std::vector<std::string> findings = verified(certificate).findings;
    return std::any_of(findings.begin(), findings.end(), [](const std::string& finding) {
      return test::contains(finding, "losses, prior means or candidates are out of range");
    });
  };
  EXPECT_FALSE(said(example_certificate()));
  for (Index PacBayes::*count : {&PacBayes::losses, &PacBayes::prior_means, &PacBayes::candidates}) {
    for (const Index value : {Index{0}, Index{-1}, Index{1'000'000'001}}) {
      Certificate certificate = example_certificate();
      for (Variant& variant : certificate.variants) (*variant.pac_bayes).*count = value;
      EXPECT_TRUE(said(certificate)) << value;
    }
  }
}

TEST(LearnedCertificate, CountsThatDoNotFitTogetherAreRefused) {
  for (Index PacBayes::*count : {&PacBayes::prior_means, &PacBayes::candidates}) {
    Certificate certificate = example_certificate();
    for (Variant& variant : certificate.variants) {
      variant.pac_bayes->losses = most_counted;
      (*variant.pac_bayes).*count = most_counted;
    }
    EXPECT_FALSE(verified(certificate).holds());
  }
  PacBayesOptions options;
  options.candidates = most_candidates + 1;
  EXPECT_INPUT_ERROR(options.validate(), "candidates: 1000000001 is outside 0 .. 1000000000");
  options.candidates = 0;
  options.prior_means = std::numeric_limits<Index>::max();
  EXPECT_INPUT_ERROR(options.validate(), "prior_means: 9223372036854775807 is outside 0 .. 1000000000");
}

TEST(LearnedCertificate, RemovedGuaranteesAreFound) {
  const Json body = Json::parse(to_json(example_certificate()));
  Json bare = body;
  bare["variants"][0].erase("pac_bayes");
  EXPECT_TRUE(is_refused(resealed(bare)));
  for (Json& variant : bare["variants"]) variant.erase("pac_bayes");
  EXPECT_TRUE(is_refused(resealed(bare)));
  Json without = body;
  without["variants"][0].erase("weights");
  EXPECT_TRUE(is_refused(resealed(without)));
  Json silent = body;
  silent["assumptions"] = Json::array();
  EXPECT_TRUE(is_refused(resealed(silent)));
  Json fewer = body;  // dropping the quantiles must not leave their grid unpaid
  fewer["claims"]["quantile"] = Json::array();
  EXPECT_TRUE(is_refused(resealed(fewer)));
}

TEST(LearnedCertificate, OtherWeightsAreFound) {
  const Certificate certificate = example_certificate();
  const learning::Posterior right = toy_posterior({0.5}, 1e-3, 500);
  const auto check = [&](const learning::Posterior& posterior) {
    Verification verification;
    compare_weights(certificate, 0, posterior, learning::posterior_sha256(posterior), verification);
    return verification;
  };
  EXPECT_TRUE(check(right).holds());
  EXPECT_GE(check(toy_posterior({0.6}, 1e-3, 500)).findings.size(), 2U);
  learning::Posterior prior = right;
  prior.gaussians.prior_mean[0] = 0.1;
  EXPECT_GE(check(prior).findings.size(), 3U);
  EXPECT_FALSE(check(toy_posterior({0.5, 0.5}, 1e-3, 500)).holds());
}

TEST(LearnedCertificate, WeightsThatWereNotReadAreChargedAsStatedAndSaidSo) {
  const learning::Posterior posterior = toy_posterior({0.5}, 1e-3, 500);
  const PacBayes known = charge(posterior);
  StatedCharge stated;
  stated.sha256 = learning::posterior_sha256(posterior);
  stated.prior_sha256 = known.prior_sha256;
  stated.groups = known.groups;
  stated.positions = known.positions;
  stated.kl.assign(known.groups.size(), known.kl);
  const PacBayes charged = charge(stated);
  EXPECT_GE(charged.kl, known.kl);
  EXPECT_LE(charged.kl, known.kl * (1 + 1e-12));
  EXPECT_EQ(charged.positions, known.positions);

  Certificate certificate = example_certificate();
  certificate.variants[0].weights->read = false;
  certificate.assumptions = assumptions_of(certificate);
  EXPECT_EQ(certificate.assumptions.size(), example_certificate().assumptions.size() + 1);
  const Certificate back = parse_certificate(to_json(certificate)).certificate;
  EXPECT_FALSE(back.variants[0].weights->read);
  EXPECT_TRUE(back.variants[1].weights->read);
  Verification verification;
  Certificate above = certificate;
  above.variants[0].pac_bayes->kl *= 1 + 1e-9;
  compare_weights(above, 0, posterior, stated.sha256, verification);
  EXPECT_TRUE(verification.holds());
  above.variants[0].pac_bayes->kl = known.kl * (1 - 1e-9);
  compare_weights(above, 0, posterior, stated.sha256, verification);
  EXPECT_FALSE(verification.holds());

  stated.kl[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(input_error([&] { (void)charge(stated); }).find("a KL divergence of nan"), std::string::npos);
  stated.kl.clear();
  EXPECT_NE(input_error([&] { (void)charge(stated); }).find("0 KL divergences"), std::string::npos);
}

TEST(LearnedCertificate, WeightsOfAnotherFamilyAreFound) {
  CalibrationOptions calibration;
  calibration.samples = SampleRange{"f(a=1, b=2)", 7, training_set, 0, samples};
  const Certificate certificate = example_certificate(example_options(), calibration);
  const auto trained_for = [&](const std::map<std::string, std::string>& metadata) {
    learning::Posterior posterior = toy_posterior({0.5}, 1e-3, 500);
    posterior.metadata = metadata;
    Verification verification;
    compare_weights(certificate, 0, posterior, certificate.variants[0].weights->sha256, verification);
    return verification.holds();
  };
  const std::map<std::string, std::string> right{
      {"family", "f"}, {"family.a", "1"}, {"family.b", "2"}, {"family.seed", "7"}, {"model", "toy"}};
  EXPECT_TRUE(trained_for(right));
  for (const char* key : {"family", "family.a", "family.seed"}) {
    std::map<std::string, std::string> other = right;
    other[key] = "8";
    EXPECT_FALSE(trained_for(other)) << key;
  }
  std::map<std::string, std::string> fewer = right;
  fewer.erase("family.b");
  EXPECT_FALSE(trained_for(fewer));
}

TEST(HoldOut, CountsFreshWeightsAndProblems) {
  Toy toy;
  const learning::Posterior posterior = toy_posterior({0.5}, 0.04, 500);
  Options options;
  options.tolerances = {1, 3};
  HoldOutOptions hold_out;
  hold_out.first = 100;
  hold_out.count = 300;
  for (const bool at_means : {false, true}) {
    hold_out.at_means = at_means;
    const Certificate certificate = certify_hold_out(toy.model(posterior), options, hold_out);
    EXPECT_EQ(certificate.variants[0].samples, 300);
    EXPECT_EQ(certificate.variants[0].weights->sampling, at_means ? "means" : "weights");
    const Verification verification = verified(certificate);
    EXPECT_TRUE(verification.holds()) << verification.findings.front();
    EXPECT_EQ(to_json(parse_certificate(to_json(certificate)).certificate), to_json(certificate));
    if (!at_means) continue;
    const std::vector<double> x = targets(samples);
    Index failures = 0;
    for (std::size_t i = 100; i < 400; ++i) failures += std::abs(1.0 - x[i]) >= 1 ? 1 : 0;
    EXPECT_EQ(certificate.success[2].step, 2);
    EXPECT_EQ(certificate.success[2].failures, failures);
  }
}

SampleRange toy_range(const char* set, Index first, Index count) {
  return {"toy(scale=1)", 3, set, first, count};
}

Certificate held_out(Index count) {
  Toy toy;
  Options options;
  options.tolerances = {1, 3};
  HoldOutOptions hold_out;
  hold_out.first = 100;
  hold_out.count = 300;
  hold_out.samples = toy_range(hold_out_set, 100, count);
  return certify_hold_out(toy.model(toy_posterior({0.5}, 0.04, 500)), options, hold_out);
}

bool says(const Certificate& certificate, const std::string& words) {
  return std::ranges::any_of(certificate.assumptions,
                             [&](const std::string& each) { return each.find(words) != std::string::npos; });
}

TEST(Provenance, IsPartOfTheCertificateAndOfWhatItRestsOn) {
  Certificate certificate = held_out(300);
  ASSERT_TRUE(certificate.variants[0].provenance);
  EXPECT_TRUE(says(certificate, "Earlier looks at these samples are unknown."));
  EXPECT_FALSE(says(certificate, "used once"));
  for (const std::optional<Index> looks :
       {std::optional<Index>(), std::optional<Index>(0), std::optional<Index>(3)}) {
    set_provenance(certificate, {{toy_range(hold_out_set, 100, 300), looks}});
    EXPECT_EQ(says(certificate, "unknown"), !looks);
    EXPECT_EQ(says(certificate, "no earlier look"), looks == 0);
    EXPECT_EQ(says(certificate, "looked at 3 times before"), looks == 3);
    EXPECT_EQ(stated_deviations(certificate).size(), looks == 3 ? 1U : 0U);
    const std::string text = to_json(certificate);
    EXPECT_EQ(to_json(parse_certificate(text).certificate), text);
    const Verification verification = verified(certificate);
    EXPECT_TRUE(verification.holds()) << verification.findings.front();
    const Json body = Json::parse(text);
    EXPECT_EQ(body["variants"][0]["provenance"]["first"], 100);
    EXPECT_EQ(std::ranges::count(body["parts"], "provenance"), 1);
  }
  EXPECT_NE(input_error([] { held_out(299); }).find("299 are named, 300 are counted"), std::string::npos);
}

TEST(Provenance, OfPacBayesNamesTheTrainingSamples) {
  CalibrationOptions calibration;
  calibration.samples = toy_range(training_set, 0, samples);
  const Certificate certificate = example_certificate(example_options(), calibration);
  EXPECT_EQ(certificate.variants[1].provenance->range, *calibration.samples);
  EXPECT_FALSE(says(certificate, "arlier look"));
  const Verification verification = verified(certificate);
  EXPECT_TRUE(verification.holds()) << verification.findings.front();
  Json body = Json::parse(to_json(certificate));
  body["variants"][0]["provenance"]["set"] = "hold-out";
  EXPECT_TRUE(is_refused(resealed(body)));
  body = Json::parse(to_json(certificate));
  body["variants"][0]["provenance"]["earlier_looks"] = 0;
  EXPECT_TRUE(is_refused(resealed(body)));
}

TEST(Provenance, ThatDoesNotFitTheCountsOrTheWordsIsFound) {
  Certificate certificate = held_out(300);
  set_provenance(certificate, {{toy_range(hold_out_set, 100, 300), 2}});
  const Json body = Json::parse(to_json(certificate));
  EXPECT_FALSE(is_refused(resealed(body)));
  const auto differs = [&](const char* field, const Json& value) {
    Json changed = body;
    changed["variants"][0]["provenance"][field] = value;
    return is_refused(resealed(changed));
  };
  EXPECT_TRUE(differs("count", 299));
  EXPECT_TRUE(differs("first", -1));
  EXPECT_TRUE(differs("first", std::numeric_limits<Index>::max() - 10));
  EXPECT_TRUE(differs("seed", -1));
  EXPECT_TRUE(differs("set", "training"));
  EXPECT_TRUE(differs("set", "validation"));
  EXPECT_TRUE(differs("set", ""));
  EXPECT_TRUE(differs("family", "file(sha256=ab)"));
  EXPECT_TRUE(differs("earlier_looks", 0)) << "the words say otherwise";
  EXPECT_TRUE(differs("earlier_looks", nullptr));
  EXPECT_TRUE(differs("earlier_looks", -1));
  Json silent = body;
  silent["variants"][0].erase("provenance");
  EXPECT_TRUE(is_refused(resealed(silent)));
}

// Found by an audit: B of a real certificate fell from 0.0795 to 0.0650 when the grid in its weights was
// edited.
TEST(PriorGrid, AnotherThanTheDeclaredOneIsRefusedAndNamed) {
  Toy toy;
  learning::Posterior edited = toy_posterior({0.5}, 1e-3, 500);
  edited.grid.lambda_max = std::exp(edited.gaussians.prior_log_variance.maxCoeff()) * std::exp(0.01);
  learning::round_prior(edited);
  const PacBayesOptions options = example_options();
  const std::string said = input_error([&] { calibrate(toy.model(edited), options, {}); });
  EXPECT_NE(said.find("lambda_max = "), std::string::npos) << said;
  EXPECT_NE(said.find("the declared one has 100 and 100"), std::string::npos) << said;
  edited = toy_posterior({0.5}, 1e-3, 500);
  edited.grid.b = 10;
  learning::round_prior(edited);
  EXPECT_NE(input_error([&] { calibrate(toy.model(edited), options, {}); }).find("b = 10"),
            std::string::npos);

  // A prior mean from other samples may come with its own grid; without them it is a finding by name.
  CalibrationOptions split;
  split.prior_samples = 100;
  const Certificate certificate = certify(options, {calibrate(toy.model(edited), options, split)});
  EXPECT_TRUE(verified(certificate).holds());
  ASSERT_EQ(stated_deviations(certificate).size(), 1U);
  EXPECT_NE(stated_deviations(certificate).front().find("b = 10, not the declared 100, 100"),
            std::string::npos);
  EXPECT_TRUE(stated_deviations(example_certificate()).empty());
  Certificate forged = certificate;
  forged.variants[0].pac_bayes->prior_samples = 0;
  forged.assumptions = assumptions_of(forged);
  const Verification verification = verified(forged);
  ASSERT_FALSE(verification.holds());
  EXPECT_NE(verification.findings.front().find("b = 10, the declared one has 100 and 100"), std::string::npos)
      << verification.findings.front();
}

TEST(SampledOperator, GivesEveryInstanceItsOwnWeightsWhateverTheBlocks) {
  Toy toy(50);
  const learning::Posterior posterior = toy_posterior({0.5}, 0.04, 500);
  const std::vector<double> mean{0.5};
  const std::vector<double> variance{0.04};
  toy.op.assign(mean, variance);
  const SampledOperator op(toy.op, 7, "test purpose", 2);
  runs::RunOptions all;
  all.steps = 1;
  const problems::Table whole = runs::run_iterates(op, {}, all);
  runs::RunOptions part = all;
  part.first = 13;
  part.count = 9;
  const problems::Table some = runs::run_iterates(op, {}, part);
  for (Index i = 0; i < 9; ++i) EXPECT_EQ(some(i, 0), whole(13 + i, 0));
  for (Index i = 0; i < 50; ++i) {
    RandomStream random(7, "test purpose", static_cast<std::uint64_t>(100 + i));
    EXPECT_EQ(whole(i, 0), 0.5 + 0.2 * random.normal());
  }
}

}  // namespace
}  // namespace surefoot::certify
