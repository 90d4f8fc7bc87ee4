#include "surefoot/certify/sentences.hpp"

#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::certify {
namespace {

using bounds::BudgetMethod;

constexpr std::size_t quoted_tolerances = 4;
constexpr std::size_t longest_exact_tolerance = 8;
constexpr double least_quoted = 0.01;  ///< below it, a share is not worth a sentence

constexpr const char* about_new_problems =
    "It speaks of a new problem, drawn from the same distribution as the samples and independently of them. "
    "The samples are independent and identically distributed. \"At least 90 % of problems\" means: with "
    "probability at least 0.9, a new problem is one of these.";
constexpr const char* about_other_distributions =
    "Nothing about problems from another distribution: if the family changes (size, scaling, noise, season), "
    "take new samples.";
constexpr const char* about_chosen_samples =
    "Nothing if the samples were chosen, filtered, or used to tune the optimizer, or if their number or what "
    "is claimed was decided after looking at results: they must be independent and identically distributed "
    "draws that the optimizer has not seen.";

constexpr const char* about_drawn_weights =
    "The optimizer is a stochastic one: it draws its weights from the trained posterior anew for every "
    "problem, and shares are over weights and problems together.";
constexpr const char* about_pac_bayes =
    "It is made from the samples that the optimizer was trained on. What it may have learned by heart from "
    "them is paid for: the further the posterior is from the prior (KL), the weaker the claims.";
constexpr const char* about_fixed_weights =
    "Nothing about one draw of the weights that is kept for all problems, nor about the network "
    "at its means.";
constexpr const char* about_chosen_priors =
    "Nothing if the samples are not independent and identically distributed, if the prior, the scaling of "
    "inputs or what is claimed was chosen with an eye on them, or if the count was repeated to get "
    "a better one.";

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

/// "weights drawn anew for each", where they are.
std::string_view about_weights(const Certificate& certificate, std::string_view words) {
  return draws_weights(certificate) ? words : "";
}

/// How a clause is put: under an opening that names the metric ("at least 90 % of problems are below ..."),
/// or so that it stands alone ("the residual of at least 90 % of new problems is below ...").
struct Voice {
  std::string subject;   ///< before "at least"
  std::string problems;  ///< after the share, with the verb
  std::string have_been;
  std::string stay;
};

Voice under_opening() {
  return {"", "of problems are", "of problems have been", "stay"};
}

Voice alone(const Certificate& certificate) {
  const std::string problems =
      fmt::format("of new problems{}", about_weights(certificate, ", weights drawn anew for each,"));
  return {fmt::format("the {} of ", certificate.metric), problems + " is", problems + " has been", "stays"};
}

/// A tolerance is what the user named and is shown as it is; one of many digits is rounded up, which claims
/// less.
std::string tolerance_text(const Certificate& certificate, double tolerance) {
  const std::string exact = exact_label(tolerance);
  return with_unit(certificate,
                   exact.size() > longest_exact_tolerance ? upper_bound_value(tolerance) : exact);
}

/// The only place that says how long a claim lasts: up to the last recorded iteration, and nothing where none
/// was recorded after it.
std::string lasting(const Certificate& certificate, const BudgetClaim& claim, const Voice& voice) {
  const Variant& variant = certificate.variants.at(claim.variant);
  if (!claim.steps || *claim.steps >= variant.last_step) return "";
  const std::string horizon = fmt::format("up to iteration {}", count_label(variant.last_step));
  if (claim.method == BudgetMethod::settling)
    return fmt::format(" and {} {}", voice.stay, staying(has_gaps(variant), horizon));
  if (claim.method == BudgetMethod::every_step)
    return fmt::format(" and at each later recorded iteration ({})", horizon);
  return "";
}

std::string budget_clause(const Certificate& certificate, const BudgetClaim& claim, const Voice& voice) {
  const std::string share = percent_label(claim.quantile);
  const std::string tolerance = tolerance_text(certificate, claim.tolerance);
  if (claim.method == BudgetMethod::first_hit) {
    return fmt::format("{}at least {} {} below {} at least once {}", voice.subject, share, voice.have_been,
                       tolerance, after(*claim.steps));
  }
  return fmt::format("{}at least {} {} below {} {}{}", voice.subject, share, voice.problems, tolerance,
                     after(*claim.steps), lasting(certificate, claim, voice));
}

/// The covered budget of the largest quantile that says something, and more than the worst case does.
const BudgetClaim* best_budget(const Certificate& certificate, const WorstCaseBounds& worst,
                               std::size_t variant, double tolerance) {
  const BudgetClaim* best = nullptr;
  for (const BudgetClaim& claim : certificate.budget) {
    const bool fits = claim.variant == variant && claim.tolerance == tolerance && is_covered(claim) &&
                      worst.better(claim) == claim.steps;
    if (fits && claim.steps && (best == nullptr || claim.quantile > best->quantile)) best = &claim;
  }
  return best;
}

/// Success rates at a step, without those that a stricter tolerance with the same printed bound makes idle.
std::vector<const SuccessClaim*> rates_to_quote(const Certificate& certificate, std::size_t variant,
                                                const std::vector<double>& tolerances, Index step) {
  std::vector<const SuccessClaim*> rates;
  for (const SuccessClaim& claim : certificate.success) {
    if (claim.variant == variant && claim.step == step && claim.lower_bound >= least_quoted &&
        std::ranges::count(tolerances, claim.tolerance) > 0)
      rates.push_back(&claim);
  }
  const std::vector<const SuccessClaim*> all = rates;
  std::erase_if(rates, [&](const SuccessClaim* claim) {
    return std::ranges::any_of(all, [&](const SuccessClaim* other) {
      return other->tolerance < claim->tolerance &&
             lower_bound_percent(other->lower_bound) == lower_bound_percent(claim->lower_bound);
    });
  });
  return rates;
}

/// "after 500 iterations, at least 99.3 % of problems are below 1e-2, 98.1 % below 1e-3 and 34.2 % below
/// 1e-6".
std::string success_clause(const Certificate& certificate, const std::vector<const SuccessClaim*>& rates,
                           const Voice& voice) {
  std::vector<std::string> parts;
  parts.reserve(rates.size());
  for (const SuccessClaim* claim : rates) {
    parts.push_back(fmt::format("{} {}below {}", lower_bound_percent(claim->lower_bound),
                                parts.empty() ? voice.problems + ' ' : "",
                                tolerance_text(certificate, claim->tolerance)));
  }
  return fmt::format("{}, {}at least {}", after(rates.front()->step), voice.subject, listed(parts));
}

/// The bound of the largest quantile at a step that says something.
const QuantileClaim* best_quantile(const Certificate& certificate, std::size_t variant, Index step) {
  const QuantileClaim* best = nullptr;
  for (const QuantileClaim& claim : certificate.quantile) {
    if (claim.variant != variant || claim.step != step || !(claim.upper_bound < infinity)) continue;
    if (best == nullptr || claim.quantile >= best->quantile) best = &claim;
  }
  return best;
}

std::string quantile_clause(const Certificate& certificate, const QuantileClaim& claim, const Voice& voice) {
  return fmt::format("{}, {}at least {} {} at or below {}", after(claim.step), voice.subject,
                     percent_label(claim.quantile), voice.problems,
                     with_unit(certificate, upper_bound_value(claim.upper_bound)));
}

/// The claims of a variant that are worth quoting. `joined`: success rates in one clause.
std::vector<std::string> clauses_to_quote(const Certificate& certificate, std::size_t variant,
                                          const Voice& voice, bool joined) {
  const std::vector<double> tolerances = telling_values(certificate.tolerances, quoted_tolerances);
  // What the worst case says of every problem is said by its own clauses.
  const WorstCaseBounds worst(certificate);
  std::vector<std::string> clauses;
  for (const double tolerance : tolerances) {
    const BudgetClaim* budget = best_budget(certificate, worst, variant, tolerance);
    if (budget != nullptr) clauses.push_back(budget_clause(certificate, *budget, voice));
  }
  if (certificate.steps.empty()) return clauses;
  const Index last = std::ranges::max(certificate.steps);
  std::vector<const SuccessClaim*> rates = rates_to_quote(certificate, variant, tolerances, last);
  std::erase_if(rates, [&](const SuccessClaim* claim) { return worst.better(*claim) != claim->lower_bound; });
  if (joined && !rates.empty()) clauses.push_back(success_clause(certificate, rates, voice));
  if (!joined) {
    for (const SuccessClaim* claim : rates) clauses.push_back(success_clause(certificate, {claim}, voice));
  }
  const QuantileClaim* quantile = best_quantile(certificate, variant, last);
  if (quantile != nullptr && worst.better(*quantile) == quantile->upper_bound)
    clauses.push_back(quantile_clause(certificate, *quantile, voice));
  return clauses;
}

/// "if ... as the user states, the residual of every problem is below 0.1 after 40 iterations and ever
/// after".
std::vector<std::string> conditional_clauses(const Certificate& certificate) {
  std::vector<std::string> clauses = worst_case_clauses(certificate);
  for (std::string& clause : clauses)
    clause = fmt::format("{}, {}", worst_case_condition(certificate), clause);
  return clauses;
}

/// How a sentence that stands alone begins. Every sentence that claims something takes its first words from
/// here or from headline(): what a claim rests on beyond the assumptions (rows that may not be independent)
/// goes in front of both.
std::string opening_of(const Certificate& certificate, std::size_t variant) {
  const std::string confidence = confidence_label(certificate.delta);
  std::string opening =
      certificate.simultaneous == Simultaneity::each
          ? fmt::format("With confidence {} for this claim alone, had it been chosen in advance, ",
                        confidence)
          : fmt::format("With confidence {}, ", confidence);
  if (certificate.variants.size() > 1) opening += fmt::format("for {}: ", certificate.variants[variant].name);
  return opening;
}

std::string no_guarantee_sentence(const Certificate& certificate, std::string_view of) {
  return fmt::format("At confidence {} these samples give no guarantee on the {}{}.",
                     confidence_label(certificate.delta), certificate.metric, of);
}

/// The covered budget of the largest share, then of the fewest steps, of any variant.
const BudgetClaim* best_budget(const Certificate& certificate, const WorstCaseBounds& worst,
                               double tolerance) {
  const BudgetClaim* best = nullptr;
  for (std::size_t variant = 0; variant < certificate.variants.size(); ++variant) {
    const BudgetClaim* own = best_budget(certificate, worst, variant, tolerance);
    if (own == nullptr) continue;
    if (best == nullptr || own->quantile > best->quantile ||
        (own->quantile == best->quantile && *own->steps < *best->steps))
      best = own;
  }
  return best;
}

/// The quantile bound of the largest share, then the smallest one, at the last step, of any variant.
const QuantileClaim* best_quantile(const Certificate& certificate) {
  const QuantileClaim* best = nullptr;
  if (certificate.steps.empty()) return best;
  for (std::size_t variant = 0; variant < certificate.variants.size(); ++variant) {
    const QuantileClaim* own = best_quantile(certificate, variant, std::ranges::max(certificate.steps));
    if (own == nullptr) continue;
    if (best == nullptr || own->quantile > best->quantile ||
        (own->quantile == best->quantile && own->upper_bound < best->upper_bound))
      best = own;
  }
  return best;
}

bool says_nothing_somewhere(const Certificate& certificate) {
  const WorstCaseBounds worst(certificate);
  return std::ranges::any_of(certificate.success, [&](const auto& c) { return !(worst.better(c) > 0); }) ||
         std::ranges::any_of(certificate.quantile,
                             [&](const auto& c) { return !(worst.better(c) < infinity); }) ||
         std::ranges::any_of(certificate.budget, [&](const auto& c) { return !worst.better(c); });
}

bool has_budgets(const Certificate& certificate, BudgetMethod method) {
  return std::ranges::any_of(certificate.budget, [method](const auto& c) { return c.method == method; });
}

std::string confidence_sentence(const Certificate& certificate) {
  return fmt::format(
      "The confidence {} is over the draw of the samples: were the whole study repeated many times with new "
      "samples, at least this share of the resulting certificates would be {}.",
      confidence_label(certificate.delta),
      certificate.simultaneous == Simultaneity::all ? "right in every claim"
                                                    : "right in any one given claim");
}

std::string simultaneity_sentence(const Certificate& certificate) {
  if (certificate.simultaneous == Simultaneity::all) {
    return "All claims hold together: the confidence budget is shared out among them, so any of them may be "
           "picked after reading the report.";
  }
  return "Each claim taken alone holds with this confidence. They are not certified together: if the best of "
         "many is picked after reading the report, the confidence does not cover the picking.";
}

/// "(up to iteration 400)", or of each variant where they differ.
std::string horizon_words(const Certificate& certificate) {
  const auto& variants = certificate.variants;
  const bool same = std::ranges::all_of(
      variants, [&](const Variant& variant) { return variant.last_step == variants.front().last_step; });
  if (variants.empty() || !same) return "up to the last recorded iteration of each variant";
  return fmt::format("up to iteration {}", count_label(variants.front().last_step));
}

bool records_one_step(const Certificate& certificate) {
  return std::ranges::all_of(certificate.variants,
                             [](const Variant& variant) { return variant.columns <= 1; });
}

}  // namespace

std::vector<double> telling_values(const std::vector<double>& values, std::size_t count) {
  if (values.size() <= count || count < 2) return values;
  std::vector<double> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(values[i * (values.size() - 1) / (count - 1)]);
  return chosen;
}

std::string metric_with_unit(const Certificate& certificate) {
  return certificate.unit.empty() ? certificate.metric
                                  : fmt::format("{} ({})", certificate.metric, certificate.unit);
}

std::string with_unit(const Certificate& certificate, const std::string& value) {
  return certificate.unit.empty() ? value : value + ' ' + certificate.unit;
}

bool draws_weights(const Certificate& certificate) {
  return std::ranges::any_of(certificate.variants, [](const Variant& variant) {
    return variant.weights && variant.weights->sampling != "means";
  });
}

void require_known_wording(int wording) {
  require(wording >= 1 && wording <= current_wording, "wording: {} is not one of 1 .. {}", wording,
          current_wording);
}

std::vector<std::string> statements_of(const Certificate& certificate, int wording) {
  require_known_wording(wording);
  std::vector<std::string> statements;
  if (wording == 1) return statements;  // its certificates carry none
  std::vector<std::string> of_every_problem = conditional_clauses(certificate);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const std::vector<std::string> clauses = clauses_to_quote(certificate, v, alone(certificate), false);
    for (const std::string& clause : clauses)
      statements.push_back(
          conditioned(certificate, fmt::format("{}{}.", opening_of(certificate, v), clause)));
    if (!clauses.empty() || !of_every_problem.empty()) continue;
    const bool several = certificate.variants.size() > 1;
    statements.push_back(no_guarantee_sentence(
        certificate, several ? fmt::format(" for {}", certificate.variants[v].name) : ""));
  }
  for (std::string& clause : of_every_problem) {
    clause.front() = 'I';
    statements.push_back(clause + '.');
  }
  return statements;
}

Headline headline(const Certificate& certificate) {
  Headline result;
  const std::string_view weights = about_weights(certificate, ", weights drawn anew for each");
  const std::string confidence = confidence_label(certificate.delta);
  const bool together = certificate.simultaneous == Simultaneity::all;
  result.opening =
      together ? fmt::format("With confidence {}, all of these hold together for the {} of new problems{}:",
                             confidence, certificate.metric, weights)
               : fmt::format(
                     "Each of these, taken alone and had it been chosen in advance, holds with confidence {} "
                     "for the {} of new problems{}:",
                     confidence, certificate.metric, weights);
  const std::vector<std::string> of_every_problem = conditional_clauses(certificate);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    std::vector<std::string> clauses = clauses_to_quote(certificate, v, under_opening(), together);
    if (clauses.empty() && of_every_problem.empty()) clauses.emplace_back("no guarantee from these samples");
    for (std::string& clause : clauses) clause = conditioned(certificate, clause);
    clauses.insert(clauses.end(), of_every_problem.begin(), of_every_problem.end());
    result.groups.push_back({certificate.variants[v].name, std::move(clauses)});
  }
  result.opening = conditioned(certificate, result.opening);
  return result;
}

std::string quotable(const Certificate& certificate, const BudgetClaim& claim) {
  const std::string observed = claim.empirical ? count_label(*claim.empirical) : "not reached";
  const std::string& variant = certificate.variants.at(claim.variant).name;
  const std::string of = certificate.variants.size() > 1 ? " for " + variant : "";
  if (const WorstCaseBounds worst(certificate); worst.better(claim) != claim.steps) {
    return fmt::format(
        "I{}, the {} of every problem is below {} after {} iterations and ever after (observed{}: {}).",
        worst_case_condition(certificate).substr(1), certificate.metric,
        tolerance_text(certificate, claim.tolerance), count_label(*worst.better(claim)), of, observed);
  }
  if (!claim.steps) {
    return fmt::format(
        "No guarantee{} that the {} of {} of problems gets below {} within the recorded "
        "iterations (observed: {}).",
        of, certificate.metric, percent_label(claim.quantile),
        with_unit(certificate, exact_label(claim.tolerance)), observed);
  }
  const std::string opening = is_covered(claim)
                                  ? opening_of(certificate, claim.variant)
                                  : fmt::format("Not covered by the confidence, for comparison only{}: ", of);
  return conditioned(certificate,
                     fmt::format("{}{} (observed: {}).", opening,
                                 budget_clause(certificate, claim, alone(certificate)), observed));
}

std::string summary_sentence(const Certificate& certificate) {
  std::vector<const BudgetClaim*> budgets;
  const WorstCaseBounds worst(certificate);
  for (const double tolerance : certificate.tolerances) {
    if (const BudgetClaim* claim = best_budget(certificate, worst, tolerance)) budgets.push_back(claim);
  }
  if (!budgets.empty()) {
    const BudgetClaim& claim = *budgets[budgets.size() / 2];
    return conditioned(certificate, fmt::format("{}{}.", opening_of(certificate, claim.variant),
                                                budget_clause(certificate, claim, alone(certificate))));
  }
  if (const QuantileClaim* claim = best_quantile(certificate)) {
    return conditioned(certificate, fmt::format("{}{}.", opening_of(certificate, claim->variant),
                                                quantile_clause(certificate, *claim, alone(certificate))));
  }
  return no_guarantee_sentence(certificate, "");
}

std::vector<std::string> what_it_says(const Certificate& certificate) {
  std::vector<std::string> lines{
      about_new_problems,
      "\"Below\" is strict: a problem whose metric equals the tolerance has failed.",
      "A run with an infinity or NaN counts as failed from there on; nothing is left out of the counts.",
      confidence_sentence(certificate),
      simultaneity_sentence(certificate),
  };
  if (draws_weights(certificate)) lines.emplace_back(about_drawn_weights);
  if (is_pac_bayes(certificate)) lines.emplace_back(about_pac_bayes);
  const std::string settling = note_on_settling(certificate);
  if (!settling.empty()) lines.push_back(settling);
  if (has_budgets(certificate, BudgetMethod::every_step)) {
    lines.push_back(
        fmt::format("Iterations needed by method every-step: at each recorded iteration from then on, {}, "
                    "that share of problems is below the tolerance, not always the same ones.",
                    horizon_words(certificate)));
  }
  if (has_budgets(certificate, BudgetMethod::first_hit)) {
    lines.emplace_back(
        "Iterations needed by method first-hit: below the tolerance at least once by then. A run may "
        "rise again afterwards.");
  }
  if (std::ranges::any_of(certificate.variants, &Variant::values_rounded_up)) {
    lines.emplace_back(
        "Values behind the quantiles were rounded up by at most 0.1 % to bound memory; their bounds are "
        "larger by as much and remain valid.");
  }
  for (std::string& note : notes_on_rows(certificate)) lines.push_back(std::move(note));
  for (std::string& sentence : worst_case_sentences(certificate)) lines.push_back(std::move(sentence));
  return lines;
}

std::vector<std::string> what_it_does_not_say(const Certificate& certificate) {
  std::vector<std::string> lines{
      about_other_distributions,
      is_pac_bayes(certificate) ? about_chosen_priors : about_chosen_samples,
      WorstCaseBounds(certificate).used() ? "Nothing about one particular problem, but for the worst case."
                                          : "Nothing about one particular problem, nor about the worst case.",
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
  if (records_one_step(certificate)) {
    return "Only one iteration was recorded: \"iterations needed\" speak of that one alone.";
  }
  return fmt::format(
      "\"Stay below it\" and \"iterations needed\" mean: below the tolerance at every recorded iteration "
      "from then on, {}. Nothing is said of later iterations.",
      horizon_words(certificate));
}

std::string note_on_no_guarantee(const Certificate& certificate) {
  if (!says_nothing_somewhere(certificate)) return "";
  return "\"-\" is no guarantee: at this confidence the samples allow none. Samples added to these, or "
         "tolerances and iterations changed after this look, are not covered by the confidence: take a new "
         "set of samples, and fix its size and all that is claimed before it is counted.";
}

std::string note_on_paper_budgets(const Certificate& certificate) {
  if (!has_budgets(certificate, BudgetMethod::paper)) return "";
  return "Iterations marked * (method paper) are not covered by the confidence: the iteration is picked "
         "after seeing the bounds. They are listed for comparison only.";
}

std::string note_on_dependence(const Certificate& certificate) {
  if (!if_independent(certificate)) return "";
  return conditioned(certificate, "What is certified here holds; the checks of the rows found dependence.");
}

std::string staying(bool gaps, std::string_view horizon) {
  return fmt::format("below it {}({})", gaps ? "at every recorded iteration " : "", horizon);
}

std::string budget_meaning(const Certificate& certificate) {
  const char* below = "below the tolerance";
  if (records_one_step(certificate)) return below;
  if (has_budgets(certificate, BudgetMethod::settling))
    return fmt::format(
        "{} and stays {}", below,
        staying(std::ranges::any_of(certificate.variants, has_gaps), horizon_words(certificate)));
  if (has_budgets(certificate, BudgetMethod::every_step))
    return fmt::format("{}, then and at each later recorded iteration ({})", below,
                       horizon_words(certificate));
  return has_budgets(certificate, BudgetMethod::first_hit) ? fmt::format("{} at least once", below) : below;
}

}  // namespace surefoot::certify
