// Coverage of certificates that are looked at again and again, by somebody who stops at the best moment:
// claims that hold at every number of runs stay true, claims for a fixed number do not.

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/sample_size.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/random.hpp"

#include "coverage/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace surefoot {
namespace {

using test::count_false;
using test::expect_at_most;

constexpr double looked_delta = 0.05;
constexpr Index look_every = 50;
constexpr Index longest = 2000;

/// bound[look][failures] of one method.
class BoundsAtLooks {
 public:
  explicit BoundsAtLooks(bounds::RiskMethod method) {
    for (Index n = look_every; n <= longest; n += look_every) {
      std::vector<double>& at = bounds_.emplace_back();
      // More failures never come up in the simulations below.
      for (Index failures = 0; failures <= std::min<Index>(n, 180); ++failures)
        at.push_back(bounds::risk_upper_bound(failures, n, looked_delta, method));
    }
  }
  [[nodiscard]] double operator()(Index n, Index failures) const {
    return bounds_[static_cast<std::size_t>(n / look_every - 1)].at(static_cast<std::size_t>(failures));
  }

 private:
  std::vector<std::vector<double>> bounds_;
};

/// Somebody looks every 50 runs up to 2,000 and stops at the smallest bound: whether it is ever below the
/// truth.
bool is_false_at_the_best_look(RandomStream& random, double probability, const BoundsAtLooks& bound) {
  Index failures = 0;
  for (Index n = 1; n <= longest; ++n) {
    failures += random.uniform() < probability ? 1 : 0;
    if (n % look_every == 0 && bound(n, failures) < probability) return true;
  }
  return false;
}

TEST(AnytimeCoverage, OfOneWhoLooksEveryFiftyRunsAndStopsAtTheBestMoment) {
  const BoundsAtLooks anytime(bounds::RiskMethod::anytime);
  const BoundsAtLooks fixed(bounds::RiskMethod::exact);
  constexpr Index studies = 20'000;
  for (const double probability : {0.01, 0.05}) {
    const Index wrong = count_false(
        "looks",
        [&](RandomStream& random) { return is_false_at_the_best_look(random, probability, anytime); },
        studies);
    expect_at_most(wrong, looked_delta, studies);
    const Index naive = count_false(
        "looks", [&](RandomStream& random) { return is_false_at_the_best_look(random, probability, fixed); },
        studies);
    RecordProperty(probability < 0.02 ? "anytime at 0.01" : "anytime at 0.05", static_cast<int>(wrong));
    RecordProperty(probability < 0.02 ? "naive at 0.01" : "naive at 0.05", static_cast<int>(naive));
    // The naive way is wrong about one time in five, not in twenty.
    EXPECT_GT(static_cast<double>(naive), 0.15 * static_cast<double>(studies)) << probability;
    EXPECT_LT(static_cast<double>(naive), 0.27 * static_cast<double>(studies)) << probability;
  }
}

// Quantiles by order statistics: whether the r-th smallest is ever below the true quantile.
TEST(AnytimeCoverage, OfQuantilesAtEveryNumberOfRuns) {
  constexpr double quantile = 0.9;
  constexpr Index runs = 300;
  constexpr Index studies = 20'000;
  for (const bounds::RiskMethod method : {bounds::RiskMethod::anytime, bounds::RiskMethod::exact}) {
    std::vector<Index> ranks{0};
    for (Index n = 1; n <= runs; ++n)
      ranks.push_back(bounds::rank_of_method(n, quantile, looked_delta, method));
    const Index wrong = count_false(
        "quantiles",
        [&](RandomStream& random) {
          Index below = 0;  // the quantile of uniform numbers is 0.9
          for (Index n = 1; n <= runs; ++n) {
            below += random.uniform() < quantile ? 1 : 0;
            const Index rank = ranks[static_cast<std::size_t>(n)];
            if (rank > 0 && below >= rank) return true;
          }
          return false;
        },
        studies);
    if (method == bounds::RiskMethod::anytime) {
      expect_at_most(wrong, looked_delta, studies);
    } else {
      EXPECT_GT(static_cast<double>(wrong), 2 * looked_delta * static_cast<double>(studies))
          << "the naive way";
    }
  }
}

/// Whole certificates of runs of two steps, with all kinds of claims: whether any claim at any look is false.
TEST(AnytimeCoverage, OfWholeCertificatesAtEveryLook) {
  certify::Options options;
  options.risk_method = bounds::RiskMethod::anytime;
  options.delta = 0.2;
  options.tolerances = {0.3, 0.8};
  options.quantiles = {0.5, 0.9};
  options = certify::resolved(options, {{1, 2}});
  const runs::TallySpec spec = certify::tally_spec(options, {1, 2});
#ifdef SUREFOOT_SANITIZED
  constexpr Index studies = 40;
#else
  constexpr Index studies = 300;
#endif
  // phi_1 = u, phi_2 = u v with uniform u, v: P(phi_1 < t) = t, P(phi_2 < t) = t - t log t.
  const auto truth = [](Index step, double t) {
    if (t >= 1) return 1.0;
    return step == 1 ? t : t - t * std::log(t);
  };
  const Index wrong = count_false(
      "whole anytime certificates",
      [&](RandomStream& random) {
        runs::Tally tally(spec);
        for (Index n = 1; n <= 240; ++n) {
          const double u = random.uniform();
          const std::vector<double> run{u, u * random.uniform()};
          tally.add_run(run.data());
          if (n % 20 != 0) continue;
          certify::Variant variant;
          variant.name = "runs";
          const certify::Certificate certificate = certify::certify(options, {{variant, tally}});
          for (const certify::SuccessClaim& claim : certificate.success)
            if (claim.lower_bound > truth(claim.step, claim.tolerance)) return true;
          for (const certify::QuantileClaim& claim : certificate.quantile)
            if (truth(claim.step, claim.upper_bound) < claim.quantile) return true;
          // phi_2 <= phi_1: settled by step 1 if phi_1 is below, by step 2 if phi_2 is.
          for (const certify::BudgetClaim& claim : certificate.budget)
            if (claim.steps && truth(*claim.steps, claim.tolerance) < claim.quantile) return true;
        }
        return false;
      },
      studies);
  expect_at_most(wrong, options.delta, studies);
  RecordProperty("false", static_cast<int>(wrong));
}

/// Runs are made until the claim holds, whatever the truth; where it is false, it must rarely come to hold.
TEST(AnytimeCoverage, OfRunningUntilAFalseClaimHolds) {
  constexpr double share = 0.9;
  constexpr Index studies = 20'000;
  constexpr Index cap = 1000;
  // Just false: 10.001 % fail.
  std::vector<Index> needed;  // runs, by failures
  while (needed.empty() || needed.back() <= cap)
    needed.push_back(bounds::samples_needed_looking(static_cast<Index>(needed.size()), share, looked_delta));
  const auto ever_holds = [&](RandomStream& random) {
    std::size_t failures = 0;
    for (Index n = 1; n <= cap && failures < needed.size(); ++n) {
      failures += random.uniform() < 0.10001 ? 1 : 0;
      if (failures < needed.size() && n >= needed[failures]) return true;
    }
    return false;
  };
  const Index wrong = count_false("until", ever_holds, studies);
  expect_at_most(wrong, looked_delta, studies);
  EXPECT_GT(wrong, studies / 100) << "a test that cannot fail";
}

}  // namespace
}  // namespace surefoot
