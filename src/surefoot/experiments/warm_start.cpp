#include "surefoot/experiments/warm_start.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace surefoot::experiments {

learning::Stage plain_stage(const char* name, Index epochs, double rate, double final_rate) {
  learning::Stage stage;
  stage.name = name;
  stage.noise = false;
  stage.epochs = epochs;
  stage.batch = 64;
  stage.mean_rate = rate;
  stage.schedule = learning::Schedule::cosine;
  stage.final_rate = final_rate;
  stage.surrogate.kind = learning::SurrogateKind::logarithm;
  return stage;
}

learning::Stage bound_stage(const char* name, Index epochs, double tolerance, double width, double mean_rate,
                            double variance_rate) {
  learning::Stage stage = plain_stage(name, epochs, mean_rate, 0.02);
  stage.noise = true;
  stage.batch = 256;
  stage.variance_rate = variance_rate;
  stage.prior = learning::PriorRule::closed_form;
  stage.penalty.kind = learning::PenaltyKind::none;
  stage.surrogate.kind = learning::SurrogateKind::tolerance;
  stage.surrogate.tolerance = tolerance;
  stage.surrogate.width = width;
  return stage;
}

Index times(double factor, Index epochs) {
  return std::max<Index>(1, std::llround(factor * static_cast<double>(epochs)));
}

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

namespace {

/// About 200 points make a curve.
std::size_t stride_of(Index steps) {
  return static_cast<std::size_t>(std::max<Index>(1, steps / 200));
}

}  // namespace

report::Figure success_over_steps(const WarmStartResults& results, const WarmStartFigures& figures) {
  report::Figure figure;
  figure.name = "success_" + figures.slug;
  figure.title = fmt::format("Share of problems with a {} below a tolerance", figures.metric);
  figure.x = {"iteration", false, false, 0, static_cast<double>(figures.steps)};
  figure.y = {"share of problems", false, true, 0, 1};
  figure.styles = {"observed", "certified"};
  for (std::size_t t = figures.tolerances.size(); t-- > 0;) {
    const double tolerance = figures.tolerances[t];
    report::Panel panel{fmt::format("below {}", exact_label(tolerance)), {}};
    std::size_t hue = 0;
    for (const CountedStart& start : results.starts) {
      report::Curve curve{start.name, hue++, 0, {}};
      const runs::Tally& tally = start.tally;
      for (std::size_t column = 0; column < tally.spec().steps.size(); column += stride_of(figures.steps)) {
        curve.points.push_back(
            {static_cast<double>(tally.spec().steps[column]),
             1 - static_cast<double>(tally.failures(column, t)) / static_cast<double>(tally.samples())});
      }
      panel.curves.push_back(std::move(curve));
    }
    report::Curve observed{"", hue, 0, {}};
    report::Curve certified{"learned start", hue, 1, {}};
    for (const report::Series::Point& point : report::best_success(results.learned, tolerance)) {
      observed.points.push_back({static_cast<double>(point.step), point.observed});
      certified.points.push_back({static_cast<double>(point.step), point.certified});
    }
    report::Curve fresh{"deterministic, hold-out", hue + 1, 1, {}};
    for (const report::Series::Point& point : report::best_success(results.hold_out, tolerance))
      fresh.points.push_back({static_cast<double>(point.step), point.certified});
    panel.curves.insert(panel.curves.end(), {observed, certified, fresh});
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

report::Figure quantiles_over_steps(const WarmStartResults& results, const WarmStartFigures& figures) {
  report::Figure figure;
  figure.name = "quantiles_" + figures.slug;
  figure.title = fmt::format("Quantiles of the {}", figures.metric);
  figure.x = {"iteration", false, false, 0, static_cast<double>(figures.steps)};
  figure.y = {figures.metric, true, false, figures.lowest, figures.highest};
  figure.styles = {"observed", "certified"};
  for (const double quantile : figures.quantiles) {
    report::Panel panel{percent_label(quantile) + " of problems", {}};
    std::size_t hue = 0;
    for (const CountedStart& start : results.starts) {
      report::Curve curve{start.name, hue++, 0, {}};
      const runs::Tally& tally = start.tally;
      const std::vector<std::size_t>& claimed = tally.spec().claim_columns;
      const std::size_t stride = claimed.size() > 200 ? stride_of(figures.steps) : 1;
      for (std::size_t i = 0; i < claimed.size(); i += stride) {
        const runs::ValueStore& values = tally.values(i);
        curve.points.push_back({static_cast<double>(tally.spec().steps[claimed[i]]),
                                values.order_statistic(bounds::empirical_rank(values.size(), quantile))});
      }
      panel.curves.push_back(std::move(curve));
    }
    report::Curve observed{"", hue, 0, {}};
    report::Curve certified{"learned start", hue, 1, {}};
    for (const Index step : results.learned.steps) {
      const BestQuantile best = best_quantile(results.learned, quantile, step);
      observed.points.push_back({static_cast<double>(step), best.observed});
      certified.points.push_back({static_cast<double>(step), best.certified});
    }
    panel.curves.insert(panel.curves.end(), {observed, certified});
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace surefoot::experiments
