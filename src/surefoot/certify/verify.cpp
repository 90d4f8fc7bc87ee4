#include "surefoot/certify/verify.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/consistency.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/verify_learned.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/sha256.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace surefoot::certify {

namespace {

using bounds::BudgetMethod;
using bounds::QuantileMethod;

template <class T>
bool holds_value(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The options that make the same claims; recounting fills them in again.
Options options_of(const Certificate& certificate) {
  Options options;
  options.delta = certificate.delta;
  options.simultaneous = certificate.simultaneous;
  options.success_rates = !certificate.success.empty();
  options.quantiles_claimed = !certificate.quantile.empty();
  options.budgets = !certificate.budget.empty();
  options.tolerances = certificate.tolerances;
  options.quantiles = certificate.quantiles;
  options.steps = certificate.steps;
  options.risk_method = certificate.grid_method;
  options.grid = certificate.grid;
  options.quantile_method = certificate.grid.empty() ? QuantileMethod::exact : QuantileMethod::grid;
  if (options.budgets) options.budget_method = certificate.budget.front().method;
  options.value_limit = certificate.value_limit;
  return options;
}

template <class T>
bool strictly_increasing(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(), [](T a, T b) { return !(a < b); }) == values.end();
}

class Checker {
 public:
  Checker(const Certificate& certificate, Verification& result)
      : certificate_(certificate), result_(result), pac_bayes_(is_pac_bayes(certificate)) {}

  void check_all() {
    check_declarations();
    for (std::size_t i = 0; i < certificate_.variants.size(); ++i) check_variant(i);
    const std::vector<std::string> unfit = check_learned_variants(certificate_);
    result_.findings.insert(result_.findings.end(), unfit.begin(), unfit.end());
    if (pac_bayes_ && !unfit.empty()) return;  // claims without a sound guarantee mean nothing
    check_completeness();
    check_assumptions();
    check_shares();
    const std::vector<std::string> unproven = wrong_in_worst_case(certificate_);
    result_.findings.insert(result_.findings.end(), unproven.begin(), unproven.end());
    if (pac_bayes_) check_counts_agree();
    for (std::size_t i = 0; i < certificate_.success.size(); ++i) {
      claim(fmt::format("success rate claim {}", i), [&] { check(certificate_.success[i]); });
    }
    for (std::size_t i = 0; i < certificate_.quantile.size(); ++i) {
      claim(fmt::format("quantile claim {}", i), [&] { check(certificate_.quantile[i]); });
    }
    for (std::size_t i = 0; i < certificate_.budget.size(); ++i) {
      claim(fmt::format("iteration budget claim {}", i), [&] { check(certificate_.budget[i]); });
    }
  }

 private:
  // A claim holds if its check neither throws nor finds anything.
  template <class Check>
  void claim(std::string place, Check&& run) {
    place_ = std::move(place);
    const std::size_t before = result_.findings.size();
    ++result_.claims;
    try {
      run();
    } catch (const InputError& error) {
      finding(error.what());
    }
    if (result_.findings.size() == before) ++result_.claims_that_hold;
  }

  void finding(const std::string& text) { result_.findings.push_back(place_ + ": " + text); }
  void expect(bool condition, const std::string& text) {
    if (!condition) finding(text);
  }

  void check_name(std::string_view what, std::string_view name) {
    const std::string fault = certificate_.format == 1 ? "" : fault_of_name(what, name);
    expect(fault.empty(), fault);
  }

  void check_declarations() {
    place_ = "declared";
    check_name("title", certificate_.title);
    check_name("metric", certificate_.metric);
    check_name("unit", certificate_.unit);
    expect(strictly_increasing(certificate_.steps) && strictly_increasing(certificate_.tolerances) &&
               strictly_increasing(certificate_.quantiles) && strictly_increasing(certificate_.grid),
           "steps, tolerances, quantiles and grid must increase");
    expect(!certificate_.success.empty() || !certificate_.quantile.empty() || !certificate_.budget.empty(),
           "nothing is claimed");
    const bool grid = !certificate_.grid.empty();
    for (const QuantileClaim& claim : certificate_.quantile) {
      if ((claim.method == QuantileMethod::grid) == grid) continue;
      expect(false, "the quantile method does not fit the declared grid");
      break;
    }
    std::set<std::tuple<std::size_t, Index, double>> success;
    for (const SuccessClaim& claim : certificate_.success)
      success.insert({claim.variant, claim.step, claim.tolerance});
    std::set<std::tuple<std::size_t, Index, double>> quantile;
    for (const QuantileClaim& claim : certificate_.quantile)
      quantile.insert({claim.variant, claim.step, claim.quantile});
    std::set<std::tuple<std::size_t, double, double>> budget;
    for (const BudgetClaim& claim : certificate_.budget)
      budget.insert({claim.variant, claim.tolerance, claim.quantile});
    expect(success.size() == certificate_.success.size() && quantile.size() == certificate_.quantile.size() &&
               budget.size() == certificate_.budget.size(),
           "a claim is made twice");
  }

  void check_variant(std::size_t index) {
    const Variant& variant = certificate_.variants[index];
    place_ = fmt::format("variant '{}'", variant.name);
    check_name("name", variant.name);
    expect(variant.sha256.empty() || io::is_sha256_hex(variant.sha256), "its digest is not one");
    expect(variant.samples >= 1, fmt::format("{} samples", variant.samples));
    const Index runs = variant.pac_bayes ? variant.pac_bayes->runs : variant.samples;
    expect(variant.non_finite_runs >= 0 && variant.non_finite_runs <= runs,
           fmt::format("{} runs of {} with infinities", variant.non_finite_runs, runs));
    const bool range =
        variant.first_step >= 0 && variant.first_step <= variant.last_step && variant.columns >= 1;
    expect(range,
           fmt::format("{} steps from {} to {}", variant.columns, variant.first_step, variant.last_step));
    if (range) check_recorded_steps(variant);
    if (variant.independence) {
      expect(certificate_.run != "null" || variant.independence->of == "table",
             "what was looked at for dependence are the rows of its table");
      for (const std::string& text : variant.independence->contradictions(variant.samples)) finding(text);
    }
    expect(certificate_.value_limit >= 0, "its limit of exact values is negative");
    expect(variant.values_rounded_up == rounds_values(index),
           "whether its values are rounded up does not follow from the number of samples");
  }

  void check_recorded_steps(const Variant& variant) {
    const Index span = variant.last_step - variant.first_step;  // no overflow: both are nonnegative
    if (variant.recorded_steps.empty()) {
      // Format 1 does not say which steps of the range were recorded.
      const bool fits = certificate_.format == 1 ? variant.columns - 1 <= span : variant.columns - 1 == span;
      expect(fits,
             fmt::format("{} steps from {} to {}", variant.columns, variant.first_step, variant.last_step));
      return;
    }
    const std::vector<Index>& steps = variant.recorded_steps;
    expect(static_cast<Index>(steps.size()) == variant.columns && strictly_increasing(steps) &&
               steps.front() == variant.first_step && steps.back() == variant.last_step,
           "its recorded steps are not those of its columns");
  }

  // Values are rounded up where more would be kept than the limit: a function of the sizes alone.
  [[nodiscard]] bool rounds_values(std::size_t index) const {
    if (certificate_.quantiles.empty() || !certificate_.grid.empty()) return false;
    const auto claims = std::ranges::count_if(
        certificate_.quantile, [&](const QuantileClaim& claim) { return claim.variant == index; });
    const Index columns = claims / static_cast<Index>(certificate_.quantiles.size());
    return columns > 0 && certificate_.variants[index].samples > certificate_.value_limit / columns;
  }

  // Every declared claim is made: none can be left out for what it would say.
  void check_completeness() {
    place_ = "claims";
    const auto size = [](const auto& values) { return values.size(); };
    std::size_t at_steps = 0;
    for (const Variant& variant : certificate_.variants) {
      at_steps += static_cast<std::size_t>(std::ranges::count_if(certificate_.steps, [&](Index step) {
        return certificate_.format == 1 || records(variant, step);
      }));
    }
    const auto complete = [&](const char* kind, std::size_t made, std::size_t declared) {
      // Variants of format 1 do not say which of the declared steps they recorded.
      const bool all = certificate_.format == 1 ? made <= declared : made == declared;
      expect(made == 0 || all, fmt::format("{} {} are made, {} are declared", made, kind, declared));
    };
    complete("success rates", size(certificate_.success), at_steps * size(certificate_.tolerances));
    complete("quantiles", size(certificate_.quantile), at_steps * size(certificate_.quantiles));
    complete("iteration budgets", size(certificate_.budget),
             size(certificate_.variants) * size(certificate_.tolerances) * size(certificate_.quantiles));
  }

  // The words that must stand with these claims. Certificates of format 1 may say more.
  void check_assumptions() {
    place_ = "assumptions";
    const std::vector<std::string> needed = assumptions_of(certificate_, certificate_.wording);
    for (const std::string& sentence : needed) {
      expect(holds_value(certificate_.assumptions, sentence), fmt::format("'{}' is missing", sentence));
    }
    expect(certificate_.format == 1 || certificate_.assumptions == needed,
           "they are not the ones that belong to these claims");
  }

  // One grid of bounds at a step serves every quantile there.
  [[nodiscard]] Index paid_quantile_claims() const {
    if (certificate_.grid.empty() || pac_bayes_) return static_cast<Index>(certificate_.quantile.size());
    std::set<std::pair<std::size_t, Index>> places;
    for (const QuantileClaim& claim : certificate_.quantile) places.insert({claim.variant, claim.step});
    return static_cast<Index>(places.size());
  }

  void check_shares() {
    place_ = "confidence";
    expect(certificate_.delta > 0.0 && certificate_.delta < 1.0,
           fmt::format("delta {} is outside (0, 1)", certificate_.delta));
    std::vector<bounds::ConfidenceShare> shares;
    for (const Share& share : certificate_.shares) {
      shares.push_back({share.purpose, share.claims, share.delta_each});
      expect(share.claims >= 1 && share.delta_each > 0.0 && share.delta_each <= certificate_.delta,
             fmt::format("the share '{}' is not within the budget", share.purpose));
    }
    if (certificate_.simultaneous == Simultaneity::all) {
      expect(bounds::spent_confidence(shares) <= certificate_.delta,
             fmt::format("the shares add up to {}, more than the total {}", bounds::spent_confidence(shares),
                         certificate_.delta));
    }
    if (pac_bayes_ && certificate_.simultaneous == Simultaneity::all) {
      const PacBayes& guarantee = *certificate_.variants.front().pac_bayes;
      expect_share(bayes_share_name, guarantee.losses * guarantee.prior_means, guarantee.delta_each);
      expect_share(calibration_share_name, guarantee.losses * guarantee.candidates, guarantee.omega_each);
      return;
    }
    expect_share("success rates", static_cast<Index>(certificate_.success.size()),
                 certificate_.success.empty() ? 0.0 : certificate_.success.front().delta);
    const bool grid = !certificate_.grid.empty() && !pac_bayes_;
    expect_share(grid ? "quantiles (one grid per step)" : "quantiles", paid_quantile_claims(),
                 certificate_.quantile.empty() ? 0.0 : certificate_.quantile.front().delta);
    expect_share("iteration budgets", static_cast<Index>(certificate_.budget.size()),
                 certificate_.budget.empty() ? 0.0 : certificate_.budget.front().delta);
  }

  // Nothing is certified outside the budget: the claims of a kind are those its share pays for.
  void expect_share(const char* purpose, Index claims, double delta) {
    Index paid = 0;
    for (const Share& share : certificate_.shares) {
      if (share.purpose != purpose) continue;
      paid += share.claims;
      expect(share.delta_each == delta,
             fmt::format("the share '{}' gives {} to each claim, the claims take {}", purpose,
                         share.delta_each, delta));
    }
    expect(paid == claims, fmt::format("{} claims of '{}' are paid for, {} are made", paid, purpose, claims));
  }

  template <class Claim>
  bool check_common(const Claim& claim, double kind_delta) {
    if (claim.variant >= certificate_.variants.size()) {
      finding(fmt::format("variant {} does not exist", claim.variant));
      return false;
    }
    const Variant& variant = certificate_.variants[claim.variant];
    const Index counted = variant.pac_bayes ? variant.pac_bayes->runs : variant.samples;
    expect(claim.samples == counted,
           fmt::format("samples {} are not the variant's {}", claim.samples, counted));
    expect(claim.delta <= certificate_.delta, fmt::format("delta {} is more than the total", claim.delta));
    expect(claim.delta == kind_delta,
           fmt::format("delta {} is not that of the other claims, {}", claim.delta, kind_delta));
    return true;
  }

  void check_step(std::size_t variant, Index step) {
    expect(holds_value(certificate_.steps, step), fmt::format("step {} was not declared", step));
    expect(records(certificate_.variants[variant], step), fmt::format("step {} was not recorded", step));
  }

  void check(const SuccessClaim& claim) {
    if (!check_common(claim, certificate_.success.front().delta)) return;
    if (pac_bayes_) expect_union(claim.delta, union_delta(guarantee(claim.variant), 1));
    expect((claim.method == bounds::RiskMethod::pac_bayes) == pac_bayes_,
           "its method does not fit the variant's guarantee");
    expect(claim.method == certificate_.success.front().method, "its method is not that of the other claims");
    expect(claim.method == certificate_.grid_method, "its method is not the declared one");
    check_step(claim.variant, claim.step);
    expect(claim.step != certificate_.variants[claim.variant].last_step ||
               claim.failures >= certificate_.variants[claim.variant].non_finite_runs,
           "fewer runs have failed in the end than have diverged");
    expect(holds_value(certificate_.tolerances, claim.tolerance),
           fmt::format("tolerance {} was not declared", claim.tolerance));
    const double empirical =
        static_cast<double>(claim.samples - claim.failures) / static_cast<double>(claim.samples);
    expect(nearly_equal(empirical, claim.empirical),
           fmt::format("empirical success rate is {}, not {}", empirical, claim.empirical));
    const double bound = known_success_bound(claim);
    expect(nearly_equal(bound, claim.lower_bound),
           fmt::format("{} failures in {} give at least {}, not {}", claim.failures, claim.samples, bound,
                       claim.lower_bound));
  }

  // Claims of one variant and step count the same runs: more of them are below a larger tolerance.
  void check_counts_agree() {
    place_ = "counts";
    std::map<std::pair<std::size_t, Index>, std::map<double, Index>> below;
    const auto add = [&](std::size_t variant, Index step, double tolerance, Index count) {
      const auto [entry, is_new] = below[{variant, step}].try_emplace(tolerance, count);
      expect(is_new || entry->second == count,
             fmt::format("two claims count differently below {} at step {}", tolerance, step));
    };
    for (const SuccessClaim& claim : certificate_.success)
      add(claim.variant, claim.step, claim.tolerance, claim.samples - claim.failures);
    for (const QuantileClaim& claim : certificate_.quantile)
      if (claim.upper_bound < infinity) add(claim.variant, claim.step, claim.upper_bound, claim.below);
    for (const auto& [place, counts] : below) {
      Index before = 0;
      for (const auto& [tolerance, count] : counts) {
        expect(before <= count,
               fmt::format("fewer runs are below {} at step {} than below a smaller tolerance", tolerance,
                           place.second));
        before = count;
      }
    }
  }

  // The delta of a PAC-Bayes claim is what its losses, prior means and candidates cost.
  void expect_union(double stated, double delta) {
    expect(nearly_equal(stated, delta), fmt::format("its losses cost a delta of {}, not {}", delta, stated));
  }

  [[nodiscard]] const PacBayes& guarantee(std::size_t variant) const {
    return *certificate_.variants[variant].pac_bayes;
  }

  // Risk of claims by methods grid and paper, and by PAC-Bayes.
  [[nodiscard]] double risk_of(std::size_t variant, Index failures, Index samples, double delta) const {
    if (pac_bayes_) return learned_risk(guarantee(variant), failures);
    return bounds::risk_upper_bound(failures, samples, delta, certificate_.grid_method);
  }

  double known_success_bound(const SuccessClaim& claim) {
    if (pac_bayes_) return learned_success(learned_risk(guarantee(claim.variant), claim.failures));
    const auto key = std::make_tuple(claim.failures, claim.samples, claim.delta, claim.method);
    const auto found = success_bounds_.find(key);
    if (found != success_bounds_.end()) return found->second;
    const double bound =
        bounds::success_lower_bound(claim.failures, claim.samples, claim.delta, claim.method);
    success_bounds_.emplace(key, bound);
    return bound;
  }

  Index known_rank(Index samples, double quantile, double delta) {
    const auto key = std::make_tuple(samples, quantile, delta);
    const auto found = ranks_.find(key);
    if (found != ranks_.end()) return found->second;
    const Index rank = bounds::order_statistic_rank(samples, quantile, delta);
    ranks_.emplace(key, rank);
    return rank;
  }

  void check(const QuantileClaim& claim) {
    if (!check_common(claim, certificate_.quantile.front().delta)) return;
    check_step(claim.variant, claim.step);
    expect(holds_value(certificate_.quantiles, claim.quantile),
           fmt::format("quantile {} was not declared", claim.quantile));
    expect(0 <= claim.below && claim.below <= claim.at_most && claim.at_most <= claim.samples,
           fmt::format("counts {} below and {} at most do not fit {} samples", claim.below, claim.at_most,
                       claim.samples));
    if (claim.method == QuantileMethod::exact) {
      const Index rank = known_rank(claim.samples, claim.quantile, claim.delta);
      expect(rank == claim.rank, fmt::format("the order statistic must be {}, not {}", rank, claim.rank));
      if (rank == 0) {
        expect(claim.upper_bound == infinity, "a bound is stated where none exists");
      } else {
        expect(claim.below < rank && rank <= claim.at_most,
               fmt::format("the stated value is not the {}-th smallest: {} are below, {} at most", rank,
                           claim.below, claim.at_most));
      }
      return;
    }
    expect(claim.rank == 0 && claim.below == claim.at_most, "a quantile of a grid has no order statistic");
    if (pac_bayes_) {
      expect_union(claim.delta,
                   union_delta(guarantee(claim.variant), static_cast<Index>(certificate_.grid.size())));
    }
    if (claim.upper_bound == infinity) return;
    expect(holds_value(certificate_.grid, claim.upper_bound),
           fmt::format("{} is not a tolerance of the grid", claim.upper_bound));
    const double delta_each = bounds::grid_share(claim.delta, certificate_.grid.size());
    const double risk = risk_of(claim.variant, claim.samples - claim.below, claim.samples, delta_each);
    expect(bounds::covers(risk, claim.quantile),
           fmt::format("{} of {} below give a risk of {}, not at most 1 - {}", claim.below, claim.samples,
                       risk, claim.quantile));
  }

  void check(const BudgetClaim& claim) {
    if (!check_common(claim, certificate_.budget.front().delta)) return;
    expect(claim.method == certificate_.budget.front().method, "its method is not that of the other claims");
    const Variant& variant = certificate_.variants[claim.variant];
    expect(!claim.steps || records(variant, *claim.steps),
           fmt::format("step {} was not recorded", claim.steps.value_or(0)));
    expect(holds_value(certificate_.tolerances, claim.tolerance),
           fmt::format("tolerance {} was not declared", claim.tolerance));
    expect(holds_value(certificate_.quantiles, claim.quantile),
           fmt::format("quantile {} was not declared", claim.quantile));
    expect(0 <= claim.reached && claim.reached <= claim.samples && claim.reached_before >= 0 &&
               claim.reached_before <= claim.samples,
           fmt::format("counts {} and {} do not fit {} samples", claim.reached, claim.reached_before,
                       claim.samples));
    if (claim.method == BudgetMethod::paper) {
      expect(claim.rank == 0, "a budget by method paper has no order statistic");
      if (!claim.steps) return;
      const double risk = bounds::risk_upper_bound(claim.samples - claim.reached, claim.samples, claim.delta,
                                                   certificate_.grid_method);
      expect(bounds::covers(risk, claim.quantile),
             fmt::format("{} of {} give a risk of {}, not at most 1 - {}", claim.reached, claim.samples, risk,
                         claim.quantile));
      return;
    }
    if (pac_bayes_) {
      check_learned_budget(claim);
      return;
    }
    const Index rank = known_rank(claim.samples, claim.quantile, claim.delta);
    expect(rank == claim.rank, fmt::format("the order statistic must be {}, not {}", rank, claim.rank));
    const bool reached = rank > 0 && claim.reached >= rank && claim.reached_before < rank;
    if (claim.steps) {
      expect(reached, fmt::format("{} of {} reach it by step {} and {} before: that is not the {}-th",
                                  claim.reached, claim.samples, *claim.steps, claim.reached_before, rank));
    } else {
      expect(rank == 0 || claim.reached < rank, "no budget is stated although the counts give one");
    }
  }

  void check_learned_budget(const BudgetClaim& claim) {
    expect(claim.method == BudgetMethod::settling && claim.rank == 0,
           "budgets by PAC-Bayes settle and have no rank");
    expect_union(claim.delta,
                 union_delta(guarantee(claim.variant), certificate_.variants[claim.variant].columns));
    const auto enough = [&](Index reached) {
      return bounds::covers(risk_of(claim.variant, claim.samples - reached, claim.samples, claim.delta),
                            claim.quantile);
    };
    if (claim.steps) {
      expect(enough(claim.reached), fmt::format("{} of {} that reach it by step {} are not enough",
                                                claim.reached, claim.samples, *claim.steps));
      expect(!enough(claim.reached_before), "an earlier step would do");
    } else {
      expect(!enough(claim.reached), "no budget is stated although the counts give one");
    }
  }

  const Certificate& certificate_;
  Verification& result_;
  bool pac_bayes_;
  std::string place_;
  std::map<std::tuple<Index, Index, double, bounds::RiskMethod>, double> success_bounds_;
  std::map<std::tuple<Index, double, double>, Index> ranks_;
};

template <class Claim>
std::vector<Claim> of_variant(const std::vector<Claim>& claims, std::size_t variant) {
  std::vector<Claim> found;
  std::copy_if(claims.begin(), claims.end(), std::back_inserter(found),
               [&](const Claim& claim) { return claim.variant == variant; });
  return found;
}

}  // namespace

Verification verify(const ParsedCertificate& parsed) {
  Verification result;
  if (!parsed.canonical) {
    result.findings.emplace_back("structure: there are fields that do not belong here or contradict others");
  }
  if (parsed.certificate.format > 1 &&
      parsed.statements != statements_of(parsed.certificate, parsed.certificate.wording)) {
    result.findings.emplace_back("statements: they do not say what the claims say");
  }
  if (parsed.recorded_digest != parsed.computed_digest) {
    result.findings.push_back(
        fmt::format("digest: the text has been changed since it was written (digest {}, text {})",
                    parsed.recorded_digest, parsed.computed_digest));
  }
  Checker(parsed.certificate, result).check_all();
  for (std::string& line : contradictions(parsed.certificate)) result.findings.push_back(std::move(line));
  return result;
}

runs::TallySpec recount_spec(const Certificate& certificate, std::vector<Index> recorded_steps) {
  return tally_spec(options_of(certificate), std::move(recorded_steps));
}

void compare_recount(const Certificate& certificate, std::size_t variant, const runs::Tally& tally,
                     const std::string& sha256, Verification& verification) {
  const Variant& stated = certificate.variants.at(variant);
  const auto expect = [&](bool condition, const std::string& text) {
    if (!condition)
      verification.findings.push_back(fmt::format("data of variant '{}': {}", stated.name, text));
  };
  expect(sha256 == stated.sha256,
         fmt::format("SHA-256 is {}, the certificate says {}", sha256, stated.sha256));
  expect(tally.samples() == stated.samples,
         fmt::format("{} rows, the certificate says {}", tally.samples(), stated.samples));
  expect(tally.non_finite_runs() == stated.non_finite_runs,
         fmt::format("{} runs with infinities, the certificate says {}", tally.non_finite_runs(),
                     stated.non_finite_runs));
  const std::vector<Index>& steps = tally.spec().steps;
  expect(static_cast<Index>(steps.size()) == stated.columns && steps.front() == stated.first_step &&
             steps.back() == stated.last_step,
         fmt::format("{} steps {} .. {}, the certificate says {} steps {} .. {}", steps.size(), steps.front(),
                     steps.back(), stated.columns, stated.first_step, stated.last_step));
  expect(stated.recorded_steps.empty() || steps == stated.recorded_steps,
         "its columns are of other steps than the certificate says");
  expect(tally.values_rounded_up() == stated.values_rounded_up,
         "values are rounded where the certificate says otherwise");
  if (tally.samples() != stated.samples) return;

  // Certify the recount with the stated delta of each claim: every count and bound must come out again.
  Options options = options_of(certificate);
  options.simultaneous = Simultaneity::each;
  const auto compare = [&](const char* kind, auto claims_of, const auto& agree) {
    const auto stated_claims = of_variant(certificate.*claims_of, variant);
    if (stated_claims.empty()) return;
    options.delta = stated_claims.front().delta;
    const auto recounted = certify(options, {{Variant{}, tally}}).*claims_of;
    expect(recounted.size() == stated_claims.size(),
           fmt::format("{} {} claims, the certificate has {}", recounted.size(), kind, stated_claims.size()));
    for (std::size_t i = 0; i < std::min(recounted.size(), stated_claims.size()); ++i) {
      const std::string difference = agree(recounted[i], stated_claims[i]);
      expect(difference.empty(), fmt::format("{} claim {}: {}", kind, i, difference));
    }
  };
  compare("success rate", &Certificate::success, [](const SuccessClaim& data, const SuccessClaim& claim) {
    const bool same_claim = data.step == claim.step && data.tolerance == claim.tolerance;
    if (same_claim && data.failures == claim.failures) return std::string();
    return fmt::format("{} failures at step {} and tolerance {}, the certificate says {}", data.failures,
                       data.step, data.tolerance, claim.failures);
  });
  compare("quantile", &Certificate::quantile, [](const QuantileClaim& data, const QuantileClaim& claim) {
    const bool same_claim = data.step == claim.step && data.quantile == claim.quantile;
    if (same_claim && data.below == claim.below && data.at_most == claim.at_most &&
        data.upper_bound == claim.upper_bound && nearly_equal(data.empirical, claim.empirical)) {
      return std::string();
    }
    return fmt::format("quantile {} at step {} is bounded by {}, the certificate says {}", data.quantile,
                       data.step, data.upper_bound, claim.upper_bound);
  });
  compare("iteration budget", &Certificate::budget, [](const BudgetClaim& data, const BudgetClaim& claim) {
    const bool same_claim = data.tolerance == claim.tolerance && data.quantile == claim.quantile;
    if (same_claim && data.steps == claim.steps && data.reached == claim.reached &&
        data.reached_before == claim.reached_before && data.empirical == claim.empirical) {
      return std::string();
    }
    return fmt::format("tolerance {} and quantile {} come out differently", data.tolerance, data.quantile);
  });
}

void compare_rows(const Certificate& certificate, std::size_t variant,
                  const std::vector<std::string>& reading, Independence independence,
                  Verification& verification) {
  const Variant& stated = certificate.variants.at(variant);
  const auto expect = [&](bool condition, const std::string& text) {
    if (!condition)
      verification.findings.push_back(fmt::format("data of variant '{}': {}", stated.name, text));
  };
  expect(
      certificate.format == 1 || reading.empty() || reading == stated.reading,
      fmt::format("it is read thus: {}; the certificate says: {}", fmt::join(reading, "; "),
                  stated.reading.empty() ? "nothing" : fmt::format("{}", fmt::join(stated.reading, "; "))));
  const std::vector<std::string> found = independence.findings();
  const bool allowed = stated.independence && stated.independence->allowed;
  expect(found.empty() || allowed,
         fmt::format("its rows are not independent samples, of which the certificate says nothing: {}",
                     fmt::join(found, "; ")));
  if (!stated.independence || stated.independence->of != independence.of) return;
  independence.allowed = stated.independence->allowed;
  independence.serial.p_value = stated.independence->serial.p_value;  // follow from the counts
  independence.drift.p_value = stated.independence->drift.p_value;
  expect(independence == *stated.independence,
         "what its rows show of dependence is not what the certificate says");
}

}  // namespace surefoot::certify
