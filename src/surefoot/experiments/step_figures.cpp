#include "surefoot/experiments/step_figures.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/learned.hpp"
#include "surefoot/report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::experiments {

namespace {

constexpr std::size_t most_points = 250;

PointsAt of_best_success(const certify::Certificate& certificate, double report::Series::Point::*value) {
  return [&certificate, value](double tolerance) {
    CurvePoints points;
    for (const report::Series::Point& point : report::best_success(certificate, tolerance))
      points.push_back({static_cast<double>(point.step), point.*value});
    return points;
  };
}

PointsAt of_best_quantile(const certify::Certificate& certificate, double BestQuantile::*value) {
  return [&certificate, value](double share) {
    CurvePoints points;
    for (const Index step : certificate.steps)
      points.push_back({static_cast<double>(step), best_quantile(certificate, share, step).*value});
    return points;
  };
}

report::Figure empty_figure(const StepFigure& description) {
  report::Figure figure;
  figure.name = description.name;
  figure.title = description.title;
  figure.x = {description.step, description.logarithmic_steps, false,
              description.logarithmic_steps ? 1.0 : 0.0, static_cast<double>(description.steps)};
  figure.styles = description.styles;
  return figure;
}

report::Panel panel_of(const StepFigure& description, std::string title, double parameter) {
  report::Panel panel{std::move(title), {}};
  for (const StepCurve& curve : description.curves)
    panel.curves.push_back({curve.label, curve.hue, curve.style, curve.source(parameter), curve.style > 0});
  return panel;
}

}  // namespace

std::vector<std::size_t> drawn_places(std::size_t count, bool logarithmic) {
  std::vector<std::size_t> places;
  const std::size_t points = std::min(count, most_points);
  for (std::size_t i = 0; i < points; ++i) {
    const double share = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 0;
    const auto last = static_cast<double>(count - 1);
    const auto place =
        static_cast<std::size_t>(std::llround(logarithmic ? std::pow(last + 1, share) - 1 : share * last));
    if (places.empty() || places.back() < place) places.push_back(place);
  }
  return places;
}

PointsAt observed_success(const runs::Tally& tally, const std::vector<double>& tolerances) {
  return [&tally, tolerances](double tolerance) {
    const auto place = std::find(tolerances.begin(), tolerances.end(), tolerance) - tolerances.begin();
    require(place < std::ssize(tolerances), "tolerance: {} was not counted", tolerance);
    CurvePoints points;
    for (const std::size_t column : drawn_places(tally.spec().steps.size(), false)) {
      const Index failures = tally.failures(column, static_cast<std::size_t>(place));
      points.push_back({static_cast<double>(tally.spec().steps[column]),
                        1 - static_cast<double>(failures) / static_cast<double>(tally.samples())});
    }
    return points;
  };
}

PointsAt observed_quantiles(const runs::Tally& tally) {
  return [&tally](double share) {
    const std::vector<std::size_t>& claimed = tally.spec().claim_columns;
    CurvePoints points;
    for (const std::size_t i : drawn_places(claimed.size(), false)) {
      const runs::ValueStore& values = tally.values(i);
      points.push_back({static_cast<double>(tally.spec().steps[claimed[i]]),
                        values.order_statistic(bounds::empirical_rank(values.size(), share))});
    }
    return points;
  };
}

PointsAt observed_success(const certify::Certificate& certificate) {
  return of_best_success(certificate, &report::Series::Point::observed);
}
PointsAt certified_success(const certify::Certificate& certificate) {
  return of_best_success(certificate, &report::Series::Point::certified);
}
PointsAt observed_quantiles(const certify::Certificate& certificate) {
  return of_best_quantile(certificate, &BestQuantile::observed);
}
PointsAt certified_quantiles(const certify::Certificate& certificate) {
  return of_best_quantile(certificate, &BestQuantile::certified);
}

report::Figure success_over_steps(const StepFigure& description, const std::vector<double>& tolerances) {
  report::Figure figure = empty_figure(description);
  figure.y = {"share of " + description.problems, false, true, 0, 1};
  for (const double tolerance : tolerances) {
    const std::string title = fmt::format("below {}{}{}", exact_label(tolerance),
                                          description.unit.empty() ? "" : " ", description.unit);
    figure.panels.push_back(panel_of(description, title, tolerance));
  }
  return figure;
}

report::Figure quantiles_over_steps(const StepFigure& description, const std::vector<double>& shares,
                                    report::Axis y) {
  report::Figure figure = empty_figure(description);
  figure.y = std::move(y);
  figure.y.label = description.unit.empty() ? description.metric
                                            : fmt::format("{} ({})", description.metric, description.unit);
  for (const double share : shares) {
    figure.panels.push_back(
        panel_of(description, fmt::format("{} of {}", percent_label(share), description.problems), share));
  }
  return figure;
}

}  // namespace surefoot::experiments
