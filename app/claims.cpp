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

std::vector<std::string> ClaimArguments::kinds(certify::Sampling of, bool holds_anytime) const {
  return claims == unset ? certify::default_kinds(of, holds_anytime) : io::split_list("--claims", claims);
}

certify::Options ClaimArguments::options() const {
  certify::Options result;
  result.sampling = sampling;
  result.group = group;
  if (tolerances != unset) result.tolerances = parse_numbers("--tolerances", tolerances);
  if (quantiles != unset) result.quantiles = parse_numbers("--quantiles", quantiles);
  result.scalar = scalar;
  result.metric = metric;
  result.unit = unit;
  result.title = title;
  if (!shift.empty()) result.shift = bounds::parse_shift(shift);
  if (!range.empty()) {
    const std::vector<double> ends = parse_numbers("--range", range);
    require(ends.size() == 2 && ends[0] == 0,
            "--range: '{}' is not 0,R: the metric of every problem lies between 0 and R", range);
    result.range = ends[1];
  }
  if (!thresholds.empty()) result.thresholds = parse_numbers("--thresholds", thresholds);
  if (!cvar.empty()) result.cvar = parse_numbers("--cvar", cvar);
  result.delta = bounds::delta_of_confidence(confidence);
  result.simultaneous = certify::parse_simultaneity(simultaneous);
  result.choose = certify::parse_choice(choose);
  result.risk_method = bounds::parse_risk_method(risk_method);
  const std::optional<certify::Until> waited_for = until_claim();
  if (anytime || waited_for) {
    require(result.risk_method == bounds::RiskMethod::exact || result.anytime(),
            "--risk-method: '{}' is for a number of runs that was fixed beforehand, not for {}", risk_method,
            waited_for ? "--until" : "--anytime");
    result.risk_method = bounds::RiskMethod::anytime;
  }
  require(!result.anytime() || sampling != certify::Sampling::sequence,
          "--anytime: claims of a log (--sequence) hold at every number of ticks as they are");
  result.kinds = kinds(sampling, result.anytime());
  // Bands are for a fixed number of runs: only somebody who asks for them hears of it.
  if (result.anytime() && !given("--choose")) result.choose = certify::Choice::before;
  result.quantile_method = bounds::parse_quantile_method(quantile_method);
  result.budget_method = bounds::parse_budget_method(budget_method);
  result.average_method = bounds::parse_mean_method(average_method);
  for (const auto& [kind, delta] : kind_delta)
    if (delta) result.kind_delta[kind] = *delta;
  result.all_steps = steps == "all";
  if (!steps.empty() && !result.all_steps) result.steps = parse_steps(steps);
  result.validate();
  if (sampling != certify::Sampling::problems) result.require_claimable();
  if (!waited_for) return result;
  return waited_for->declare(std::move(result), {.kinds = given("--claims"),
                                                 .tolerances = given("--tolerances"),
                                                 .quantiles = given("--quantiles"),
                                                 .steps = given("--steps")});
}

std::optional<certify::Until> ClaimArguments::until_claim() const {
  if (until.empty() && !given("--until")) return std::nullopt;
  return certify::Until(until);
}

bool ClaimArguments::given(const char* option) const {
  return verb != nullptr && verb->get_option_no_throw(option) != nullptr && verb->count(option) > 0;
}

std::vector<std::pair<std::string, std::string>> ClaimArguments::effective() const {
  const certify::Options made = options();
  // Which of the default quantiles are claimed depends on the number of problems.
  const std::string declared = made.quantiles.empty() ? unset : as_list(made.quantiles);
  if (!made.anytime()) return {{"--quantiles", declared}};
  return {{"--choose", std::string(name(made.choose))},
          {"--claims", fmt::format("{}", fmt::join(made.kinds, ","))},
          {"--quantiles", declared}};
}

void add_claim_options(CLI::App& verb, ClaimArguments& arguments,
                       const std::vector<certify::Sampling>& samplings) {
  arguments.verb = &verb;
  std::vector<const certify::ClaimKind*> offered;
  for (const certify::ClaimKind* kind : certify::claim_kinds()) {
    if (std::ranges::any_of(samplings, [&](certify::Sampling of) { return kind->claimed_of(of); }))
      offered.push_back(kind);
  }
  verb.add_option(
      "--tolerances", arguments.tolerances,
      "increasing list, e.g. 1e-4,1e-2; below it is success [1e-4,1e-3,1e-2,1e-1; -40,..,-10 for dB]");
  verb.add_option("--quantiles", arguments.quantiles,
                  "increasing list in (0, 1); of the default ones those that the number of problems supports")
      ->default_str(as_list(certify::default_quantiles(false)));
  verb.add_option("--steps", arguments.steps, "steps to certify: a list, or all [up to 60, spread out]");
  verb.add_option("--confidence", arguments.confidence, "of the whole certificate, in (0, 1)")
      ->capture_default_str();
  std::vector<std::string_view> kinds;
  for (const certify::ClaimKind* kind : offered) kinds.push_back(kind->name());
  std::string defaults = fmt::format("{}", fmt::join(certify::default_kinds(), ","));
  if (std::ranges::count(samplings, certify::Sampling::groups) > 0)
    defaults += "; of groups average too; of a log sequence";
  verb.add_option("--claims", arguments.claims,
                  fmt::format("kinds of claims: {} [{}]", fmt::join(kinds, ", "), defaults));
  verb.add_option("--simultaneous", arguments.simultaneous,
                  "all: all claims hold together with the confidence; each: each claim alone does")
      ->capture_default_str();
  verb.add_option(
          "--choose", arguments.choose,
          "when tolerances and shares are chosen; before: those declared here; after: any, of bands; both: "
          "these with four fifths of the confidence, and bands with the rest")
      ->capture_default_str();
  verb.add_option("--risk-method", arguments.risk_method, "exact, kl, pinsker or anytime")
      ->capture_default_str();
  verb.add_option("--quantile-method", arguments.quantile_method, "exact or grid")->capture_default_str();
  verb.add_option("--budget-method", arguments.budget_method, "settling, every-step, first-hit or paper")
      ->capture_default_str();
  for (const certify::ClaimKind* kind : offered) {
    const std::string name(kind->name());
    verb.add_option(fmt::format("--{}-delta", name), arguments.kind_delta[name],
                    fmt::format("delta of each {} claim [a share of the total]", kind->singular()));
  }
  verb.add_option(
      "--range", arguments.range,
      "0,R: the metric of every problem lies there, stated by you as a fact: its mean and the mean over the "
      "worst problems (CVaR) are claimed too; certify --worst-case: worst-case, what it proves");
  verb.add_option(
      "--thresholds", arguments.thresholds,
      "of the metric, with --range: CVaR is bounded by the mean excess over them [0.001, 0.01, 0.03, "
      "0.1 and 0.3 of R]");
  verb.add_option("--cvar", arguments.cvar, "levels of CVaR that are shown, with --range [0.9,0.99]");
  verb.add_option(
      "--shift", arguments.shift,
      "state the claims also under every distribution that is not further than this from the one of the "
      "samples: kl:RHO, tv:T, chi2:C or ratio:W, e.g. kl:0.02");
  verb.add_option("--title", arguments.title, "title of the report");
}

void add_anytime_option(CLI::App& verb, ClaimArguments& arguments) {
  verb.add_flag(
      "--anytime", arguments.anytime,
      "claims that hold at every number of runs, so you may look at any time and add runs; --choose is before");
}

void add_until_option(CLI::App& verb, ClaimArguments& arguments) {
  verb.add_option(
      "--until", arguments.until,
      "make runs until this claim holds, e.g. \"99% below 1e-3 after 50\"; it is declared alone unless "
      "--tolerances, --quantiles, --steps or --claims say more; implies --anytime");
}

void add_dependence_option(CLI::App& verb, bool& allow) {
  verb.add_flag(
      "--allow-dependence", allow,
      "certify rows that are not independent; sentences then begin \"if the rows were independent\"");
}
