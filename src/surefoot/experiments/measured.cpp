#include "surefoot/experiments/measured.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/paper_tables.hpp"
#include "surefoot/experiments/step_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace surefoot::experiments {

namespace {

constexpr double certificate_delta = 0.01;

certify::Options claims_of(const Subject& subject, const std::vector<Index>& recorded) {
  certify::Options options;
  options.delta = certificate_delta;
  options.kind_delta["budget"] = claim_delta;
  options.tolerances = subject.tolerances;
  options.quantiles = {table_quantiles.begin(), table_quantiles.end()};
  options.metric = subject.metric.name;
  options.unit = subject.metric.unit;
  options.steps = certify::default_steps(recorded);
  for (const Index step : subject.extra_steps) {
    if (step <= recorded.back()) options.steps.push_back(step);
  }
  std::sort(options.steps.begin(), options.steps.end());
  options.steps.erase(std::unique(options.steps.begin(), options.steps.end()), options.steps.end());
  return certify::resolved(options, {recorded});
}

}  // namespace

std::vector<Index> nested_sizes(Index samples) {
  std::vector<Index> sizes;
  for (const Index size : paper_sample_sizes) {
    if (size < samples) sizes.push_back(size);
  }
  sizes.push_back(samples);
  return sizes;
}

std::vector<Measured> measure(const algorithms::Operator& op, const std::vector<Subject>& subjects,
                              const runs::RunOptions& options, certify::CountJournal& journal) {
  std::vector<Measured> measured;
  std::vector<runs::TallySpec> specs;  // of a subject's rings: samples up to a size and beyond the one before
  std::vector<runs::Metric> metrics;
  const std::vector<Index> sizes = nested_sizes(op.instances());
  for (const Subject& subject : subjects) {
    const std::vector<Index> steps = certify::recorded_steps(subject.metric, options.steps);
    const certify::Options claims = claims_of(subject, steps);
    specs.insert(specs.end(), sizes.size(), certify::tally_spec(claims, steps));
    metrics.push_back(subject.metric);
    measured.push_back({subject, claims, sizes, {}});
  }
  certify::RunCounter counter(specs, &journal);
  counter.run_grouped(op, metrics, {}, options, [&](std::size_t metric, Index instance) {
    const auto ring = std::upper_bound(sizes.begin(), sizes.end(), instance) - sizes.begin();
    return metric * sizes.size() + static_cast<std::size_t>(ring);
  });
  std::vector<runs::Tally> rings = counter.finish_groups();
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (i % sizes.size() > 0) rings[i].merge(rings[i - 1]);
    measured[i / sizes.size()].tallies.push_back(rings[i]);
  }
  return measured;
}

namespace {

const std::vector<std::string>& line_styles() {
  static const std::vector<std::string> styles{"observed, all samples", "exact", "the paper's method"};
  return styles;
}

/// Bounds on the share at about 250 steps; without a method what was observed.
PointsAt success_points(const Measured& measured, const runs::Tally& tally,
                        std::optional<bounds::RiskMethod> method, bool logarithmic) {
  return [&measured, &tally, method, logarithmic](double tolerance) {
    const std::vector<double>& known = measured.subject.tolerances;
    const auto place =
        static_cast<std::size_t>(std::find(known.begin(), known.end(), tolerance) - known.begin());
    CurvePoints points;
    for (const std::size_t column : drawn_places(tally.spec().steps.size(), logarithmic)) {
      const Index failures = tally.failures(column, place);
      const double share =
          method ? bounds::success_lower_bound(failures, tally.samples(), claim_delta, *method)
                 : static_cast<double>(tally.samples() - failures) / static_cast<double>(tally.samples());
      points.push_back({static_cast<double>(tally.spec().steps[column]), share});
    }
    return points;
  };
}

/// Upper bounds on a quantile at the claim columns; without a bound the line is interrupted.
double observed_quantile(const runs::ValueStore& values, double quantile) {
  return values.order_statistic(bounds::empirical_rank(values.size(), quantile));
}
double exact_quantile(const runs::ValueStore& values, double quantile) {
  const Index rank = bounds::order_statistic_rank(values.size(), quantile, quantile_delta);
  return rank > 0 ? values.order_statistic(rank) : infinity;
}
double paper_quantile(const runs::ValueStore& values, double quantile, const std::vector<double>& grid) {
  std::vector<Index> failures;
  failures.reserve(grid.size());
  for (const double tolerance : grid) failures.push_back(values.size() - values.count_below(tolerance));
  const auto found =
      bounds::grid_quantile(failures, values.size(), quantile, quantile_delta, bounds::RiskMethod::kl);
  return found ? grid[*found] : infinity;
}

template <class Value>
PointsAt quantile_points(const runs::Tally& tally, const Value& value) {
  return [&tally, value](double quantile) {
    CurvePoints points;
    for (std::size_t i = 0; i < tally.spec().claim_columns.size(); ++i) {
      const Index step = tally.spec().steps[tally.spec().claim_columns[i]];
      points.push_back({static_cast<double>(step), value(tally.values(i), quantile)});
    }
    return points;
  };
}

StepFigure figure_of(const Measured& measured) {
  const Index steps = measured.tallies.back().spec().steps.back();
  return {.name = {},
          .title = {},
          .metric = measured.subject.metric.name,
          .unit = measured.subject.metric.unit,
          .steps = steps,
          .logarithmic_steps = steps > 2000,
          .styles = line_styles(),
          .curves = {}};
}

std::string size_label(Index n) {
  return fmt::format("N = {}", n);
}

}  // namespace

report::Figure success_figure(const Measured& measured) {
  StepFigure figure = figure_of(measured);
  figure.name = "success_" + measured.subject.slug;
  figure.title = fmt::format("Share of problems with {} below a tolerance", measured.subject.metric.name);
  const std::size_t sizes = measured.sizes.size();
  const auto points = [&](std::size_t size, std::optional<bounds::RiskMethod> method) {
    return success_points(measured, measured.tallies[size], method, figure.logarithmic_steps);
  };
  figure.curves.push_back({"", points(sizes - 1, std::nullopt), sizes - 1, 0});
  for (std::size_t i = 0; i < sizes; ++i) {
    figure.curves.push_back({"", points(i, bounds::RiskMethod::kl), i, 2});
    figure.curves.push_back({size_label(measured.sizes[i]), points(i, bounds::RiskMethod::exact), i, 1});
  }
  const std::vector<double>& tolerances = measured.subject.tolerances;
  return success_over_steps(figure, {tolerances.rbegin(), tolerances.rend()});
}

report::Figure quantile_figure(const Measured& measured) {
  const bool decibels = measured.subject.metric.unit == "dB";
  const std::vector<double> grid = decibels ? bounds::decibel_grid() : bounds::residual_grid();
  StepFigure figure = figure_of(measured);
  figure.name = "quantiles_" + measured.subject.slug;
  figure.title = fmt::format("Quantiles of the {}", measured.subject.metric.name);
  const std::size_t sizes = measured.sizes.size();
  figure.curves.push_back({"", quantile_points(measured.tallies.back(), observed_quantile), sizes - 1, 0});
  for (std::size_t i = 0; i < sizes; ++i) {
    const auto by_paper = [&grid](const runs::ValueStore& values, double quantile) {
      return paper_quantile(values, quantile, grid);
    };
    figure.curves.push_back({"", quantile_points(measured.tallies[i], by_paper), i, 2});
    figure.curves.push_back(
        {size_label(measured.sizes[i]), quantile_points(measured.tallies[i], exact_quantile), i, 1});
  }
  return quantiles_over_steps(
      figure, {table_quantiles.begin(), table_quantiles.end()},
      decibels ? report::Axis{"", false, false, -40, 0} : report::Axis{"", true, false, 1e-6, 1e1});
}

certify::Certificate certificate_of(const Measured& measured, const std::string& title,
                                    const std::string& source, const std::string& run_json) {
  certify::Options claims = measured.claims;
  claims.title = title;
  certify::Variant variant;
  variant.name = source;
  variant.source = source;
  certify::Certificate certificate = certify::certify(claims, {{variant, measured.tallies.back()}});
  certificate.run = run_json;
  return certificate;
}

}  // namespace surefoot::experiments
