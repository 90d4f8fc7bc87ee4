#include "surefoot/report/chart_data.hpp"

#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/free_choice.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace surefoot::report {
namespace {

using ChartJson = nlohmann::json;

constexpr std::size_t most_points_in_set = 8000;
constexpr std::size_t most_points_in_page = 24000;
constexpr std::size_t fewest_points_in_curve = 60;

/// Six digits are enough to draw.
ChartJson drawn(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

ChartJson axis_json(const Axis& axis) {
  return {{"label", printable(axis.label)},
          {"log", axis.logarithmic},
          {"percent", axis.percent},
          {"low", axis.low},
          {"high", axis.high}};
}

/// Every n-th point, with the first and the last.
std::vector<Series::Point> evenly_thinned(const std::vector<Series::Point>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<Series::Point> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
  return kept;
}

/// Of a worst case, which nothing is observed of; it may rest on an estimate.
std::string estimate_text(double bound) {
  return bound < infinity ? upper_bound_value(bound) + " (estimate)" : std::string(nothing);
}

ChartJson series_json(const Chart& chart, const Series& series, std::size_t parameter, std::size_t method,
                      std::size_t most) {
  ChartJson steps = ChartJson::array();
  ChartJson observed = ChartJson::array();
  ChartJson certified = ChartJson::array();
  ChartJson observed_text = ChartJson::array();
  ChartJson certified_text = ChartJson::array();
  for (const Series::Point& point : evenly_thinned(series.points, most)) {
    const bool says_nothing = point.certified == chart.says_nothing;
    steps.push_back(point.step);
    observed.push_back(drawn(point.observed));
    certified.push_back(says_nothing ? ChartJson() : drawn(point.certified));
    observed_text.push_back(series.worst_case ? estimate_text(point.observed)
                                              : chart.observed(point.observed));
    certified_text.push_back(chart.certified(point.certified) + (point.worst_case ? " (w)" : ""));
  }
  return {{"variant", series.variant},
          {"parameter", parameter},
          {"method", method},
          {"steps", steps},
          {"observed", observed},
          {"certified", certified},
          {"observedText", observed_text},
          {"certifiedText", certified_text}};
}

ChartJson chart_json(const Chart& chart, std::size_t most) {
  std::vector<std::string> methods;
  ChartJson all = ChartJson::array();
  for (const Series& series : chart.series) {
    const auto parameter = std::ranges::find(chart.parameters, series.parameter);
    if (parameter == chart.parameters.end()) continue;
    auto method = std::ranges::find(methods, series.method);
    if (method == methods.end()) method = methods.insert(methods.end(), std::string(series.method));
    all.push_back(series_json(chart, series, static_cast<std::size_t>(parameter - chart.parameters.begin()),
                              static_cast<std::size_t>(method - methods.begin()), most));
  }
  return {{"id", chart.id},
          {"title", printable(chart.title)},
          {"parameterName", chart.parameter_name},
          {"parameters", chart.labels},
          {"preferred", chart.parameters.size() / 2},
          {"methods", methods},
          {"x", axis_json(chart.x)},
          {"y", axis_json(chart.y)},
          {"series", all}};
}

ChartJson set_json(const ChartSet& set, std::size_t most_points) {
  std::size_t curves = 0;
  for (const Chart& chart : set.charts) curves += chart.series.size();
  const std::size_t most = std::max(fewest_points_in_curve, most_points / std::max<std::size_t>(curves, 1));
  ChartJson names = ChartJson::array();
  for (const std::string& name : set.variants) names.push_back(printable(name));
  ChartJson charts = ChartJson::array();
  for (const Chart& chart : set.charts) charts.push_back(chart_json(chart, most));
  ChartJson budgets = ChartJson::array();
  for (const Answer& answer : set.answers) {
    budgets.push_back({{"variant", printable(answer.variant)},
                       {"tolerance", printable(answer.tolerance)},
                       {"share", answer.share},
                       {"method", answer.method},
                       {"sentence", printable(answer.sentence)},
                       {"certain", answer.certain}});
  }
  return {{"variants", names},
          {"charts", charts},
          {"budgets", budgets},
          {"question", set.question},
          {"things", set.things},
          {"free", ChartJson::parse(set.free_choice)},
          {"variantsFirst", set.first == FirstSight::all_variants}};
}

Chart chart_of(const Figure& figure, std::string parameter_name, std::vector<double> parameters,
               std::vector<Series> series) {
  Chart chart;
  chart.id = figure.name;
  chart.title = figure.title;
  chart.parameter_name = std::move(parameter_name);
  chart.parameters = std::move(parameters);
  chart.x = figure.x;
  chart.y = figure.y;
  chart.series = std::move(series);
  return chart;
}

}  // namespace

Chart success_chart(const certify::Certificate& certificate, const Figure& figure) {
  Chart chart = chart_of(figure, "Tolerance", certificate.tolerances, success_series(certificate));
  for (const double tolerance : chart.parameters)
    chart.labels.push_back(printable("below " + with_unit(certificate, exact_label(tolerance))));
  chart.says_nothing = 0;
  chart.observed = observed_percent;
  chart.certified = lower_bound_percent;
  return chart;
}

Chart quantile_chart(const certify::Certificate& certificate, const Figure& figure) {
  Chart chart = chart_of(figure, "Quantile", certificate.quantiles, quantile_series(certificate));
  for (const double quantile : chart.parameters)
    chart.labels.push_back(fmt::format("{} of {}", percent_label(quantile), certify::things(certificate)));
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    std::optional<Series> worst = worst_case_series(certificate, v);
    if (!worst) break;
    if (v == 0) chart.parameters.push_back(certify::every_problem);
    if (v == 0) chart.labels.push_back(printable(worst_case_label(certificate)));
    chart.series.push_back(std::move(*worst));
  }
  chart.says_nothing = infinity;
  chart.observed = observed_value;
  chart.certified = upper_bound_value;
  return chart;
}

std::vector<Answer> budget_answers(const certify::Certificate& certificate) {
  std::vector<Answer> answers;
  for (const certify::BudgetClaim& claim : certificate.budget) {
    answers.push_back({certificate.variants.at(claim.variant).name,
                       with_unit(certificate, exact_label(claim.tolerance)), percent_label(claim.quantile),
                       std::string(bounds::name(claim.method)), quotable(certificate, claim),
                       claim.steps && claim.method != bounds::BudgetMethod::paper});
  }
  return answers;
}

ChartSet chart_set(const certify::Certificate& certificate, const std::string& prefix) {
  ChartSet set;
  for (const certify::Variant& variant : certificate.variants) set.variants.push_back(variant.name);
  set.things = certify::things(certificate);
  // Charts are over the steps: the distribution of scalars stays a picture.
  if (const Figure figure = success_figure(certificate); has_curves(figure) && !certificate.scalar)
    set.charts.push_back(success_chart(certificate, figure));
  if (const Figure figure = quantile_figure(certificate); has_curves(figure) && !certificate.scalar)
    set.charts.push_back(quantile_chart(certificate, figure));
  for (Chart& chart : set.charts) chart.id = prefix + chart.id;
  set.answers = budget_answers(certificate);
  set.free_choice = free_choice(certificate).dump();
  set.question = prefix + set.question;
  if (certificate.variants.size() > 1) set.first = FirstSight::all_variants;
  return set;
}

std::string chart_data(const std::vector<ChartSet>& sets) {
  const std::size_t share =
      std::min(most_points_in_set, most_points_in_page / std::max<std::size_t>(sets.size(), 1));
  ChartJson all = ChartJson::array();
  for (const ChartSet& set : sets) all.push_back(set_json(set, share));
  return ChartJson{{"sets", all}}.dump();
}

}  // namespace surefoot::report
