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

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::experiments {

namespace {

constexpr double certificate_delta = 0.01;

certify::Options claims_of(const Subject& subject, const std::vector<Index>& recorded) {
  certify::Options options;
  options.delta = certificate_delta;
  options.budget_delta = claim_delta;
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

constexpr std::size_t most_points = 250;

report::Axis step_axis(const Measured& measured) {
  report::Axis axis{"iteration", measured.tallies.back().spec().steps.back() > 2000, false, 0, 1};
  axis.low = axis.logarithmic ? 1 : 0;
  axis.high = static_cast<double>(measured.tallies.back().spec().steps.back());
  return axis;
}

/// Every column, or columns spread evenly along the axis.
std::vector<std::size_t> drawn_columns(const Measured& measured, bool logarithmic) {
  const std::size_t all = measured.tallies.back().spec().steps.size();
  std::vector<std::size_t> columns;
  const std::size_t points = std::min(all, most_points);
  for (std::size_t i = 0; i < points; ++i) {
    const double share = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 0;
    const auto last = static_cast<double>(all - 1);
    const auto column =
        static_cast<std::size_t>(std::llround(logarithmic ? std::pow(last + 1, share) - 1 : share * last));
    if (columns.empty() || columns.back() < column) columns.push_back(column);
  }
  return columns;
}

const std::vector<std::string>& line_styles() {
  static const std::vector<std::string> styles{"observed, all samples", "exact", "the paper's method"};
  return styles;
}

report::Curve success_curve(const runs::Tally& tally, std::size_t tolerance,
                            const std::vector<std::size_t>& columns, const bounds::RiskMethod* method) {
  report::Curve curve;
  for (const std::size_t column : columns) {
    const Index failures = tally.failures(column, tolerance);
    const double share =
        method != nullptr
            ? bounds::success_lower_bound(failures, tally.samples(), claim_delta, *method)
            : static_cast<double>(tally.samples() - failures) / static_cast<double>(tally.samples());
    curve.points.push_back({static_cast<double>(tally.spec().steps[column]), share});
  }
  return curve;
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
report::Curve quantile_curve(const runs::Tally& tally, const Value& value) {
  report::Curve curve;
  for (std::size_t i = 0; i < tally.spec().claim_columns.size(); ++i) {
    const Index step = tally.spec().steps[tally.spec().claim_columns[i]];
    curve.points.push_back({static_cast<double>(step), value(tally.values(i))});
  }
  return curve;
}

report::Curve styled(report::Curve curve, std::string name, std::size_t hue, std::size_t dash) {
  curve.name = std::move(name);
  curve.hue = hue;
  curve.dash = dash;
  return curve;
}

std::string size_label(Index n) {
  return fmt::format("N = {}", n);
}

}  // namespace

report::Figure success_figure(const Measured& measured) {
  report::Figure figure;
  figure.name = "success_" + measured.subject.slug;
  figure.title = fmt::format("Share of problems with {} below a tolerance", measured.subject.metric.name);
  figure.x = step_axis(measured);
  figure.y = {"share of problems", false, true, 0, 1};
  figure.styles = line_styles();
  const std::vector<std::size_t> columns = drawn_columns(measured, figure.x.logarithmic);
  const auto exact = bounds::RiskMethod::exact;
  const auto kl = bounds::RiskMethod::kl;
  for (std::size_t t = measured.subject.tolerances.size(); t-- > 0;) {
    report::Panel panel{fmt::format("below {}{}", exact_label(measured.subject.tolerances[t]),
                                    measured.subject.metric.unit.empty() ? "" : " dB"),
                        {}};
    const std::size_t sizes = measured.sizes.size();
    panel.curves.push_back(
        styled(success_curve(measured.tallies.back(), t, columns, nullptr), "", sizes - 1, 0));
    for (std::size_t i = 0; i < sizes; ++i) {
      panel.curves.push_back(styled(success_curve(measured.tallies[i], t, columns, &kl), "", i, 2));
      panel.curves.push_back(styled(success_curve(measured.tallies[i], t, columns, &exact),
                                    size_label(measured.sizes[i]), i, 1));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

report::Figure quantile_figure(const Measured& measured) {
  const bool decibels = measured.subject.metric.unit == "dB";
  const std::vector<double> grid = decibels ? bounds::decibel_grid() : bounds::residual_grid();
  report::Figure figure;
  figure.name = "quantiles_" + measured.subject.slug;
  figure.title = fmt::format("Quantiles of the {}", measured.subject.metric.name);
  figure.x = step_axis(measured);
  figure.y = decibels ? report::Axis{measured.subject.metric.name + " (dB)", false, false, -40, 0}
                      : report::Axis{measured.subject.metric.name, true, false, 1e-6, 1e1};
  figure.styles = line_styles();
  for (const double quantile : table_quantiles) {
    report::Panel panel{percent_label(quantile) + " of problems", {}};
    const std::size_t sizes = measured.sizes.size();
    panel.curves.push_back(styled(
        quantile_curve(measured.tallies.back(),
                       [&](const runs::ValueStore& values) { return observed_quantile(values, quantile); }),
        "", sizes - 1, 0));
    for (std::size_t i = 0; i < sizes; ++i) {
      const runs::Tally& tally = measured.tallies[i];
      panel.curves.push_back(styled(
          quantile_curve(
              tally, [&](const runs::ValueStore& values) { return paper_quantile(values, quantile, grid); }),
          "", i, 2));
      panel.curves.push_back(
          styled(quantile_curve(
                     tally, [&](const runs::ValueStore& values) { return exact_quantile(values, quantile); }),
                 size_label(measured.sizes[i]), i, 1));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
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
