#include "claims.hpp"

#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>

using namespace surefoot;

namespace {

std::vector<Index> parse_steps(const std::string& text) {
  std::vector<Index> steps;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    std::size_t used = 0;
    Index step = -1;
    try {
      step = std::stoll(part, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    require(used > 0 && used == part.size() && step >= 0, "--steps: '{}' is not a step number (or 'all')",
            part);
    steps.push_back(step);
  }
  return steps;
}

}  // namespace

certify::Options ClaimArguments::options() const {
  certify::Options result;
  result.tolerances = tolerances;
  result.quantiles = quantiles;
  result.metric = metric;
  result.unit = unit;
  result.title = title;
  require(confidence > 0 && confidence < 1, "--confidence: {} is outside (0, 1)", confidence);
  // The decimal 0.99 leaves the decimal 0.01, not 0.010000000000000009.
  result.delta = std::stod(fmt::format("{:.15g}", 1.0 - confidence));
  require(simultaneous == "all" || simultaneous == "each", "--simultaneous: '{}' is not one of all, each",
          simultaneous);
  result.simultaneous = simultaneous == "all" ? certify::Simultaneity::all : certify::Simultaneity::each;
  for (const std::string& claim : claims) {
    require(claim == "success" || claim == "quantile" || claim == "budget",
            "--claims: '{}' is not one of success, quantile, budget", claim);
  }
  const auto claimed = [&](const char* kind) {
    return std::find(claims.begin(), claims.end(), kind) != claims.end();
  };
  result.success_rates = claimed("success");
  result.quantiles_claimed = claimed("quantile");
  result.budgets = claimed("budget");
  result.risk_method = bounds::parse_risk_method(risk_method);
  result.quantile_method = bounds::parse_quantile_method(quantile_method);
  result.budget_method = bounds::parse_budget_method(budget_method);
  if (success_delta != 0) result.success_delta = success_delta;
  if (quantile_delta != 0) result.quantile_delta = quantile_delta;
  if (budget_delta != 0) result.budget_delta = budget_delta;
  result.all_steps = steps == "all";
  if (!steps.empty() && !result.all_steps) result.steps = parse_steps(steps);
  result.validate();
  return result;
}

void add_claim_options(CLI::App& verb, ClaimArguments& arguments) {
  verb.add_option(
          "--tolerances", arguments.tolerances,
          "increasing list, e.g. 1e-4,1e-2; below it is success [1e-4,1e-3,1e-2,1e-1; -40,..,-10 for dB]")
      ->delimiter(',');
  verb.add_option("--quantiles", arguments.quantiles, "increasing list in (0, 1)")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--steps", arguments.steps,
                  "steps that claims speak of: a list, or all [up to 60, spread out]");
  verb.add_option("--confidence", arguments.confidence, "of the whole certificate, in (0, 1)")
      ->capture_default_str();
  verb.add_option("--claims", arguments.claims, "kinds of claims: success,quantile,budget")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--simultaneous", arguments.simultaneous,
                  "all: all claims hold together with the confidence; each: each claim alone does")
      ->capture_default_str();
  verb.add_option("--risk-method", arguments.risk_method, "exact, kl or pinsker")->capture_default_str();
  verb.add_option("--quantile-method", arguments.quantile_method, "exact or grid")->capture_default_str();
  verb.add_option("--budget-method", arguments.budget_method, "settling, first-hit or paper")
      ->capture_default_str();
  verb.add_option("--success-delta", arguments.success_delta,
                  "delta of each success rate claim [a share of the total]");
  verb.add_option("--quantile-delta", arguments.quantile_delta,
                  "delta of each quantile claim [a share of the total]");
  verb.add_option("--budget-delta", arguments.budget_delta,
                  "delta of each budget claim [a share of the total]");
  verb.add_option("--title", arguments.title, "title of the report");
}
