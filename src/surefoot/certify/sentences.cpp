#include "surefoot/certify/sentences.hpp"

#include "surefoot/bounds/sample_size.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::certify {
namespace {

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

constexpr const char* about_every_number =
    "It holds at every number of runs at once: runs may be looked at and added at any time, and one may stop when "
    "the claims please. All runs that were made are counted, in the order in which they were drawn.";
constexpr const char* about_chosen_runs =
    "Nothing if the samples were chosen, filtered, or used to tune the optimizer, if runs were left out, or if what "
    "is claimed was decided after looking at results: they must be independent and identically distributed draws "
    "that the optimizer has not seen. Their number may be decided after looking.";
constexpr const char* about_new_rollouts =
    "It speaks of a new rollout: the same controller and plant, as they were simulated, with an initial state and "
    "disturbances from the same distribution, independent of the samples. A rollout is one sample, its ticks are not. "
    "\"At least 90 % of rollouts\" means: with probability at least 0.9, a new rollout is one of these.";
constexpr const char* about_other_loops =
    "Nothing about a plant, disturbances or initial states other than those that were simulated.";
constexpr const char* about_single_ticks =
    "Nothing about one tick of a rollout, taken by itself: ticks follow from each other.";
constexpr const char* about_new_groups =
    "It speaks of a new group, drawn from the same distribution as the groups that were counted and independently of "
    "them. Groups are independent and identically distributed; the ticks of one may depend on each other in any way. "
    "\"In at least 90 % of groups\" means: with probability at least 0.9, a new group is one of these.";
constexpr const char* about_other_groups =
    "Nothing about groups from another distribution: if what makes them changes (length, task, season), take new "
    "groups.";
constexpr const char* about_chosen_groups =
    "Nothing if the groups were chosen, filtered, or used to tune the optimizer, or if their number, what belongs to a "
    "group or what is claimed was decided after looking at results.";
constexpr const char* about_chosen_ones =
    "Nothing if the groups were chosen, filtered, or used to tune the optimizer, if groups were left out, or if what "
    "belongs to a group or what is claimed was decided after looking at results. Their number may be decided after "
    "looking.";
constexpr const char* about_this_log = "It speaks of the log that was recorded, tick by tick.";
constexpr const char* about_chosen_tolerances =
    "Nothing if the log was chosen among others for what it shows, or if tolerances and iterations were decided after "
    "looking at it.";

constexpr const char* about_drawn_weights =
    "The optimizer is a stochastic one: it draws its weights from the trained posterior anew for every "
    "problem, and shares are over weights and problems together.";
constexpr const char* about_pac_bayes =
    "It is made from the samples that the optimizer was trained on. Memorisation is accounted for: the "
    "further the posterior is from the prior (KL), the weaker the claims.";
constexpr const char* about_fixed_weights =
    "Nothing about one draw of the weights that is kept for all problems, nor about the network "
    "at its means.";
constexpr const char* about_chosen_priors =
    "Nothing if the samples are not independent and identically distributed, if the prior, the scaling of "
    "inputs or what is claimed was chosen with an eye on them, or if the count was repeated to get "
    "a better one.";

/// The claims of a variant that are worth quoting. `joined`: success rates in one clause. What the worst case
/// says of every problem is said by its own clauses.
std::vector<std::string> clauses_to_quote(const Certificate& certificate, std::size_t variant,
                                          const Voice& voice, bool joined) {
  const WorstCaseBounds worst(certificate);
  std::vector<std::string> all;
  for (const ClaimKind* kind : claim_kinds_to_show()) {
    for (std::string& clause : kind->clauses(certificate, variant, worst, voice, joined))
      all.push_back(std::move(clause));
  }
  return all;
}

/// "if ... as the user states, the residual of every problem is below 0.1 after 40 iterations and ever
/// after".
std::vector<std::string> conditional_clauses(const Certificate& certificate) {
  std::vector<std::string> clauses = worst_case_clauses(certificate);
  for (std::string& clause : clauses)
    clause = fmt::format("{}, {}", worst_case_condition(certificate), clause);
  return clauses;
}

/// "under any distribution within KL 0.02 of the one the problems were drawn from, at least 84.1 % ...":
/// nothing without a shift.
class ShiftedClaims {
 public:
  explicit ShiftedClaims(const Certificate& certificate) : words_(shift_words(certificate)) {
    if (certificate.shift) under_ = under_shift(certificate);
  }

  [[nodiscard]] std::vector<std::string> clauses(std::size_t variant, const Voice& voice, bool joined) const {
    if (!under_) return {};
    std::vector<std::string> all = clauses_to_quote(*under_, variant, voice, joined);
    for (std::string& clause : all) clause = fmt::format("{}, {}", words_, clause);
    return all;
  }

 private:
  std::string words_;
  std::optional<Certificate> under_;
};

std::string no_guarantee_sentence(const Certificate& certificate, std::string_view of) {
  return fmt::format("At confidence {} these samples give no guarantee on the {}{}.",
                     confidence_label(certificate.delta), certificate.metric, of);
}

bool says_nothing_somewhere(const Certificate& certificate) {
  const WorstCaseBounds worst(certificate);
  return std::ranges::any_of(
      claim_kinds(), [&](const ClaimKind* kind) { return kind->says_nothing_somewhere(certificate, worst); });
}

/// "0.99", or "0.99 at every number of runs".
std::string confidence_words(const Certificate& certificate) {
  return confidence_label(certificate.delta) + (holds_anytime(certificate) ? " at every number of runs" : "");
}

std::string confidence_sentence(const Certificate& certificate) {
  if (holds_anytime(certificate)) {
    return fmt::format(
        "The confidence {} is over the draw of the samples, at every number of runs at once: were the whole study "
        "repeated many times with new samples, at least this share of the studies would never see a certificate "
        "that is wrong in {}, however often they look.",
        confidence_label(certificate.delta),
        certificate.simultaneous == Simultaneity::all ? "any claim" : "one given claim");
  }
  if (sampling_of(certificate) == Sampling::sequence)
    return fmt::format(
        "The confidence {} is over what chance makes of the log: were logs recorded many times, at least this share of "
        "their certificates would be {}.",
        confidence_label(certificate.delta),
        certificate.simultaneous == Simultaneity::all ? "right in every claim"
                                                      : "right in any one given claim");
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
  const ShiftedClaims shifted(certificate);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const std::vector<std::string> clauses =
        clauses_to_quote(certificate, v, standing_alone(certificate), false);
    for (const std::string& clause : clauses)
      statements.push_back(
          conditioned(certificate, fmt::format("{}{}.", opening_of(certificate, v), clause)));
    for (const std::string& clause : shifted.clauses(v, standing_alone(certificate), false))
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
  const std::string confidence = confidence_words(certificate);
  const bool together = certificate.simultaneous == Simultaneity::all;
  const std::string whose = [&]() -> std::string {
    switch (sampling_of(certificate)) {
      case Sampling::problems:
        return fmt::format("{}{}", of_new_things(certificate), weights);
      case Sampling::groups:
        return "in new " + named_things(certificate);
      case Sampling::sequence:
        break;
    }
    return "in the past of this log";
  }();
  result.opening =
      together ? fmt::format("With confidence {}, all of these hold together for the {} {}:", confidence,
                             certificate.metric, whose)
               : fmt::format(
                     "Each of these, taken alone and had it been chosen in advance, holds with confidence {} "
                     "for the {} {}:",
                     confidence, certificate.metric, whose);
  const std::vector<std::string> of_every_problem = conditional_clauses(certificate);
  const ShiftedClaims shifted(certificate);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    std::vector<std::string> clauses = clauses_to_quote(certificate, v, under_opening(certificate), together);
    if (clauses.empty() && of_every_problem.empty()) clauses.emplace_back("no guarantee from these samples");
    for (std::string& clause : shifted.clauses(v, under_opening(certificate), together))
      clauses.push_back(std::move(clause));
    // What the opening says of named problems is not said again of each claim.
    if (if_independent(certificate))
      for (std::string& clause : clauses) clause = conditioned(certificate, clause);
    clauses.insert(clauses.end(), of_every_problem.begin(), of_every_problem.end());
    result.groups.push_back({certificate.variants[v].name, std::move(clauses)});
  }
  result.opening = conditioned(certificate, result.opening);
  return result;
}

std::string opening_of(const Certificate& certificate, std::size_t variant) {
  const std::string confidence = confidence_words(certificate);
  std::string opening =
      certificate.simultaneous == Simultaneity::each
          ? fmt::format("With confidence {} for this claim alone, had it been chosen in advance, ",
                        confidence)
          : fmt::format("With confidence {}, ", confidence);
  if (certificate.variants.size() > 1) opening += fmt::format("for {}: ", certificate.variants[variant].name);
  return opening;
}

std::string summary_sentence(const Certificate& certificate) {
  const WorstCaseBounds worst(certificate);
  for (const ClaimKind* kind : claim_kinds_to_show()) {
    if (const auto best = kind->best_clause(certificate, worst, standing_alone(certificate)))
      return conditioned(certificate,
                         fmt::format("{}{}.", opening_of(certificate, best->variant), best->clause));
  }
  for (const ClaimKind* kind : claim_kinds_to_show()) {
    for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
      const auto clauses = kind->clauses(certificate, v, worst, standing_alone(certificate), false);
      if (!clauses.empty())
        return conditioned(certificate, fmt::format("{}{}.", opening_of(certificate, v), clauses.front()));
    }
  }
  return no_guarantee_sentence(certificate, "");
}

std::vector<std::string> what_it_says(const Certificate& certificate) {
  const Sampling sampling = sampling_of(certificate);
  const bool problems = sampling == Sampling::problems;
  std::vector<std::string> lines{
      certificate.loop               ? about_new_rollouts
      : problems                     ? about_new_problems
      : sampling == Sampling::groups ? about_new_groups
                                     : about_this_log,
      certificate.scalar
          ? "\"At most\" is not strict: a problem whose value equals the tolerance has not failed."
          : fmt::format("\"Below\" is strict: a {} whose metric equals the tolerance has failed.",
                        certificate.loop ? "rollout"
                        : problems       ? "problem"
                                         : "tick"),
      certificate.scalar
          ? "A value that is infinite or NaN is a failure: it exceeds every bound. Nothing is left out of the counts."
      : certificate.loop
          ? "A rollout with an infinity or NaN has failed under the limit at which it happened; nothing is left out of "
            "the counts."
          : fmt::format(
                "A {} with an infinity or NaN counts as failed from there on; nothing is left out of the counts.",
                problems ? "run" : "tick"),
      confidence_sentence(certificate),
      simultaneity_sentence(certificate),
  };
  if (const std::string note = note_on_groups(certificate); !note.empty()) lines.push_back(note);
  if (holds_anytime(certificate)) lines.emplace_back(about_every_number);
  if (draws_weights(certificate)) lines.emplace_back(about_drawn_weights);
  if (is_pac_bayes(certificate)) lines.emplace_back(about_pac_bayes);
  for (const ClaimKind* kind : claim_kinds_to_show())
    for (std::string& line : kind->meaning(certificate)) lines.push_back(std::move(line));
  for (std::string& note : notes_on_rows(certificate)) lines.push_back(std::move(note));
  for (std::string& sentence : worst_case_sentences(certificate)) lines.push_back(std::move(sentence));
  return lines;
}

std::vector<std::string> what_it_does_not_say(const Certificate& certificate) {
  const bool worst = WorstCaseBounds(certificate).used();
  const auto particular = [&](std::string_view thing) {
    return fmt::format("Nothing about one particular {}, {} the worst case.", thing,
                       worst ? "but for" : "nor about");
  };
  // The shift is that of the law of a whole rollout or group.
  const auto or_under_shift = [&](std::string_view nothing) {
    return certificate.shift
               ? fmt::format("{}, but {}: for others, take new samples.",
                             nothing.substr(0, nothing.find_first_of(".:")), shift_words(certificate))
               : std::string(nothing);
  };
  const std::string other_distributions =
      certificate.shift ? fmt::format(
                              "Nothing about problems from another distribution, but {}: for others, "
                              "take new samples.",
                              shift_words(certificate))
                        : about_other_distributions;
  std::vector<std::string> lines;
  switch (sampling_of(certificate)) {
    case Sampling::problems:
      lines = {certificate.loop ? or_under_shift(about_other_loops) : other_distributions,
               is_pac_bayes(certificate)    ? about_chosen_priors
               : holds_anytime(certificate) ? about_chosen_runs
                                            : about_chosen_samples,
               particular(certificate.loop ? "rollout" : "problem")};
      if (certificate.loop) lines.emplace_back(about_single_ticks);
      break;
    case Sampling::groups:
      lines = {
          or_under_shift(about_other_groups),
          holds_anytime(certificate) ? about_chosen_ones : about_chosen_groups, particular("group"),
          "Nothing about one tick of a group, taken by itself at a time of your choice: ticks of a group are not "
          "alike."};
      break;
    case Sampling::sequence:
      lines = {about_chosen_tolerances};
      break;
  }
  lines.emplace_back(
      certificate.scalar
          ? "Nothing about tolerances and shares that neither a claim nor a band speaks of."
          : fmt::format("Nothing about {} and tolerances that are not listed.",
                        certificate.loop ? fmt::format("{}s", step_name(certificate)) : "iterations"));
  if (draws_weights(certificate)) lines.emplace_back(about_fixed_weights);
  for (const ClaimKind* kind : claim_kinds_to_show())
    for (std::string& line : kind->limits(certificate)) lines.push_back(std::move(line));
  const std::string nothing_note = note_on_no_guarantee(certificate);
  if (!nothing_note.empty()) lines.push_back(nothing_note);
  return lines;
}

std::string lack_of_samples(const Certificate& certificate) {
  double share = 0;
  double delta = 0;
  Index samples = 0;
  const auto note = [&](const auto& claim, bool none) {
    if (!none || claim.quantile <= share || is_pac_bayes(certificate)) return;
    share = claim.quantile;
    delta = claim.delta;
    samples = claim.samples;
  };
  for (const QuantileClaim& claim : certificate.quantile)
    note(claim, claim.method != bounds::QuantileMethod::grid && claim.rank == 0);
  for (const BudgetClaim& claim : certificate.budget)
    note(claim, claim.method != bounds::BudgetMethod::paper && claim.rank == 0);
  const bool known = share > 0 && share < 1 && delta > 0 && delta < 1;
  const bool anytime = holds_anytime(certificate);
  const Index needed = !known    ? 0
                       : anytime ? bounds::samples_needed_looking(0, share, delta)
                                 : bounds::samples_needed(0, share, delta);
  if (needed <= samples) return "";
  return fmt::format("A share of {} needs {} {} without failure, you have {}.", percent_label(share),
                     count_label(needed), sampling_of(certificate) == Sampling::groups ? "groups" : "runs",
                     count_label(samples));
}

std::string note_on_no_guarantee(const Certificate& certificate) {
  if (!says_nothing_somewhere(certificate)) return "";
  const std::string lack = lack_of_samples(certificate);
  if (holds_anytime(certificate)) {
    return (lack.empty() ? "" : lack + ' ') +
           "\"-\": not certifiable with the runs so far. Runs may be added (surefoot "
           "certify --append); tolerances and iterations changed after this look are not covered by the "
           "confidence.";
  }
  if (sampling_of(certificate) == Sampling::sequence)
    return "\"-\": not certifiable with a log of this length.";
  return (lack.empty() ? "" : lack + ' ') +
         fmt::format(
             "\"-\": not certifiable with this sample size. Samples added to these, or "
             "{} changed after this look, are not covered by the confidence: take a new "
             "set of samples, and fix its size and all that is claimed before it is counted.",
             certificate.scalar ? "claims"
             : certificate.loop ? "tolerances and limits"
                                : "tolerances and iterations");
}

std::string note_on_dependence(const Certificate& certificate) {
  if (!if_independent(certificate))
    return names_problems(certificate) ? conditioned(certificate, "What is certified here holds.") : "";
  return conditioned(certificate, "What is certified here holds; the checks of the rows found dependence.");
}

std::string staying(bool gaps, std::string_view horizon) {
  return fmt::format("below it {}({})", gaps ? "at every recorded iteration " : "", horizon);
}

}  // namespace surefoot::certify
