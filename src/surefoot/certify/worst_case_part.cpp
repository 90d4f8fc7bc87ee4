#include "surefoot/certify/worst_case_part.hpp"

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace surefoot::certify {

namespace {

using WorstJson = nlohmann::ordered_json;

constexpr Index last_proven_step = 300;
constexpr Index cheap_step = 20;  ///< up to it, proofs are short: every step is proven
constexpr std::size_t most_later_steps = 8;
constexpr std::size_t most_proven_tolerances = 8;
/// Below this times dist0 nothing is proven: the solver, whose accuracy is that of the square, loses digits,
/// and rounding of computed iterates comes near.
constexpr double least_relative_bound = 2e-5;
/// By how much a computed residual may exceed the theorem about exact ones.
constexpr double room_for_rounding = 1e-6;
/// By how much the square of a proven bound usually exceeds that of the formula: relatively, and per dist0^2.
constexpr double room_for_proof = 4e-6;
constexpr double accuracy_of_square = 2e-10;

constexpr const char* stated_word = "stated";
constexpr const char* estimated_word = "estimated";

// The worst case per dist0 by the formula; infinity where none is known.
double by_formula(const StatedWorstCase& stated, Index step) {
  worst_case::Question question = stated.question;
  question.steps = step;
  return worst_case::closed_form(question).value_or(infinity);
}

// At most this is what a proof at this step will give.
double expected_bound(const StatedWorstCase& stated, Index step) {
  const double unit = by_formula(stated, step);
  return stated.dist0 * std::sqrt(unit * unit * (1 + room_for_proof) + accuracy_of_square);
}

// The bound at this step stands for all later ones.
Index last_step_to_prove(const StatedWorstCase& stated) {
  Index last = 1;
  while (last < last_proven_step && by_formula(stated, last + 1) >= least_relative_bound) ++last;
  return last;
}

std::vector<Index> steps_to_prove(const Certificate& certificate, const StatedWorstCase& stated) {
  const Index last = last_step_to_prove(stated);
  std::set<Index> steps;
  std::set<Index> later;
  for (const Index step : certificate.steps) {
    const Index in_reach = std::min(step, last);
    if (in_reach >= 1) (in_reach <= cheap_step ? steps : later).insert(in_reach);
  }
  for (const double step : telling_values({later.begin(), later.end()}, most_later_steps))
    steps.insert(static_cast<Index>(step));
  for (const double tolerance : telling_values(certificate.tolerances, most_proven_tolerances)) {
    for (Index step = 1; step <= last; ++step) {
      if (!(expected_bound(stated, step) < tolerance)) continue;
      steps.insert(step);
      break;
    }
  }
  return {steps.begin(), steps.end()};
}

// A count that no operator of the class, started within dist0, can have; empty if there is none.
std::string contradiction(const Certificate& certificate, const WorstCaseBounds& bounds) {
  if (bounds.estimated()) return "";
  const auto most = [&](Index step) { return bounds.at(step) * (1 + room_for_rounding); };
  for (const Variant& variant : certificate.variants) {
    if (variant.non_finite_runs > 0)
      return fmt::format("{} runs of {} have an infinity or NaN", variant.non_finite_runs, variant.name);
  }
  for (const SuccessClaim& claim : certificate.success) {
    if (claim.failures > 0 && claim.tolerance > most(claim.step))
      return fmt::format("{} problems are not below {} at iteration {}, where the worst case is {}",
                         claim.failures, exact_label(claim.tolerance), claim.step,
                         upper_bound_value(bounds.at(claim.step)));
  }
  for (const QuantileClaim& claim : certificate.quantile) {
    // Values of a grid are rounded up to it: they show nothing.
    const bool exact = claim.method != bounds::QuantileMethod::grid &&
                       claim.variant < certificate.variants.size() &&
                       !certificate.variants[claim.variant].values_rounded_up;
    if (exact && claim.empirical > most(claim.step))
      return fmt::format("a problem is at {} at iteration {}, where the worst case is {}",
                         exact_label(claim.empirical), claim.step, upper_bound_value(bounds.at(claim.step)));
  }
  return "";
}

// Why the certificate cannot have a worst case at all; empty if it can.
std::string unfit(const Certificate& certificate) {
  if (certificate.format == 1) return "certificates of format 1 have none";
  if (is_pac_bayes(certificate)) return "a learned optimizer is of no class";
  if (certificate.unit == "dB") return "a residual is a norm, not a number of decibels";
  for (const Variant& variant : certificate.variants) {
    if (variant.first_step < 1)
      return fmt::format(
          "{} has a column of iteration {}, and the residual |z^k - z^(k-1)| begins at k = 1; if its first "
          "column is |z^1 - z^0|, say --first-step 1",
          variant.name, variant.first_step);
  }
  return "";
}

std::string class_of(const WorstCaseBounds& bounds) {
  return worst_case::class_in_words(bounds.proof().question).replace(0, 5, "some");
}

std::string sentence_of(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + '.';
}

std::string after_iterations(Index step) {
  return fmt::format("after {} iteration{} and ever after", count_label(step), step == 1 ? "" : "s");
}

}  // namespace

StatedWorstCase parse_stated_worst_case(std::string_view text, std::optional<double> dist0,
                                        std::optional<double> estimated_dist0) {
  const std::size_t colon = text.find(':');
  const std::string method(text.substr(0, colon));
  require(method == "averaged" || method == "contractive",
          "--worst-case: '{}' is neither averaged:ALPHA nor contractive:FACTOR", text);
  const std::string_view digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  double value = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  require(error == std::errc() && rest == digits.data() + digits.size() && !digits.empty(),
          "--worst-case: '{}' has no number after the colon", text);
  require(method == "averaged" || value <= 1.0, "--worst-case: an operator of factor {} is no contraction",
          value);
  require(dist0.has_value() || estimated_dist0.has_value(),
          "--dist0: a worst case needs it, as a fact: |z^0 - z*| <= dist0 for every problem; or "
          "--estimated-dist0, for a curve that no claim uses");
  require(!dist0 || !estimated_dist0, "--estimated-dist0: --dist0 is given too, and only one of them counts");
  const char* option = dist0 ? "--dist0" : "--estimated-dist0";
  StatedWorstCase stated;
  stated.dist0 = dist0 ? *dist0 : *estimated_dist0;
  stated.estimated = !dist0;
  require(stated.dist0 >= 0.0 && stated.dist0 < infinity, "{}: {} is negative or not finite", option,
          stated.dist0);
  stated.question.method = method;
  worst_case::set_parameter(stated.question, method == "averaged" ? "alpha" : "factor", value);
  stated.question = worst_case::resolved(stated.question);
  return stated;
}

void require_declared(StatedWorstCase& stated, const algorithms::Operator& op,
                      const problems::Table& starts) {
  const algorithms::DeclaredMap declared = op.declared_map();
  require(declared.map != nullptr, "--worst-case: {}: {}", op.name(), declared.why_not);
  const worst_case::Question& question = stated.question;
  require(question.method == "averaged" && question.parameters.alpha >= declared.map->averagedness(),
          "--worst-case: {} is stated, but a step of {} is {}-averaged",
          worst_case::class_in_words(question).substr(6), op.name(), declared.map->averagedness());
  stated.variables = declared.map->variables();
  require(starts.size() == 0 || (starts.rows() == op.instances() && starts.cols() == op.iterate_size()),
          "--start: has {} x {} numbers, must have {} x {}", starts.rows(), starts.cols(), op.instances(),
          op.iterate_size());
  const auto workspace = op.make_workspace();
  algorithms::Buffer state = algorithms::make_buffer(op.state_size(), op.width());
  algorithms::Buffer iterate = algorithms::make_buffer(op.iterate_size(), op.width());
  std::vector<double> one(static_cast<std::size_t>(op.iterate_size()));
  for (Index i = 0; i < op.instances(); ++i) {
    if (starts.size() > 0) {
      for (Index j = 0; j < op.iterate_size(); ++j) one[static_cast<std::size_t>(j)] = starts(i, j);
    } else {
      op.load(i, 1, *workspace);
      op.start({state.data(), op.state_size(), op.width()}, *workspace);
      op.read({state.data(), op.state_size(), op.width()}, *workspace, 0, op.iterate_size(), iterate.data());
      for (Index j = 0; j < op.iterate_size(); ++j)
        one[static_cast<std::size_t>(j)] = iterate[j * op.width()];
    }
    require(
        declared.map->fits(i, one.data()),
        "--worst-case: the start of problem {} is none that a step leaves (OSQP: w = clip(w + y, l, u)); the "
        "theorem then speaks of later distances only",
        i);
  }
}

void add_worst_case(Certificate& certificate, const StatedWorstCase& stated, const Interrupt& interrupt) {
  const std::string why_not = unfit(certificate);
  require(why_not.empty(), "--worst-case: {}", why_not);
  const std::vector<Index> steps = steps_to_prove(certificate, stated);
  require(!steps.empty(), "--worst-case: none of the steps is 1 or later");
  worst_case::ProveOptions options;
  options.interrupt = interrupt;
  const worst_case::ProofFile proof = worst_case::prove_steps(stated.question, steps, stated.dist0, options);
  require(!proof.bounds.empty(), "--worst-case: no proof was found for any step");
  const WorstJson part{{"dist0", stated.estimated ? estimated_word : stated_word},
                       {"variables", stated.variables},
                       {"proof", WorstJson::parse(worst_case::to_json(proof))}};
  Certificate with = certificate;
  with.worst_case = part.dump();
  const std::string contradicted = contradiction(with, WorstCaseBounds(with));
  require(contradicted.empty(),
          "--worst-case: the data show that the statement is false: {} (is the metric |z^k - z^(k-1)| in the "
          "norm in which the operator is of its class, and --dist0 in the same norm?)",
          contradicted);
  certificate.worst_case = with.worst_case;
  certificate.assumptions = assumptions_of(certificate, certificate.wording);
}

WorstCaseBounds::WorstCaseBounds(const Certificate& certificate) {
  if (certificate.worst_case == "null") return;
  const WorstJson part = WorstJson::parse(certificate.worst_case, nullptr, false);
  require(part.is_object() && part.size() == 3 && part.contains("dist0") && part.contains("variables") &&
              part.contains("proof"),
          "certificate: worst_case does not have dist0, variables and proof");
  require(part.at("dist0") == stated_word || part.at("dist0") == estimated_word,
          "certificate: worst_case.dist0 is neither {} nor {}", stated_word, estimated_word);
  require(part.at("variables").is_string(), "certificate: worst_case.variables is not a text");
  estimated_ = part.at("dist0") == estimated_word;
  variables_ = part.at("variables").get<std::string>();
  require_name("variables", variables_);
  parsed_ = worst_case::parse_proof(part.at("proof").dump());
}

double WorstCaseBounds::at(Index step) const {
  double smallest = infinity;
  if (!parsed_) return smallest;
  for (const worst_case::ProvenBound& proven : proof().bounds)
    if (proven.steps <= step) smallest = std::min(smallest, proven.bound);
  return smallest;
}

std::optional<Index> WorstCaseBounds::below(double tolerance) const {
  std::optional<Index> first;
  if (!parsed_) return first;
  for (const worst_case::ProvenBound& proven : proof().bounds)
    if (proven.bound < tolerance && (!first || proven.steps < *first)) first = proven.steps;
  return first;
}

double WorstCaseBounds::better(const SuccessClaim& claim) const {
  return used() && at(claim.step) < claim.tolerance ? 1.0 : claim.lower_bound;
}

double WorstCaseBounds::better(const QuantileClaim& claim) const {
  return used() ? std::min(claim.upper_bound, at(claim.step)) : claim.upper_bound;
}

std::optional<Index> WorstCaseBounds::better(const BudgetClaim& claim) const {
  const std::optional<Index> proven = used() ? below(claim.tolerance) : std::nullopt;
  if (!proven || (claim.steps && *claim.steps <= *proven)) return claim.steps;
  return proven;
}

bool uses_worst_case(const Certificate& certificate) {
  const WorstCaseBounds bounds(certificate);
  if (!bounds.used()) return false;
  const auto gains = [&](const auto& claims, auto own) {
    return std::ranges::any_of(claims, [&](const auto& claim) { return bounds.better(claim) != claim.*own; });
  };
  return gains(certificate.success, &SuccessClaim::lower_bound) ||
         gains(certificate.quantile, &QuantileClaim::upper_bound) ||
         gains(certificate.budget, &BudgetClaim::steps);
}

std::string worst_case_condition(const Certificate& certificate) {
  const WorstCaseBounds bounds(certificate);
  if (!bounds.present()) return "";
  const std::string distance = exact_label(bounds.proof().start);
  if (!bounds.variables().empty())
    return fmt::format("if |z^0 - z*| <= {} in {} for every problem, as {}", distance, bounds.variables(),
                       bounds.estimated() ? "estimated" : "the user states");
  return fmt::format("if the {} is |z^k - z^(k-1)| of {} and |z^0 - z*| <= {} for every problem, as {}",
                     certificate.metric, class_of(bounds), distance,
                     bounds.estimated() ? "estimated" : "the user states");
}

std::string note_on_worst_case(const Certificate& certificate) {
  const WorstCaseBounds bounds(certificate);
  if (!bounds.present()) return "";
  if (bounds.estimated())
    return fmt::format(
        "The worst case rests on an estimate of |z^0 - z*|, {}: it is shown for comparison, and nothing that "
        "is certified uses it.",
        exact_label(bounds.proof().start));
  return fmt::format("(w): the worst case, for every problem and without regard to the samples, {}.",
                     worst_case_condition(certificate));
}

std::string worst_case_label(const Certificate& certificate) {
  const WorstCaseBounds bounds(certificate);
  return bounds.estimated() ? "worst case, ESTIMATED |z^0 - z*|" : "every problem (w), if as stated";
}

std::optional<std::string> worst_case_assumption(const Certificate& certificate) {
  const WorstCaseBounds bounds(certificate);
  if (!bounds.present()) return std::nullopt;
  const std::string distance = exact_label(bounds.proof().start);
  if (bounds.estimated())
    return fmt::format(
        "The worst case that is drawn rests on an estimate, {}, of the distance of the start from a "
        "solution. No claim uses it.",
        distance);
  const std::string rests =
      "All that is said of the worst case, and of every problem, rests on it, and holds in exact arithmetic.";
  if (!bounds.variables().empty())
    return fmt::format(
        "Stated by the user, not checked: the distance of the start from a solution, in {}, in which a step "
        "is that of {}, is at most {} for every problem. {}",
        bounds.variables(), class_of(bounds), distance, rests);
  return fmt::format(
      "Stated by the user, not checked: the metric at iteration k is the residual |z^k - z^(k-1)| of {}, the "
      "same one at all iterations, and |z^0 - z*| is at most {} for every problem, in the same norm "
      "and variables. {}",
      class_of(bounds), distance, rests);
}

std::vector<std::string> worst_case_clauses(const Certificate& certificate) {
  const WorstCaseBounds bounds(certificate);
  std::vector<std::string> clauses;
  if (!bounds.used()) return clauses;
  std::set<Index> told;
  for (const double tolerance : certificate.tolerances) {  // increasing: the strictest first
    const std::optional<Index> step = bounds.below(tolerance);
    if (!step || !told.insert(*step).second) continue;
    clauses.push_back(fmt::format("the {} of every problem is below {} {}", certificate.metric,
                                  with_unit(certificate, exact_label(tolerance)), after_iterations(*step)));
  }
  const auto last = std::ranges::max_element(bounds.proof().bounds, {}, &worst_case::ProvenBound::steps);
  if (last == bounds.proof().bounds.end()) return clauses;
  clauses.push_back(fmt::format("the {} of every problem is at most {} {}", certificate.metric,
                                with_unit(certificate, upper_bound_value(last->bound)),
                                after_iterations(last->steps)));
  return clauses;
}

std::vector<std::string> worst_case_sentences(const Certificate& certificate) {
  const WorstCaseBounds bounds(certificate);
  if (!bounds.present()) return {};
  const std::string condition = worst_case_condition(certificate);
  std::vector<std::string> lines;
  for (const worst_case::ProvenBound& proven : bounds.proof().bounds) {
    const std::string claim =
        fmt::format("at iteration {} the {} of every problem is at most {}", count_label(proven.steps),
                    certificate.metric, with_unit(certificate, upper_bound_value(proven.bound)));
    lines.push_back(bounds.estimated()
                        ? fmt::format("An estimate, not a guarantee: {}, {}.", condition, claim)
                        : sentence_of(fmt::format("{}, {}", condition, claim)));
  }
  return lines;
}

std::vector<std::string> wrong_in_worst_case(const Certificate& certificate) {
  std::vector<std::string> findings;
  const WorstCaseBounds bounds(certificate);
  if (!bounds.present()) return findings;
  for (const std::string& finding : worst_case::replay(bounds.parsed()).findings)
    findings.push_back("worst case: " + finding);
  const worst_case::Question& question = bounds.proof().question;
  const bool never_grows = question.method == "averaged" ||
                           (question.method == "contractive" && question.parameters.factor <= 1.0);
  if (bounds.proof().own || question.metric != "residual" || !never_grows)
    findings.emplace_back("worst case: the proof is not of a residual that never grows");
  if (const std::string why_not = unfit(certificate); !why_not.empty())
    findings.push_back("worst case: " + why_not);
  if (bounds.variables().empty() != (certificate.run == "null"))
    findings.emplace_back("worst case: variables are those of the operator that was run");
  std::set<Index> steps;
  for (const worst_case::ProvenBound& proven : bounds.proof().bounds) {
    if (proven.steps < 1 || proven.steps > last_proven_step || !steps.insert(proven.steps).second)
      findings.push_back(
          fmt::format("worst case: step {} is there twice or outside 1..{}", proven.steps, last_proven_step));
  }
  if (const std::string contradicted = contradiction(certificate, bounds); !contradicted.empty())
    findings.push_back(
        fmt::format("worst case: the counts show that the statement is false: {}", contradicted));
  return findings;
}

}  // namespace surefoot::certify
