#include "surefoot/certify/worst_case_part.hpp"

#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace surefoot::certify {

namespace {

constexpr Index last_proven_step = 300;
constexpr std::size_t most_proven_steps = 8;

}  // namespace

StatedWorstCase parse_stated_worst_case(std::string_view text, std::optional<double> dist0) {
  const std::size_t colon = text.find(':');
  const std::string method(text.substr(0, colon));
  require(method == "averaged" || method == "contractive",
          "--worst-case: '{}' is neither averaged:ALPHA nor contractive:FACTOR", text);
  const std::string_view digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  double value = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  require(error == std::errc() && rest == digits.data() + digits.size() && !digits.empty(),
          "--worst-case: '{}' has no number after the colon", text);
  require(dist0.has_value(),
          "--dist0: a worst case needs it, as a fact: |z^0 - z*| <= dist0 for every problem");
  require(*dist0 >= 0.0 && *dist0 < infinity, "--dist0: {} is negative or not finite", *dist0);
  StatedWorstCase stated;
  stated.question.method = method;
  worst_case::set_parameter(stated.question, method == "averaged" ? "alpha" : "factor", value);
  stated.question = worst_case::resolved(stated.question);
  stated.dist0 = *dist0;
  return stated;
}

void add_worst_case(Certificate& certificate, const StatedWorstCase& stated, const Interrupt& interrupt) {
  std::vector<double> candidates;
  for (const Index step : certificate.steps) {
    if (step >= 1 && step <= last_proven_step) candidates.push_back(static_cast<double>(step));
  }
  require(!candidates.empty(), "--worst-case: none of the steps is in 1..{}", last_proven_step);
  std::vector<Index> steps;
  for (const double step : telling_values(candidates, most_proven_steps))
    steps.push_back(static_cast<Index>(step));
  worst_case::ProveOptions options;
  options.interrupt = interrupt;
  const worst_case::ProofFile proof = worst_case::prove_steps(stated.question, steps, stated.dist0, options);
  require(!proof.bounds.empty(), "--worst-case: no proof was found for any step");
  certificate.worst_case = worst_case::to_json(proof);
  certificate.assumptions = assumptions_of(certificate, certificate.wording);
}

std::optional<worst_case::ParsedProof> worst_case_of(const Certificate& certificate) {
  if (certificate.worst_case == "null") return std::nullopt;
  return worst_case::parse_proof(certificate.worst_case);
}

std::optional<std::string> worst_case_assumption(const Certificate& certificate) {
  const std::optional<worst_case::ParsedProof> part = worst_case_of(certificate);
  if (!part) return std::nullopt;
  const worst_case::ProofFile& proof = part->proof;
  const std::string distance = exact_label(proof.start);
  // Runs of our own: the verb has checked the settings and the starts.
  if (certificate.run != "null") {
    return fmt::format(
        "Stated by the user, not checked: the distance of the start from a solution, in the variables (x, w "
        "+ y) in which "
        "OSQP with these settings is averaged, is at most {} for every problem. All that is said of the "
        "worst case rests "
        "on it.",
        distance);
  }
  return fmt::format(
      "Stated by the user, not checked: the metric at iteration k is the residual |z^k - z^(k-1)| of {}, the "
      "same "
      "one at all iterations, and |z^0 - z*| is at most {} for every problem. All that is said of the worst "
      "case rests "
      "on it.",
      worst_case::class_in_words(proof.question).replace(0, 5, "some"), distance);
}

std::vector<std::string> worst_case_sentences(const Certificate& certificate) {
  const std::optional<worst_case::ParsedProof> part = worst_case_of(certificate);
  if (!part) return {};
  std::vector<std::string> lines;
  for (const worst_case::ProvenBound& proven : part->proof.bounds) {
    std::string line = fmt::format(
        "Worst case, if what the user states holds ({}, start within {}): at iteration {} the {} of every "
        "problem is at most {}.",
        worst_case::class_in_words(part->proof.question), exact_label(part->proof.start), proven.steps,
        certificate.metric, upper_bound_value(proven.bound));
    for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
      const QuantileClaim* largest = nullptr;
      for (const QuantileClaim& claim : certificate.quantile) {
        if (claim.variant == v && claim.step == proven.steps &&
            (largest == nullptr || claim.quantile > largest->quantile))
          largest = &claim;
      }
      if (largest == nullptr) continue;
      const bool samples_win = largest->upper_bound < proven.bound;
      line += fmt::format(" {}: the samples bound {} of problems by {}; {} is the smaller.",
                          certificate.variants[v].name, percent_label(largest->quantile),
                          upper_bound_value(largest->upper_bound),
                          samples_win ? "that" : "the worst case, for all problems,");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> wrong_in_worst_case(const Certificate& certificate) {
  std::vector<std::string> findings;
  const std::optional<worst_case::ParsedProof> part = worst_case_of(certificate);
  if (!part) return findings;
  for (const std::string& finding : worst_case::replay(*part).findings)
    findings.push_back("worst case: " + finding);
  if (part->proof.own || part->proof.question.metric != "residual")
    findings.emplace_back("worst case: the proof is not of a residual");
  for (const worst_case::ProvenBound& proven : part->proof.bounds) {
    if (std::find(certificate.steps.begin(), certificate.steps.end(), proven.steps) ==
        certificate.steps.end())
      findings.push_back(fmt::format("worst case: step {} is not one of the certificate's", proven.steps));
  }
  return findings;
}

}  // namespace surefoot::certify
