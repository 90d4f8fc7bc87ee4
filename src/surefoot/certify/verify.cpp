#include "surefoot/certify/verify.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/consistency.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/kinds/claim_checker.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/rollouts.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/certify/verify_learned.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/sha256.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace surefoot::certify {

namespace {

template <class T>
bool holds_value(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

template <class T>
bool strictly_increasing(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(), [](T a, T b) { return !(a < b); }) == values.end();
}

class CertificateCheck {
 public:
  CertificateCheck(const Certificate& certificate, Verification& result)
      : certificate_(certificate), result_(result), checker_(certificate, result) {}

  void check_all() {
    check_declarations();
    for (std::size_t i = 0; i < certificate_.variants.size(); ++i) check_variant(i);
    check_sampling();
    const std::vector<std::string> unfit = check_learned_variants(certificate_);
    result_.findings.insert(result_.findings.end(), unfit.begin(), unfit.end());
    if (checker_.pac_bayes() && !unfit.empty()) return;  // claims without a sound guarantee mean nothing
    check_completeness();
    check_assumptions();
    check_shares();
    const std::vector<std::string> unproven = wrong_in_worst_case(certificate_);
    result_.findings.insert(result_.findings.end(), unproven.begin(), unproven.end());
    for (const std::string& text : wrong_in_shift(certificate_)) result_.findings.push_back(text);
    for (const std::string& text : wrong_in_range(certificate_)) result_.findings.push_back(text);
    for (const std::string& text : wrong_in_loop(certificate_)) result_.findings.push_back(text);
    if (checker_.pac_bayes()) check_counts_agree();
    for (const ClaimKind* kind : claim_kinds()) kind->check(certificate_, checker_);
  }

 private:
  void finding(const std::string& text) { checker_.finding(text); }
  void expect(bool condition, const std::string& text) { checker_.expect(condition, text); }

  void check_name(std::string_view what, std::string_view name) {
    const std::string fault = certificate_.format == 1 ? "" : fault_of_name(what, name);
    expect(fault.empty(), fault);
  }

  void check_declarations() {
    checker_.at("declared");
    check_name("title", certificate_.title);
    check_name("metric", certificate_.metric);
    check_name("unit", certificate_.unit);
    expect(strictly_increasing(certificate_.steps) && strictly_increasing(certificate_.tolerances) &&
               strictly_increasing(certificate_.quantiles) && strictly_increasing(certificate_.grid),
           "steps, tolerances, quantiles and grid must increase");
    expect(!holds_anytime(certificate_) || certificate_.wording >= 3,
           "claims that hold at every number of runs are put in wording 3 or later");
    bool claimed = false;
    bool twice = false;
    for (const ClaimKind* kind : claim_kinds()) {
      expect(kind->size(certificate_) == 0 || kind->can_hold_anytime() || !holds_anytime(certificate_),
             fmt::format("{} hold at one number of runs alone, not at every number", kind->plural()));
      claimed = claimed || kind->size(certificate_) > 0;
      twice = twice || kind->made_twice(certificate_);
    }
    if (certificate_.scalar) check_scalar();
    expect(claimed, "nothing is claimed");
    expect(!twice, "a claim is made twice");
  }

  // One number per problem: one column, without steps and what needs them.
  void check_scalar() {
    const bool one_column = std::ranges::all_of(certificate_.variants, [](const Variant& variant) {
      return variant.columns == 1 && variant.first_step == scalar_step && variant.last_step == scalar_step;
    });
    constexpr int first_wording_of_scalars = 3;
    expect(certificate_.wording >= first_wording_of_scalars, "an older wording has no words for scalars");
    expect(one_column && certificate_.steps == std::vector<Index>{scalar_step}, "a scalar has one column");
    expect(certificate_.budget.empty() && certificate_.grid.empty() && certificate_.worst_case == "null" &&
               !checker_.pac_bayes(),
           "a scalar has no iterations: no budgets, no grid, no worst case, no drawn weights");
  }

  void check_variant(std::size_t index) {
    const Variant& variant = certificate_.variants[index];
    checker_.at(fmt::format("variant '{}'", variant.name));
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
    if (variant.selection) {
      expect(variant.reading == words_of(*variant.selection),
             "how its table was read is not what is selected");
      expect(variant.selection->failed_lines >= 0 && variant.selection->censored >= 0 &&
                 variant.selection->missing_cells >= 0,
             "counts of its lines are negative");
      expect(variant.selection->variants.empty() == variant.selection->variant.empty(),
             "a text that names the variant needs its column");
      expect(variant.selection->steps.empty() == certificate_.scalar,
             "whether its table has steps is not what is certified");
      expect(variant.selection->rows.empty() == variant.independence.has_value(),
             "named problems have no order that could be looked at");
    }
    if (variant.independence) {
      expect(certificate_.run != "null" ||
                 variant.independence->of == (variant.groups           ? Independence::of_groups
                                              : counted_apart(variant) ? Independence::of_tables
                                                                       : "table"),
             "what was looked at for dependence are the rows of its table, or the groups of them");
      for (const std::string& text : variant.independence->contradictions(variant.samples)) finding(text);
    }
    check_appended(variant);
    expect(certificate_.value_limit >= 0, "its limit of exact values is negative");
    expect(variant.values_rounded_up == rounds_values(index),
           "whether its values are rounded up does not follow from the number of samples");
  }

  void check_appended(const Variant& variant) {
    if (variant.appended.empty()) return;
    expect(holds_anytime(certificate_) || counted_apart(variant),
           "rows were added to claims that hold at one number of runs alone");
    std::set<std::string> digests{variant.sha256};
    Index rows = 1;  // of the first table, at least
    for (const AppendedTable& table : variant.appended) {
      expect(io::is_sha256_hex(table.sha256) && digests.insert(table.sha256).second,
             "the digest of an appended table is none, or that of another");
      expect(table.samples >= 1, fmt::format("{} samples were appended", table.samples));
      rows = checked_sum("samples", rows, std::max<Index>(0, table.samples));
    }
    expect(rows <= variant.samples, "more samples were appended than there are in all");
  }

  // Groups of all variants or of none, and kinds that fit.
  void check_sampling() {
    checker_.at("variants");
    const Sampling sampling = sampling_of(certificate_);
    for (const ClaimKind* kind : claim_kinds())
      expect(kind->size(certificate_) == 0 || kind->claimed_of(sampling),
             fmt::format("{} are not claimed of such rows", kind->plural()));
    expect(sampling == Sampling::problems || (certificate_.wording > 2 && !checker_.pac_bayes()),
           "groups and logs have the words of a later certificate, and no drawn weights");
    expect(sampling != Sampling::sequence || (certificate_.quantiles.empty() && certificate_.grid.empty() &&
                                              certificate_.grid_method == bounds::RiskMethod::exact),
           "quantiles and methods are declared, and none is claimed of a log");
    for (const Variant& variant : certificate_.variants) {
      checker_.at(fmt::format("variant '{}'", variant.name));
      expect(variant.groups.has_value() == (sampling == Sampling::groups),
             "either all variants have groups or none has");
      expect(sampling != Sampling::sequence || !variant.independence,
             "ticks of a log are not looked at for dependence");
      if (!variant.groups) continue;
      const Groups& groups = *variant.groups;
      check_name("group", groups.name);
      expect(
          certificate_.variants.front().groups && groups.name == certificate_.variants.front().groups->name,
          "its groups are other ones than those of the first variant");
      // The other samples - 1 groups have at least `fewest` ticks and at most `most`.
      const bool sizes = groups.fewest >= 1 && groups.fewest <= groups.most && groups.most <= groups.ticks &&
                         variant.samples >= 1 && variant.samples <= groups.ticks;
      const bool sum = sizes && groups.ticks / variant.samples >= groups.fewest &&
                       (groups.ticks - 1) / variant.samples < groups.most &&
                       (groups.fewest == groups.most || variant.samples > 1);
      expect(sum, fmt::format("{} groups of {} to {} ticks do not have {} ticks", variant.samples,
                              groups.fewest, groups.most, groups.ticks));
    }
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
    Index columns = 0;
    if (!certificate_.bands.empty()) {
      columns = std::ranges::count_if(
          certificate_.steps, [&](Index step) { return records(certificate_.variants[index], step); });
    } else if (!certificate_.quantiles.empty() && certificate_.grid.empty()) {
      const auto claims = std::ranges::count_if(
          certificate_.quantile, [&](const QuantileClaim& claim) { return claim.variant == index; });
      columns = claims / static_cast<Index>(certificate_.quantiles.size());
    }
    if (certificate_.range && !certificate_.range->thresholds.empty()) {
      const auto claims = std::ranges::count_if(
          certificate_.mean, [&](const MeanClaim& claim) { return claim.variant == index; });
      columns = std::max(columns, claims / static_cast<Index>(certificate_.range->thresholds.size()));
    }
    return columns > 0 && certificate_.variants[index].samples > certificate_.value_limit / columns;
  }

  // Every declared claim is made: none can be left out for what it would say.
  void check_completeness() {
    checker_.at("claims");
    Index at_steps = 0;
    for (const Variant& variant : certificate_.variants) {
      at_steps += std::ranges::count_if(
          certificate_.steps, [&](Index step) { return certificate_.format == 1 || records(variant, step); });
    }
    for (const ClaimKind* kind : claim_kinds()) {
      const Index made = kind->size(certificate_);
      const Index declared = kind->declared(certificate_, at_steps);
      // Variants of format 1 do not say which of the declared steps they recorded.
      const bool all = certificate_.format == 1 ? made <= declared : made == declared;
      expect(made == 0 || all,
             fmt::format("{} {} are made, {} are declared", made, kind->plural(), declared));
    }
  }

  // The words that must stand with these claims. Certificates of format 1 may say more.
  void check_assumptions() {
    checker_.at("assumptions");
    const std::vector<std::string> needed = assumptions_of(certificate_, certificate_.wording);
    for (const std::string& sentence : needed) {
      expect(holds_value(certificate_.assumptions, sentence), fmt::format("'{}' is missing", sentence));
    }
    expect(certificate_.format == 1 || certificate_.assumptions == needed,
           "they are not the ones that belong to these claims");
  }

  void check_shares() {
    checker_.at("confidence");
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
    if (checker_.pac_bayes() && certificate_.simultaneous == Simultaneity::all) {
      const PacBayes& guarantee = *certificate_.variants.front().pac_bayes;
      expect_share(bayes_share_name, checked_product("losses", guarantee.losses, guarantee.prior_means),
                   guarantee.delta_each);
      expect_share(calibration_share_name, checked_product("losses", guarantee.losses, guarantee.candidates),
                   guarantee.omega_each);
      return;
    }
    for (const ClaimKind* kind : claim_kinds())
      expect_share(kind->purpose(certificate_), kind->paid_claims(certificate_), kind->delta(certificate_));
  }

  // Nothing is certified outside the budget: the claims of a kind are those its share pays for.
  void expect_share(std::string_view purpose, Index claims, double delta) {
    Index paid = 0;
    for (const Share& share : certificate_.shares) {
      if (share.purpose != purpose) continue;
      paid = checked_sum("shares", paid, share.claims);
      expect(share.delta_each == delta,
             fmt::format("the share '{}' gives {} to each claim, the claims take {}", purpose,
                         share.delta_each, delta));
    }
    expect(paid == claims,
           fmt::format("the confidence covers {} claims of '{}', {} are made", paid, purpose, claims));
  }

  // Claims of one variant and step count the same runs: more of them are below a larger tolerance.
  void check_counts_agree() {
    checker_.at("counts");
    std::map<std::pair<std::size_t, Index>, std::map<double, Index>> below;
    const auto add = [&](std::size_t variant, Index step, double tolerance, Index count) {
      const auto [entry, is_new] = below[{variant, step}].try_emplace(tolerance, count);
      expect(is_new || entry->second == count,
             fmt::format("two claims count differently below {} at step {}", tolerance, step));
    };
    for (const ClaimKind* kind : claim_kinds())
      for (const CountBelow& count : kind->counts_below(certificate_))
        add(count.variant, count.step, count.tolerance, count.runs);
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

  const Certificate& certificate_;
  Verification& result_;
  ClaimChecker checker_;
};

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
  CertificateCheck(parsed.certificate, result).check_all();
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
  expect(tally.samples() == stated.samples, fmt::format("{} {}, the certificate says {}", tally.samples(),
                                                        stated.groups ? "groups" : "rows", stated.samples));
  if (stated.groups)
    expect(tally.ticks() == stated.groups->ticks && tally.fewest_ticks() == stated.groups->fewest &&
               tally.most_ticks() == stated.groups->most,
           fmt::format("{} ticks, {} to {} in a group, the certificate says {}, {} to {}", tally.ticks(),
                       tally.fewest_ticks(), tally.most_ticks(), stated.groups->ticks, stated.groups->fewest,
                       stated.groups->most));
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

  for (const ClaimKind* kind : claim_kinds()) {
    for (const std::string& difference : kind->recount(certificate, variant, tally))
      expect(false, difference);
  }
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
  if (sampling_of(certificate) == Sampling::sequence) return;  // ticks of a log may depend on each other
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

ParsedCertificate read_held_certificate(const std::string& path) {
  constexpr std::size_t largest = std::size_t{256} << 20;
  ParsedCertificate parsed = [&] {
    try {
      return parse_certificate(io::read_file(path, largest));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", path, error.what()));
    }
  }();
  const Verification verification = verify(parsed);
  if (!verification.holds()) {
    throw Refuted(fmt::format(
        "{}: this certificate does not hold as recomputed from its counts (see surefoot verify): {}", path,
        verification.findings.front()));
  }
  return parsed;
}

}  // namespace surefoot::certify
