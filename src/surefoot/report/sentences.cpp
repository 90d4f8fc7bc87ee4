#include "surefoot/report/sentences.hpp"

#include "surefoot/report/format.hpp"
#include "surefoot/report/series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::report {
namespace {

using bounds::BudgetMethod;
using certify::BudgetClaim;
using certify::Certificate;
using certify::Simultaneity;

constexpr std::size_t quoted_tolerances = 4;
constexpr std::size_t longest_exact_tolerance = 8;
constexpr double least_quoted = 0.01;  ///< below it, a share is not worth a sentence

constexpr const char* about_fresh_problems =
    "It speaks of a fresh problem, drawn from the same distribution as the samples and independently of "
    "them. "
    "\"At least 90 % of problems\" means: with probability at least 0.9, a fresh problem is one of these.";
constexpr const char* about_other_distributions =
    "Nothing about problems from another distribution: if the family changes (size, scaling, noise, season), "
    "take new samples.";
constexpr const char* about_chosen_samples =
    "Nothing if the samples were chosen, filtered, or used to tune the optimizer: they must be independent "
    "draws that the optimizer has not seen.";

constexpr const char* about_drawn_weights =
    "The optimizer is a stochastic one: it draws its weights from the trained posterior anew for every "
    "problem, and shares are over weights and problems together.";
constexpr const char* about_pac_bayes =
    "It is made from the samples that the optimizer was trained on. What it may have learned by heart from "
    "them is paid for: the further the posterior is from the prior (KL), the weaker the claims.";
constexpr const char* about_fixed_weights =
    "Nothing about one draw of the weights that is kept for all problems, nor about the network at its "
    "means.";
constexpr const char* about_chosen_priors =
    "Nothing if the prior, the scaling of inputs or what is claimed was chosen with an eye on these samples, "
    "or if the count was repeated until it pleased.";

std::string after(Index step) {
  if (step == 0) return "at the start";
  return fmt::format("after {} iteration{}", count_label(step), step == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts.front();
  return fmt::format("{} and {}", fmt::join(parts.begin(), parts.end() - 1, ", "), parts.back());
}

bool is_covered(const BudgetClaim& claim) {
  return claim.method != BudgetMethod::paper;
}

/// The covered budget of the largest quantile that says something.
const BudgetClaim* best_budget(const Certificate& certificate, std::size_t variant, double tolerance) {
  const BudgetClaim* best = nullptr;
  for (const BudgetClaim& claim : certificate.budget) {
    const bool fits = claim.variant == variant && claim.tolerance == tolerance && is_covered(claim);
    if (fits && claim.steps && (best == nullptr || claim.quantile > best->quantile)) best = &claim;
  }
  return best;
}

std::string budget_sentence(const Certificate& certificate, const BudgetClaim& claim) {
  const std::string share = percent_label(claim.quantile);
  const std::string tolerance = with_unit(certificate, exact_label(claim.tolerance));
  if (claim.method == BudgetMethod::first_hit) {
    return fmt::format("at least {} of problems have been below {} at least once {}", share, tolerance,
                       after(*claim.steps));
  }
  if (claim.method == BudgetMethod::every_step) {
    return fmt::format("at least {} of problems are below {} {} and at each later iteration", share,
                       tolerance, after(*claim.steps));
  }
  return fmt::format("at least {} of problems are below {} {} and stay there", share, tolerance,
                     after(*claim.steps));
}

struct Share {
  double tolerance = 0;
  double bound = 0;
};

/// Success rates at a step, without those that a stricter tolerance with the same printed bound makes idle.
std::vector<Share> shares_to_quote(const Certificate& certificate, std::size_t variant,
                                   const std::vector<double>& tolerances, Index step) {
  std::vector<Share> shares;
  for (const Series& series : success_series(certificate)) {
    const Series::Point* point = series.at(step);
    const bool fits = series.variant == variant && point != nullptr && point->certified >= least_quoted &&
                      std::ranges::count(tolerances, series.parameter) > 0;
    if (fits) shares.push_back({series.parameter, point->certified});
  }
  const std::vector<Share> all = shares;
  std::erase_if(shares, [&](const Share& share) {
    return std::ranges::any_of(all, [&](const Share& other) {
      return other.tolerance < share.tolerance &&
             lower_bound_percent(other.bound) == lower_bound_percent(share.bound);
    });
  });
  return shares;
}

std::string quotable_opening(const Certificate& certificate) {
  const std::string confidence = confidence_label(certificate.delta);
  return certificate.simultaneous == Simultaneity::each
             ? fmt::format("With confidence {} for this claim alone, ", confidence)
             : fmt::format("With confidence {}, ", confidence);
}

/// The covered budget of the largest share, then of the fewest steps, of any variant.
const BudgetClaim* best_budget(const Certificate& certificate, double tolerance) {
  const BudgetClaim* best = nullptr;
  for (std::size_t variant = 0; variant < certificate.variants.size(); ++variant) {
    const BudgetClaim* own = best_budget(certificate, variant, tolerance);
    if (own == nullptr) continue;
    if (best == nullptr || own->quantile > best->quantile ||
        (own->quantile == best->quantile && *own->steps < *best->steps))
      best = own;
  }
  return best;
}

/// The quantile bound of the largest share, then the smallest one, at the last step.
const certify::QuantileClaim* best_quantile(const Certificate& certificate) {
  const certify::QuantileClaim* best = nullptr;
  if (certificate.steps.empty()) return best;
  const Index last = std::ranges::max(certificate.steps);
  for (const certify::QuantileClaim& claim : certificate.quantile) {
    if (claim.step != last || !(claim.upper_bound < infinity)) continue;
    if (best == nullptr || claim.quantile > best->quantile ||
        (claim.quantile == best->quantile && claim.upper_bound < best->upper_bound))
      best = &claim;
  }
  return best;
}

/// "after 500 iterations, at least 99.3 % of problems are below 1e-2, 98.1 % below 1e-3 and 34.2 % below
/// 1e-6": one sentence if all hold together, otherwise one for each.
std::vector<std::string> success_sentences(const Certificate& certificate, const std::vector<Share>& shares,
                                           Index step) {
  const bool together = certificate.simultaneous == Simultaneity::all;
  std::vector<std::string> parts;
  parts.reserve(shares.size());
  for (const Share& share : shares) {
    parts.push_back(fmt::format("{} {}below {}", lower_bound_percent(share.bound),
                                parts.empty() || !together ? "of problems are " : "",
                                with_unit(certificate, exact_label(share.tolerance))));
  }
  if (together && !parts.empty()) parts = {listed(parts)};
  for (std::string& part : parts) part = fmt::format("{}, at least {}", after(step), part);
  return parts;
}

std::string quantile_sentence(const Certificate& certificate, std::size_t variant, Index step) {
  double share = 0;
  double bound = infinity;
  for (const Series& series : quantile_series(certificate)) {
    const Series::Point* point = series.at(step);
    if (series.variant != variant || point == nullptr || !(point->certified < infinity)) continue;
    if (series.parameter < share) continue;
    share = series.parameter;
    bound = point->certified;
  }
  if (!(bound < infinity)) return "";
  return fmt::format("{}, at least {} of problems are at or below {}", after(step), percent_label(share),
                     with_unit(certificate, upper_bound_value(bound)));
}

std::vector<std::string> claims_to_quote(const Certificate& certificate, std::size_t variant) {
  const std::vector<double> tolerances = telling_values(certificate.tolerances, quoted_tolerances);
  std::vector<std::string> claims;
  for (const double tolerance : tolerances) {
    const BudgetClaim* budget = best_budget(certificate, variant, tolerance);
    if (budget != nullptr) claims.push_back(budget_sentence(certificate, *budget));
  }
  if (!certificate.steps.empty()) {
    const Index last = std::ranges::max(certificate.steps);
    const std::vector<Share> shares = shares_to_quote(certificate, variant, tolerances, last);
    for (std::string& sentence : success_sentences(certificate, shares, last))
      claims.push_back(std::move(sentence));
    claims.push_back(quantile_sentence(certificate, variant, last));
  }
  std::erase(claims, "");
  if (claims.empty()) claims.emplace_back("no guarantee from these samples");
  return claims;
}

bool says_nothing_somewhere(const Certificate& certificate) {
  return std::ranges::any_of(certificate.success, [](const auto& c) { return !(c.lower_bound > 0); }) ||
         std::ranges::any_of(certificate.quantile,
                             [](const auto& c) { return !(c.upper_bound < infinity); }) ||
         std::ranges::any_of(certificate.budget, [](const auto& c) { return !c.steps; });
}

bool has_budgets(const Certificate& certificate, BudgetMethod method) {
  return std::ranges::any_of(certificate.budget, [method](const auto& c) { return c.method == method; });
}

std::string confidence_sentence(const Certificate& certificate) {
  return fmt::format(
      "The confidence {} is over the draw of the samples: were the whole study repeated many times with "
      "fresh "
      "samples, at least this share of the resulting certificates would be {}.",
      confidence_label(certificate.delta),
      certificate.simultaneous == Simultaneity::all ? "right in every claim"
                                                    : "right in any one given claim");
}

std::string simultaneity_sentence(const Certificate& certificate) {
  if (certificate.simultaneous == Simultaneity::all) {
    return "All claims hold together: the confidence budget is shared out among them, so any of them "
           "may "
           "be picked after reading the report.";
  }
  return "Each claim taken alone holds with this confidence. They are not certified together: if the best of "
         "many is picked after reading the report, the confidence does not cover the picking.";
}

}  // namespace

std::string metric_with_unit(const Certificate& certificate) {
  return certificate.unit.empty() ? certificate.metric
                                  : fmt::format("{} ({})", certificate.metric, certificate.unit);
}

std::string with_unit(const Certificate& certificate, const std::string& value) {
  return certificate.unit.empty() ? value : value + ' ' + certificate.unit;
}

bool draws_weights(const Certificate& certificate) {
  return std::ranges::any_of(certificate.variants, [](const certify::Variant& variant) {
    return variant.weights && variant.weights->sampling != "means";
  });
}

bool rests_on_pac_bayes(const Certificate& certificate) {
  return std::ranges::any_of(certificate.variants,
                             [](const auto& variant) { return variant.pac_bayes.has_value(); });
}

Headline headline(const Certificate& certificate) {
  Headline result;
  const char* weights = draws_weights(certificate) ? ", weights drawn anew for each" : "";
  const std::string confidence = confidence_label(certificate.delta);
  result.opening =
      certificate.simultaneous == Simultaneity::all
          ? fmt::format("With confidence {}, all of these hold together for the {} of fresh problems{}:",
                        confidence, certificate.metric, weights)
          : fmt::format(
                "Each of these, taken alone, holds with confidence {} for the {} of fresh problems{}:",
                confidence, certificate.metric, weights);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    result.groups.push_back({certificate.variants[v].name, claims_to_quote(certificate, v)});
  }
  return result;
}

std::string quotable(const Certificate& certificate, const BudgetClaim& claim) {
  const std::string& variant = certificate.variants.at(claim.variant).name;
  const std::string of = certificate.variants.size() > 1 ? fmt::format("{}, {}", certificate.metric, variant)
                                                         : certificate.metric;
  const std::string observed = claim.empirical ? count_label(*claim.empirical) : "not reached";
  if (!claim.steps) {
    return fmt::format(
        "No guarantee that {} of problems get below {} within the recorded iterations ({}; observed: {}).",
        percent_label(claim.quantile), with_unit(certificate, exact_label(claim.tolerance)), of, observed);
  }
  std::string opening = quotable_opening(certificate);
  if (!is_covered(claim)) opening = "Not covered by the confidence, for comparison only: ";
  return fmt::format("{}{} ({}; observed: {}).", opening, budget_sentence(certificate, claim), of, observed);
}

std::string summary_sentence(const Certificate& certificate) {
  // A tolerance of many digits is rounded up, which claims less.
  const auto tolerance_label = [](double tolerance) {
    const std::string exact = exact_label(tolerance);
    return exact.size() > longest_exact_tolerance ? upper_bound_value(tolerance) : exact;
  };
  const std::string weights = draws_weights(certificate) ? ", weights drawn anew for each," : "";
  std::vector<const BudgetClaim*> budgets;
  for (const double tolerance : certificate.tolerances) {
    if (const BudgetClaim* claim = best_budget(certificate, tolerance)) budgets.push_back(claim);
  }
  const std::string opening =
      fmt::format("{}the {} of at least ", quotable_opening(certificate), certificate.metric);
  if (!budgets.empty()) {
    const BudgetClaim& claim = *budgets[budgets.size() / 2];
    const char* ending = "and stays there";
    if (claim.method == BudgetMethod::first_hit) ending = "at least once";
    if (claim.method == BudgetMethod::every_step) ending = "and at each later iteration";
    return fmt::format("{}{} of problems{} is below {} {} {}.", opening, percent_label(claim.quantile),
                       weights, with_unit(certificate, tolerance_label(claim.tolerance)), after(*claim.steps),
                       ending);
  }
  if (const certify::QuantileClaim* claim = best_quantile(certificate)) {
    return fmt::format("{}{} of problems{} is at or below {} {}.", opening, percent_label(claim->quantile),
                       weights, with_unit(certificate, upper_bound_value(claim->upper_bound)),
                       after(claim->step));
  }
  return fmt::format("At confidence {} these samples give no guarantee on the {}.",
                     confidence_label(certificate.delta), certificate.metric);
}

std::vector<std::string> what_it_says(const Certificate& certificate) {
  std::vector<std::string> lines{
      about_fresh_problems,
      "\"Below\" is strict: a problem whose metric equals the tolerance has failed.",
      "A run with an infinity or NaN counts as failed from there on; nothing is left out of the counts.",
      confidence_sentence(certificate),
      simultaneity_sentence(certificate),
  };
  if (draws_weights(certificate)) lines.emplace_back(about_drawn_weights);
  if (rests_on_pac_bayes(certificate)) lines.emplace_back(about_pac_bayes);
  const std::string settling = note_on_settling(certificate);
  if (!settling.empty()) lines.push_back(settling);
  if (has_budgets(certificate, BudgetMethod::every_step)) {
    lines.emplace_back(
        "Iterations needed by method every-step: at each recorded iteration from then on that share of "
        "problems is "
        "below the tolerance, not always the same ones.");
  }
  if (has_budgets(certificate, BudgetMethod::first_hit)) {
    lines.emplace_back(
        "Iterations needed by method first-hit: below the tolerance at least once by then. A run may rise "
        "again afterwards.");
  }
  if (std::ranges::any_of(certificate.variants, &certify::Variant::values_rounded_up)) {
    lines.emplace_back(
        "Values behind the quantiles were rounded up by at most 0.1 % to bound memory; their bounds are "
        "looser "
        "by as much and remain valid.");
  }
  return lines;
}

std::vector<std::string> what_it_does_not_say(const Certificate& certificate) {
  std::vector<std::string> lines{
      about_other_distributions,
      rests_on_pac_bayes(certificate) ? about_chosen_priors : about_chosen_samples,
      "Nothing about one particular problem, nor about the worst case.",
      "Nothing about iterations and tolerances that are not listed.",
  };
  if (draws_weights(certificate)) lines.emplace_back(about_fixed_weights);
  const std::string paper = note_on_paper_budgets(certificate);
  if (!paper.empty()) lines.push_back(paper);
  const std::string nothing_note = note_on_no_guarantee(certificate);
  if (!nothing_note.empty()) lines.push_back(nothing_note);
  return lines;
}

std::string note_on_settling(const Certificate& certificate) {
  if (!has_budgets(certificate, BudgetMethod::settling)) return "";
  return "\"Stay there\" and \"iterations needed\" mean: below the tolerance at every recorded iteration "
         "from "
         "then on, up to the last.";
}

std::string note_on_no_guarantee(const Certificate& certificate) {
  if (!says_nothing_somewhere(certificate)) return "";
  return "\"-\" is no guarantee: at this confidence the samples allow none. More samples, a looser tolerance "
         "or "
         "more iterations may.";
}

std::string note_on_paper_budgets(const Certificate& certificate) {
  if (!has_budgets(certificate, BudgetMethod::paper)) return "";
  return "Iterations marked * (method paper) are not covered by the confidence: the iteration is picked "
         "after "
         "seeing the bounds. They are listed for comparison only.";
}

}  // namespace surefoot::report
