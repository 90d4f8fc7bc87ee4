#include "surefoot/report/certificate_figures.hpp"

#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace surefoot::report {
namespace {

using certify::Certificate;

constexpr std::size_t most_drawn_points = 600;
constexpr std::size_t title_width = 48;

/// More points than a printed page can tell apart only make files large.
std::vector<Series> thinned(std::vector<Series> all, const Certificate& certificate) {
  if (certificate.steps.size() <= most_drawn_points) return all;
  const std::vector<Index> kept = telling_steps(certificate, most_drawn_points);
  for (Series& series : all) {
    std::erase_if(series.points,
                  [&](const Series::Point& point) { return !std::ranges::binary_search(kept, point.step); });
  }
  return all;
}

std::vector<std::string_view> methods_of(const std::vector<Series>& all) {
  std::vector<std::string_view> methods;
  for (const Series& series : all) {
    if (std::ranges::count(methods, series.method) == 0) methods.push_back(series.method);
  }
  if (methods.size() > one_of_many - 1) methods.resize(one_of_many - 1);
  return methods;
}

std::vector<std::string> style_names(const Certificate& certificate,
                                     const std::vector<std::string_view>& methods) {
  std::vector<std::string> names{"observed"};
  const std::string_view condition = condition_of(certificate);
  for (const std::string_view method : methods) {
    std::string name = "certified";
    if (methods.size() > 1) name += fmt::format(", {}", method);
    // A legend has no room for what the remark says of named problems.
    if (!condition.empty())
      name += fmt::format(", {}", names_problems(certificate) ? "if drawn at random" : condition);
    if (uses_worst_case(certificate)) name += ", (w) included";
    names.push_back(std::move(name));
  }
  return names;
}

constexpr double not_drawn = std::numeric_limits<double>::quiet_NaN();

Curve observed_curve(const Series& series, std::size_t hue) {
  Curve curve{"", hue, 0, {}};
  for (const Series::Point& point : series.points) {
    curve.points.push_back({static_cast<double>(point.step), point.observed});
  }
  return curve;
}

Curve certified_curve(const Series& series, std::size_t hue, std::size_t dash, double says_nothing) {
  Curve curve{"", hue, dash, {}, true};
  for (const Series::Point& point : series.points) {
    const double bound = point.certified == says_nothing ? not_drawn : point.certified;
    curve.points.push_back({static_cast<double>(point.step), bound});
  }
  return curve;
}

struct Drawing {
  std::vector<Series> all;
  std::vector<double> parameters;  ///< those drawn, in the order of the palette
  std::vector<std::string_view> methods;
  double says_nothing = infinity;  ///< value of a bound that says nothing
};

/// The curves of one method: the first method brings the observed ones and the names.
void add_method(Panel& panel, const Drawing& drawing, std::size_t variant, std::size_t method,
                auto&& name_of) {
  for (const Series& series : drawing.all) {
    const auto place = std::ranges::find(drawing.parameters, series.parameter);
    const bool fits = series.variant == variant && series.method == drawing.methods[method] &&
                      place != drawing.parameters.end();
    if (!fits) continue;
    const auto hue = static_cast<std::size_t>(place - drawing.parameters.begin());
    Curve bound = certified_curve(series, hue, method + 1, drawing.says_nothing);
    if (method == 0) {
      panel.curves.push_back(observed_curve(series, hue));
      bound.name = name_of(series.parameter, has_points(bound));
    }
    panel.curves.push_back(std::move(bound));
  }
}

Panel panel_of(const Certificate& certificate, const Drawing& drawing, std::size_t variant, auto&& name_of) {
  Panel panel{shortened(certificate.variants[variant].name, title_width), {}};
  for (std::size_t method = 0; method < drawing.methods.size(); ++method) {
    add_method(panel, drawing, variant, method, name_of);
  }
  std::ranges::stable_sort(panel.curves, {}, &Curve::dash);
  return panel;
}

std::string remark_on(const Certificate& certificate, std::size_t drawn, std::size_t all,
                      std::string_view what) {
  std::string remark = drawn == all ? "" : fmt::format("{} of {} {} are drawn.", drawn, all, what);
  for (const std::string& note : {note_on_dependence(certificate), note_on_worst_case(certificate)})
    remark += (remark.empty() || note.empty() ? "" : " ") + note;
  return remark;
}

Axis step_axis(const Certificate& certificate) {
  Axis axis{std::string(step_name(certificate)), acts_early(certificate), false, 0, 1};
  if (certificate.steps.empty()) return axis;
  axis.high = static_cast<double>(certificate.steps.back());
  if (axis.logarithmic) {
    const auto first = std::ranges::find_if(certificate.steps, [](Index step) { return step > 0; });
    axis.low = static_cast<double>(*first);
  } else {
    axis.low = certificate.steps.size() > 1 && certificate.steps.front() <= certificate.steps.back() / 4
                   ? 0
                   : static_cast<double>(certificate.steps.front());
  }
  if (!(axis.high > axis.low)) {
    axis.low -= 1;
    axis.high += 1;
  }
  return axis;
}

std::vector<double> finite_values(const Figure& figure) {
  std::vector<double> values;
  for (const Panel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      for (const Curve::Point& point : curve.points) {
        if (std::isfinite(point.y)) values.push_back(point.y);
      }
    }
  }
  return values;
}

/// 1, 2 or 5 times a power of ten: the distance of about six marks over the span.
double nice_distance(double span) {
  const double power = std::pow(10.0, std::floor(std::log10(span / 6)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (span / (factor * power) <= 7) return factor * power;
  }
  return 10 * power;
}

void fit_linear(Axis& axis, const std::vector<double>& values) {
  if (values.empty()) return;
  const auto [low, high] = std::ranges::minmax(values);
  const double span = high > low ? high - low : std::max(std::abs(high), 1.0);
  if (!std::isfinite(span)) return;
  const double distance = nice_distance(span);
  axis.low = distance * std::floor(low / distance);
  axis.high = distance * std::ceil(high / distance);
  if (!(axis.high > axis.low)) axis.high = axis.low + distance;
}

/// Whole decades around the positive values.
void fit_logarithmic(Axis& axis, std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.empty()) return;
  const auto [low, high] = std::ranges::minmax(values);
  axis.low = std::pow(10.0, std::clamp(std::floor(std::log10(low)), -300.0, 299.0));
  axis.high = std::pow(10.0, std::clamp(std::ceil(std::log10(high)), -299.0, 300.0));
  if (!(axis.high > axis.low)) axis.high = 10 * axis.low;
}

bool wants_logarithm(const Certificate& certificate, const std::vector<double>& values) {
  const bool positive = std::ranges::any_of(values, [](double value) { return value > 0; });
  const bool negative = std::ranges::any_of(values, [](double value) { return value < 0; });
  return positive && !negative && certificate.unit != "dB";
}

/// Shares that are 0 for half of the way, or above a half all the way, leave that part of the axis out.
void fit_to_shares(Figure& figure) {
  double first = figure.x.high;  // the last iteration before anything is above 0
  double lowest = 1;
  for (const Panel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      double before = figure.x.low;
      bool risen = false;
      for (const Curve::Point& point : curve.points) {
        if (figure.x.logarithmic && !(point.x > 0)) continue;
        // A bound that says nothing is not drawn, as if it were 0.
        if (std::isfinite(point.y)) lowest = std::min(lowest, point.y);
        risen = risen || point.y > 0;
        if (!risen) before = point.x;
      }
      if (risen) first = std::min(first, std::max(before, figure.x.low));
    }
  }
  if (first < figure.x.high) figure.x.low = first;
  constexpr double marks = 10;
  constexpr double half = 0.5;
  if (lowest >= half) figure.y.low = std::min(std::floor(lowest * marks) / marks, 1 - 1 / marks);
}

/// The observed share of problems by value: what claims say of the samples, as points of a staircase.
std::map<double, double> observed_shares(const Certificate& certificate, std::size_t variant) {
  std::map<double, double> shares;
  const auto add = [&](double value, double share) {
    if (!std::isfinite(value)) return;
    double& known = shares[value];
    known = std::max(known, share);
  };
  for (const certify::BandClaim& claim : certificate.bands) {
    if (claim.variant != variant) continue;
    for (const certify::BandPoint& point : points_of(claim))
      add(point.value, static_cast<double>(point.rank) / static_cast<double>(claim.samples));
  }
  for (const certify::QuantileClaim& claim : certificate.quantile)
    if (claim.variant == variant) add(claim.empirical, claim.quantile);
  for (const certify::SuccessClaim& claim : certificate.success)
    if (claim.variant == variant) add(claim.tolerance, claim.empirical);
  return shares;
}

/// The largest share that any claim gives to a value or a smaller one.
std::map<double, double> certified_shares(const certify::Facts& facts, std::size_t variant) {
  std::map<double, double> shares;
  for (const certify::Fact& fact : facts.all()) {
    if (fact.variant != variant || !(fact.share > 0)) continue;
    double& known = shares[fact.value];
    known = std::max(known, fact.share);
  }
  return shares;
}

Curve rising_curve(const std::map<double, double>& shares, std::size_t dash, std::string name) {
  Curve curve{std::move(name), 0, dash, {}, false};
  double largest = 0;
  for (const auto& [value, share] : shares) {
    // A staircase: nothing more is known until the next value.
    if (!curve.points.empty()) curve.points.push_back({value, largest});
    largest = std::max(largest, share);
    curve.points.push_back({value, largest});
  }
  return curve;
}

void fit_to_values(const Certificate& certificate, Axis& axis, const std::vector<double>& values) {
  axis.logarithmic = wants_logarithm(certificate, values);
  if (axis.logarithmic) {
    fit_logarithmic(axis, values);
  } else {
    fit_linear(axis, values);
  }
}

}  // namespace

Figure distribution_figure(const Certificate& certificate) {
  Figure figure;
  figure.name = file_names::distribution;
  figure.title = fmt::format("Share of problems whose {} is at most a value", metric_with_unit(certificate));
  figure.x.label = metric_with_unit(certificate);
  figure.y = {"share of problems", false, true, 0, 1};
  figure.styles = style_names(certificate, {""});
  figure.remark = note_on_dependence(certificate);
  const certify::Facts facts(certificate);
  std::vector<double> values;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const std::map<double, double> certified = certified_shares(facts, v);
    Panel& panel = figure.panels.emplace_back();
    panel.title = shortened(certificate.variants[v].name, title_width);
    panel.curves.push_back(rising_curve(observed_shares(certificate, v), 0, ""));
    panel.curves.push_back(rising_curve(certified, 1, certified.empty() ? "no guarantee" : ""));
    for (const Curve& curve : panel.curves)
      for (const Curve::Point& point : curve.points) values.push_back(point.x);
  }
  fit_to_values(certificate, figure.x, values);
  return figure;
}

std::vector<Figure> figures_of(const Certificate& certificate) {
  if (certificate.scalar) return {distribution_figure(certificate)};
  return {success_figure(certificate), quantile_figure(certificate)};
}

Figure success_figure(const Certificate& certificate) {
  Drawing drawing{thinned(success_series(certificate), certificate),
                  certify::telling_values(certificate.tolerances, figure_hues),
                  {},
                  0};
  drawing.methods = methods_of(drawing.all);
  Figure figure;
  figure.name = file_names::success;
  figure.things = things(certificate);
  figure.title =
      fmt::format("Share of {} below a tolerance: {}", figure.things, metric_with_unit(certificate));
  figure.x = step_axis(certificate);
  figure.y = {fmt::format("share of {} below tolerance", figure.things), false, true, 0, 1};
  figure.styles = style_names(certificate, drawing.methods);
  figure.remark =
      remark_on(certificate, drawing.parameters.size(), certificate.tolerances.size(), "tolerances");
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    figure.panels.push_back(panel_of(certificate, drawing, v, [&](double tolerance, bool bounded) {
      return fmt::format("< {}{}", with_unit(certificate, exact_label(tolerance)),
                         bounded ? "" : ": no guarantee");
    }));
  }
  fit_to_shares(figure);
  return figure;
}

Figure quantile_figure(const Certificate& certificate) {
  Drawing drawing{quantile_series(certificate),
                  certify::telling_values(certificate.quantiles, figure_hues),
                  {},
                  infinity};
  drawing.methods = methods_of(drawing.all);
  Figure figure;
  figure.name = file_names::quantiles;
  figure.things = things(certificate);
  figure.title = fmt::format("Quantiles of the {}", metric_with_unit(certificate));
  figure.x = step_axis(certificate);
  figure.y.label = metric_with_unit(certificate);
  figure.styles = style_names(certificate, drawing.methods);
  figure.remark =
      remark_on(certificate, drawing.parameters.size(), certificate.quantiles.size(), "quantiles");
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    figure.panels.push_back(panel_of(certificate, drawing, v, [&](double share, bool bounded) {
      return percent_label(share) + (bounded ? " of " + figure.things : ": no guarantee");
    }));
    if (const std::optional<Series> worst = worst_case_series(certificate, v)) {
      Curve curve{worst_case_label(certificate), drawing.parameters.size(), one_of_many - 1, {}};
      for (const Series::Point& point : worst->points)
        curve.points.push_back({static_cast<double>(point.step), std::min(point.observed, point.certified)});
      figure.panels.back().curves.push_back(std::move(curve));
    }
  }
  fit_to_values(certificate, figure.y, finite_values(figure));
  return figure;
}

}  // namespace surefoot::report
