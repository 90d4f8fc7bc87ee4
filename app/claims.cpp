#include "claims.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/shift.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

using namespace surefoot;

namespace {

// A whole text as a number: nothing before it, nothing after it.
template <class T>
T parse_part(const char* option, const std::string& part, const char* what) {
  T value{};
  const char* end = part.data() + part.size();
  const auto [rest, error] = std::from_chars(part.data(), end, value);
  require(error == std::errc() && rest == end, "{}: '{}' is not {}", option, part, what);
  return value;
}

std::vector<Index> parse_steps(const std::string& text) {
  std::vector<Index> steps;
  for (const std::string& part : io::split_list("--steps", text)) {
    steps.push_back(parse_part<Index>("--steps", part, "a step number (or 'all')"));
  }
  return steps;
}

}  // namespace

std::string as_list(const std::vector<double>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

double confidence_of(double delta) {
  return bounds::delta_of_confidence(delta);  // both are 1 minus the other
}

std::vector<double> parse_numbers(const char* option, const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : io::split_list(option, text)) {
    numbers.push_back(parse_part<double>(option, part, "a number"));
  }
  return numbers;
}

certify::Options ClaimArguments::options() const {
  certify::Options result;
  if (tolerances != unset) result.tolerances = parse_numbers("--tolerances", tolerances);
  result.quantiles = parse_numbers("--quantiles", quantiles);
  result.metric = metric;
  result.unit = unit;
  result.title = title;
  if (!shift.empty()) result.shift = bounds::parse_shift(shift);
  result.delta = bounds::delta_of_confidence(confidence);
  result.simultaneous = certify::parse_simultaneity(simultaneous);
  result.choose = certify::parse_choice(choose);
  result.kinds = io::split_list("--claims", claims);
  result.risk_method = bounds::parse_risk_method(risk_method);
  result.quantile_method = bounds::parse_quantile_method(quantile_method);
  result.budget_method = bounds::parse_budget_method(budget_method);
  for (const auto& [kind, delta] : kind_delta)
    if (delta) result.kind_delta[kind] = *delta;
  result.all_steps = steps == "all";
  if (!steps.empty() && !result.all_steps) result.steps = parse_steps(steps);
  result.validate();
  return result;
}

void add_claim_options(CLI::App& verb, ClaimArguments& arguments) {
  verb.add_option(
      "--tolerances", arguments.tolerances,
      "increasing list, e.g. 1e-4,1e-2; below it is success [1e-4,1e-3,1e-2,1e-1; -40,..,-10 for dB]");
  verb.add_option("--quantiles", arguments.quantiles, "increasing list in (0, 1)")->capture_default_str();
  verb.add_option("--steps", arguments.steps, "steps to certify: a list, or all [up to 60, spread out]");
  verb.add_option("--confidence", arguments.confidence, "of the whole certificate, in (0, 1)")
      ->capture_default_str();
  std::vector<std::string_view> kinds;
  for (const certify::ClaimKind* kind : certify::claim_kinds()) kinds.push_back(kind->name());
  verb.add_option("--claims", arguments.claims, fmt::format("kinds of claims: {}", fmt::join(kinds, ", ")))
      ->capture_default_str();
  verb.add_option("--simultaneous", arguments.simultaneous,
                  "all: all claims hold together with the confidence; each: each claim alone does")
      ->capture_default_str();
  verb.add_option(
          "--choose", arguments.choose,
          "when tolerances and shares are chosen; before: those declared here; after: any, of bands; both: "
          "these with four fifths of the confidence, and bands with the rest")
      ->capture_default_str();
  verb.add_option("--risk-method", arguments.risk_method, "exact, kl or pinsker")->capture_default_str();
  verb.add_option("--quantile-method", arguments.quantile_method, "exact or grid")->capture_default_str();
  verb.add_option("--budget-method", arguments.budget_method, "settling, every-step, first-hit or paper")
      ->capture_default_str();
  for (const certify::ClaimKind* kind : certify::claim_kinds()) {
    const std::string name(kind->name());
    verb.add_option(fmt::format("--{}-delta", name), arguments.kind_delta[name],
                    fmt::format("delta of each {} claim [a share of the total]", kind->singular()));
  }
  verb.add_option(
      "--shift", arguments.shift,
      "state the claims also under every distribution that is not further than this from the one of the "
      "samples: kl:RHO, tv:T, chi2:C or ratio:W, e.g. kl:0.02");
  verb.add_option("--title", arguments.title, "title of the report");
}

void add_dependence_option(CLI::App& verb, bool& allow) {
  verb.add_flag(
      "--allow-dependence", allow,
      "certify rows that are not independent; sentences then begin \"if the rows were independent\"");
}
