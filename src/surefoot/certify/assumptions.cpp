#include "surefoot/certify/assumptions.hpp"

#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <utility>

namespace surefoot::certify {
namespace {

/// The texts of one wording, to the letter.
struct AssumptionTexts {
  const char* draws;
  const char* fixed_before;
  const char* fixed_but_number;  ///< where claims hold at every number of runs
  const char* success;
  const char* confidence;
  const char* confidence_anytime;
  const char* together;
  const char* each_alone;
  const char* drawn_weights;
  const char* hold_out;
  const char* training_samples;
  const char* prior_from_others;
  const char* prior_fixed;
  const char* calibration;
  // Of the third wording on.
  const char* group_draws = "";
  const char* group_success = "";
  const char* log_ticks = "";
  const char* log_fixed_before = "";
  const char* log_success = "";
  const char* log_confidence = "";
};

constexpr AssumptionTexts first_wording{
    .draws =
        "The runs are independent draws from one distribution of problems, and the statement is about a "
        "fresh problem from that same distribution.",
    .fixed_before = "Tolerances, quantiles, steps and methods were fixed before the runs were seen.",
    .fixed_but_number =
        "The steps, and the tolerances, quantiles and methods that are declared were fixed before the runs were "
        "seen. The number of runs need not have been: every bound holds at every number of runs at once, so that "
        "runs may be looked at and added at any time. All runs that were made are counted.",
    .success =
        "Success at a tolerance means strictly below it. A run with an infinite or NaN value has failed from "
        "that step on.",
    .confidence =
        "The confidence is over the draw of the samples: at least that share of such certificates are true.",
    .confidence_anytime =
        "The confidence is over the draw of the samples: were the study repeated with new samples, at least that "
        "share of the studies would never make a false certificate, whenever and however often they are looked "
        "at.",
    .together = "All claims hold together with the stated confidence (union bound over the listed shares).",
    .each_alone = "Each claim alone holds with the stated confidence; several together hold with less.",
    .drawn_weights =
        "A learned optimizer draws its weights anew from its posterior for every problem; shares are over "
        "weights and problems together.",
    .hold_out =
        "The weights were trained on other problems than the ones counted here (hold-out), and these "
        "were used once.",
    .training_samples =
        "The problems counted here are the training samples; what training learned from them is paid for by "
        "the KL divergence from a prior (PAC-Bayes). The network's input scaling and the prior's grid were "
        "fixed before they were seen.",
    .prior_from_others = "The prior mean was trained on other samples, none of them among the ones counted.",
    .prior_fixed = "The prior mean does not depend on the samples.",
    .calibration =
        "The drawn weights of the count are independent of training, and no count was repeated "
        "until it pleased."};

constexpr AssumptionTexts second_wording = [] {
  AssumptionTexts texts = first_wording;
  texts.draws =
      "The samples are independent and identically distributed: every problem is drawn from one "
      "distribution, independently of all others. Each statement is about a new problem, drawn from that "
      "same distribution and independently of the samples.";
  texts.fixed_before =
      "The number of samples, tolerances, quantiles, steps and methods were fixed before the runs were seen.";
  texts.confidence =
      "The confidence is over the draw of the samples: were the study repeated with new samples, at least "
      "that share of its certificates would be true.";
  texts.hold_out = "The weights were trained on other problems than the ones counted here (hold-out).";
  texts.calibration =
      "The drawn weights of the count are independent of training, and the count was not repeated to get "
      "a better one.";
  return texts;
}();

constexpr AssumptionTexts third_wording = [] {
  AssumptionTexts texts = second_wording;
  texts.fixed_before =
      "The number of samples, the steps, and the tolerances, quantiles and methods that are declared were fixed before "
      "the runs were seen.";
  texts.group_draws =
      "The groups are independent and identically distributed: every group, with its number of ticks, is drawn from one "
      "distribution, independently of all others; ticks of one group may depend on each other in any way. Each "
      "statement is about a new group, drawn from that same distribution and independently of these.";
  texts.group_success =
      "Success at a tolerance means strictly below it, and of a group that every one of its ticks is. A tick with an "
      "infinite or NaN value has failed from that step on.";
  texts.log_ticks =
      "The rows are all ticks of one log, in which every tick may depend on all before it in any way. Each statement is "
      "about the ticks that were recorded, not about another log, and not about ticks to come.";
  texts.log_fixed_before =
      "The steps and tolerances were fixed before the log was seen; its length need not have been: claims hold at every "
      "length at once.";
  texts.log_success =
      "Success at a tolerance means strictly below it. A tick with an infinite or NaN value has failed from that step on.";
  texts.log_confidence =
      "The confidence is over what chance makes of the log: were logs recorded again and again, at least that share of "
      "their certificates would be true.";
  return texts;
}();

constexpr const char* loop_draws =
    "The rollouts are independent and identically distributed: initial state and disturbances of each are drawn from "
    "one distribution, independently of all others; ticks of one rollout follow from each other. Each statement is about "
    "a new rollout of the same controller and plant, as they were simulated, drawn from that same distribution and "
    "independently of the samples.";
constexpr const char* loop_fixed_before =
    "The numbers of rollouts and ticks, the limits, and the tolerances, shares and methods that are declared were fixed "
    "before the rollouts were seen.";
constexpr const char* loop_success =
    "Success at a tolerance means strictly below it. A rollout whose number is infinite or NaN has failed under that "
    "limit.";
constexpr const char* loop_lost_of_tube =
    "A rollout whose numbers overflow is beyond both ends of the tube from then on.";

constexpr AssumptionTexts scalar_wording = [] {
  AssumptionTexts texts = third_wording;
  texts.fixed_before =
      "The number of samples, and the tolerances, quantiles and methods that are declared were fixed before the values "
      "were seen.";
  texts.success =
      "Success at a tolerance means at most it: a value that equals the tolerance is one. A value that is infinite "
      "or NaN is a failure at every tolerance.";
  return texts;
}();

constexpr const char* weights_not_read =
    "The weights themselves were not read when this certificate was made. Their digest, their KL divergence from the "
    "prior and the results of their runs are as the program that trained and ran them states them.";

constexpr const char* about_named_problems =
    "The problems are those that the table names. Nobody is known to have drawn them at random: what is said of "
    "new problems holds if these were drawn at random from those you will meet.";

const AssumptionTexts& texts_of(int wording) {
  require_known_wording(wording);
  if (wording == 1) return first_wording;
  return wording == 2 ? second_wording : third_wording;
}

/// What is said of earlier looks: of all variants the one that says least for the certificate. Nothing where
/// training has seen the samples (PAC-Bayes), or where they are neither named nor hold-out.
void add_looks(const Certificate& certificate, bool hold_out, std::vector<std::string>& words) {
  if (is_pac_bayes(certificate)) return;
  bool named = true;
  SampleProvenance shown;
  shown.earlier_looks = 0;
  for (const Variant& variant : certificate.variants) {
    named = named && variant.provenance;
    if (variant.provenance) shown.range.set = variant.provenance->range.set;
    const std::optional<Index> looks =
        variant.provenance ? variant.provenance->earlier_looks : std::optional<Index>();
    const bool some = looks.value_or(0) > shown.earlier_looks.value_or(0);
    if (some || (!looks && shown.earlier_looks == 0)) shown.earlier_looks = looks;
  }
  if (named || hold_out) words.push_back(looks_sentence(shown));
}

}  // namespace

std::vector<std::string> learned_assumptions(const Certificate& certificate, int wording) {
  const AssumptionTexts& texts = texts_of(wording);
  bool hold_out = false;
  bool drawn = draws_weights(certificate);
  bool unread = false;
  Index prior_samples = 0;
  for (const Variant& variant : certificate.variants) {
    // Fresh samples without weights: those of a function that draws, which nobody else knows.
    const bool unknown =
        !variant.weights && variant.provenance && variant.provenance->range.set == hold_out_set;
    drawn = drawn || unknown;
    unread = unread || (variant.weights && !variant.weights->read);
    hold_out = hold_out || unknown || (variant.weights && !variant.pac_bayes);
    if (variant.pac_bayes) prior_samples = std::max(prior_samples, variant.pac_bayes->prior_samples);
  }
  std::vector<std::string> words;
  if (drawn) words.emplace_back(texts.drawn_weights);
  if (hold_out) words.emplace_back(texts.hold_out);
  if (wording > 1) add_looks(certificate, hold_out, words);
  if (unread) words.emplace_back(weights_not_read);
  if (!is_pac_bayes(certificate)) return words;
  words.emplace_back(texts.training_samples);
  words.emplace_back(prior_samples > 0 ? texts.prior_from_others : texts.prior_fixed);
  words.emplace_back(texts.calibration);
  return words;
}

std::vector<std::string> assumptions_of(const Certificate& certificate, int wording) {
  const AssumptionTexts& texts = certificate.scalar ? scalar_wording : texts_of(wording);
  const bool anytime = holds_anytime(certificate);
  std::vector<std::string> words{texts.draws, anytime ? texts.fixed_but_number : texts.fixed_before,
                                 texts.success, anytime ? texts.confidence_anytime : texts.confidence};
  if (certificate.loop)
    words = {loop_draws, loop_fixed_before, certificate.loop->limit > 0 ? loop_lost_of_tube : loop_success,
             texts.confidence};
  if (sampling_of(certificate) == Sampling::groups)
    words = {texts.group_draws, anytime ? texts.fixed_but_number : texts.fixed_before, texts.group_success,
             anytime ? texts.confidence_anytime : texts.confidence};
  if (sampling_of(certificate) == Sampling::sequence)
    words = {texts.log_ticks, texts.log_fixed_before, texts.log_success, texts.log_confidence};
  words.emplace_back(certificate.simultaneous == Simultaneity::all ? texts.together : texts.each_alone);
  for (const ClaimKind* kind : claim_kinds_to_show()) {
    if (kind->size(certificate) == 0) continue;
    for (std::string& sentence : kind->assumptions(certificate, wording))
      words.push_back(std::move(sentence));
  }
  if (names_problems(certificate)) words.emplace_back(about_named_problems);
  for (std::string& sentence : learned_assumptions(certificate, wording))
    words.push_back(std::move(sentence));
  if (std::optional<std::string> stated = worst_case_assumption(certificate))
    words.push_back(std::move(*stated));
  if (std::optional<std::string> nearby = shift_assumption(certificate)) words.push_back(std::move(*nearby));
  return words;
}

void set_provenance(Certificate& certificate, const std::vector<SampleProvenance>& provenance) {
  require(provenance.size() == certificate.variants.size(), "provenance: {} for {} variants",
          provenance.size(), certificate.variants.size());
  for (std::size_t i = 0; i < provenance.size(); ++i) {
    provenance[i].range.validate();
    certificate.variants[i].provenance = provenance[i];
  }
  certificate.assumptions = assumptions_of(certificate);
}

}  // namespace surefoot::certify
