#include "surefoot/experiments/warm_start.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/step_figures.hpp"
#include "surefoot/report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace surefoot::experiments {

certify::Options warm_start_claims(const runs::Metric& metric, Index steps,
                                   const std::vector<double>& tolerances,
                                   const std::vector<double>& quantiles) {
  certify::Options claims;
  claims.delta = learned_delta;
  claims.tolerances = tolerances;
  claims.quantiles = quantiles;
  claims.metric = metric.name;
  claims.unit = metric.unit;
  claims.steps = certify::default_steps(certify::recorded_steps(metric, steps));
  return claims;
}

std::string budget_cell(const std::optional<Index>& steps) {
  return steps ? fmt::format("{}", *steps) : std::string(nothing);
}

std::vector<report::Figure> warm_start_figures(const WarmStartResults& results,
                                               const WarmStartFigures& figures) {
  StepFigure success{.name = "success_" + figures.slug,
                     .title = fmt::format("Share of problems with a {} below a tolerance", figures.metric),
                     .metric = figures.metric,
                     .steps = figures.steps,
                     .curves = {}};
  StepFigure quantiles = success;
  quantiles.name = "quantiles_" + figures.slug;
  quantiles.title = fmt::format("Quantiles of the {}", figures.metric);
  std::size_t hue = 0;
  for (const CountedStart& start : results.starts) {
    success.curves.push_back({start.name, observed_success(start.tally, figures.tolerances), hue, 0});
    quantiles.curves.push_back({start.name, observed_quantiles(start.tally), hue, 0});
    ++hue;
  }
  success.curves.push_back({"", observed_success(results.learned), hue, 0});
  success.curves.push_back({"learned start", certified_success(results.learned), hue, 1});
  success.curves.push_back({"deterministic, hold-out", certified_success(results.hold_out), hue + 1, 1});
  quantiles.curves.push_back({"", observed_quantiles(results.learned), hue, 0});
  quantiles.curves.push_back({"learned start", certified_quantiles(results.learned), hue, 1});
  const std::vector<double> loosest_first(figures.tolerances.rbegin(), figures.tolerances.rend());
  return {
      success_over_steps(success, loosest_first),
      quantiles_over_steps(quantiles, figures.quantiles, {"", true, false, figures.lowest, figures.highest})};
}

}  // namespace surefoot::experiments
