#include "surefoot/report/plot.hpp"

#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/report/image_check.hpp"
#include "surefoot/report/process.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace surefoot::report {
namespace {

using certify::Certificate;

constexpr std::size_t most_hues = 6;
constexpr std::size_t few_points = 12;
constexpr std::size_t most_points = 600;
constexpr std::size_t most_columns = 2;
constexpr std::size_t title_width = 48;

/// Okabe and Ito's palette for all kinds of colour vision, in an order whose neighbours differ in lightness
/// too; yellow is left out, it vanishes on white.
constexpr std::array<std::string_view, most_hues> palette{"#0072B2", "#D55E00", "#009E73",
                                                          "#CC79A7", "#E69F00", "#56B4E9"};

/// Marks of the same places in the list: dots, circles, squares.
constexpr std::array<int, 4> points_of_dash{7, 7, 6, 4};

constexpr std::array<std::string_view, 4> styles_of_dash{"lw 1.3 dt (6,4)", "lw 2.4 dt solid",
                                                         "lw 2 dt (12,3,2,3)", "lw 2 dt (2,3)"};

struct Canvas {
  double width;
  double height;
  double title_height;
};

// ---- from certificate to figure

/// More points than a printed page can tell apart only make files large.
std::vector<Series> thinned(std::vector<Series> all, const Certificate& certificate) {
  if (certificate.steps.size() <= most_points) return all;
  const std::vector<Index> kept = telling_steps(certificate, most_points);
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
  if (methods.size() > styles_of_dash.size() - 1) methods.resize(styles_of_dash.size() - 1);
  return methods;
}

std::vector<std::string> style_names(const Certificate& certificate,
                                     const std::vector<std::string_view>& methods) {
  std::vector<std::string> names{"observed"};
  const std::string_view condition = condition_of(certificate);
  for (const std::string_view method : methods) {
    std::string name = "certified";
    if (methods.size() > 1) name += fmt::format(", {}", method);
    if (!condition.empty()) name += fmt::format(", {}", condition);
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

bool has_points(const Curve& curve) {
  return std::ranges::any_of(curve.points, [](const Curve::Point& point) { return std::isfinite(point.y); });
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
  Axis axis{"iteration", acts_early(certificate), false, 0, 1};
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

// ---- from figure to script

/// gnuplot guesses the width of text in SVG, and guesses too much.
std::string legend_place(ImageFormat format) {
  const bool svg = format == ImageFormat::svg;
  return fmt::format(
      "set key below center horizontal Left reverse samplen 2 width {} spacing 1.15 height {} noenhanced\n"
      "set xlabel offset 0,{}\n",
      svg ? -2 : 1, svg ? 0.5 : 0.8, svg ? 0.7 : 0.4);
}

Canvas canvas_of(const Figure& figure, ImageFormat format) {
  Canvas canvas{500, 370, figure.title.empty() ? 0.0 : 34.0};
  if (format == ImageFormat::pdf) canvas = {5.4, 4.0, figure.title.empty() ? 0.0 : 0.36};
  return canvas;
}

std::string terminal(ImageFormat format, double width, double height) {
  if (format == ImageFormat::svg) {
    return fmt::format("set terminal svg size {:.0f},{:.0f} dynamic enhanced font 'Arial,13' linewidth 1\n",
                       width, height);
  }
  return fmt::format(
      "set terminal pdfcairo size {:.3f},{:.3f} enhanced color font 'Helvetica,12' linewidth 1\n", width,
      height);
}

double scale_of(const Axis& axis) {
  return axis.percent ? 100 : 1;
}

std::string tics(char name, const Axis& axis) {
  if (!axis.logarithmic) {
    return fmt::format("set {0}tics autofreq\nset format {0} '{1}'\n", name, axis.percent ? "%g %%" : "%g");
  }
  const double decades = std::log10(axis.high / axis.low);
  const double every = std::max(1.0, std::ceil(decades / 8));
  return fmt::format("set logscale {0}\nset {0}tics {1}\nset format {0} '10^{{%T}}'\n", name,
                     full_precision(std::pow(10.0, every)));
}

std::string axis_lines(char name, const Axis& axis) {
  return tics(name, axis) + fmt::format("set {0}range [{1}:{2}]\nset {0}label {3} noenhanced\n", name,
                                        full_precision(scale_of(axis) * axis.low),
                                        full_precision(scale_of(axis) * axis.high),
                                        gnuplot_quoted(axis.label));
}

/// The data of a curve; an empty line interrupts it. On a logarithmic axis what is not positive lies on the
/// edge.
std::string data_block(const Figure& figure, const Curve& curve, std::size_t number) {
  std::string text = fmt::format("$curve{} << END\n", number);
  const double scale = scale_of(figure.y);
  for (const Curve::Point& point : curve.points) {
    if (figure.x.logarithmic && !(point.x > 0)) continue;
    const double y = figure.y.logarithmic ? std::max(point.y, figure.y.low) : scale * point.y;
    if (std::isfinite(point.y)) {
      fmt::format_to(std::back_inserter(text), "{} {}\n", full_precision(point.x), full_precision(y));
    } else {
      text += '\n';
    }
  }
  return text + "END\n";
}

/// Whether there is nothing between the points: a staircase tells all.
bool at_every_step(const Curve& curve) {
  return std::ranges::adjacent_find(curve.points, [](const Curve::Point& a, const Curve::Point& b) {
           return b.x != a.x + 1;
         }) == curve.points.end();
}

bool drawn_as_points(const Curve& curve) {
  return curve.claims && (curve.points.size() <= few_points || !at_every_step(curve));
}

std::string marks_of_dash(std::size_t dash) {
  return fmt::format("with points pt {} ps 0.4", points_of_dash[std::min(dash, points_of_dash.size() - 1)]);
}

std::string curve_style(const Curve& curve) {
  const std::string_view colour = palette[curve.hue % palette.size()];
  if (drawn_as_points(curve)) return fmt::format("{} lc rgb '{}'", marks_of_dash(curve.dash), colour);
  const bool single = curve.points.size() == 1;
  const std::string_view marks = curve.claims ? "steps" : single ? "linespoints pt 7 ps 0.45" : "lines";
  return fmt::format("with {} lc rgb '{}' {}", marks, colour,
                     styles_of_dash[std::min(curve.dash, styles_of_dash.size() - 1)]);
}

std::string title_of(const std::string& name) {
  return name.empty() ? "notitle" : fmt::format("title {} noenhanced", gnuplot_quoted(name));
}

/// Entries of the legend that explain the line styles.
std::vector<std::string> style_entries(const Figure& figure) {
  std::vector<std::string> entries;
  for (std::size_t dash = figure.styles.size(); dash-- > 0;) {
    const bool points = std::ranges::any_of(figure.panels, [&](const Panel& panel) {
      return std::ranges::any_of(
          panel.curves, [&](const Curve& curve) { return curve.dash == dash && drawn_as_points(curve); });
    });
    const std::string drawn = points ? marks_of_dash(dash) + " lc rgb 'black'"
                                     : fmt::format("with lines lc rgb 'black' {}",
                                                   styles_of_dash[std::min(dash, styles_of_dash.size() - 1)]);
    entries.push_back(fmt::format("keyentry {} {}", drawn, title_of(figure.styles[dash])));
  }
  return entries;
}

std::string panel_lines(const Figure& figure, const Panel& panel) {
  std::string data;
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve& curve = panel.curves[i];
    const std::string title = title_of(curve.name);
    if (has_points(curve)) {
      data += data_block(figure, curve, i);
      entries.push_back(fmt::format("$curve{} using 1:2 {} {}", i, curve_style(curve), title));
    } else if (!curve.name.empty()) {
      entries.push_back(fmt::format("keyentry {} {}", curve_style(curve), title));
    }
  }
  for (std::string& entry : style_entries(figure)) entries.push_back(std::move(entry));
  entries.emplace_back("1/0 notitle");  // gnuplot draws no axes around legend entries alone
  return data +
         fmt::format("set label 1 {} at graph 0, 1.06 noenhanced font ',15'\n", gnuplot_quoted(panel.title)) +
         fmt::format("plot {}\n", fmt::join(entries, ", \\\n     "));
}

std::string common_lines(const Figure& figure) {
  return "set encoding utf8\nset samples 2\n"
         "set border 3 lc rgb 'black' lw 0.8\nset grid lc rgb '#999999' lw 0.6 dt (1,3)\n"
         "set tics nomirror out scale 0.6\n"
         "set key below center horizontal Left reverse samplen 2 width -3 spacing 1.15 "
         "height 0.5 noenhanced\n"
         "set rmargin 3\nset tmargin 1.8\nset xtics offset 0,0.3\n" +
         axis_lines('x', figure.x) + axis_lines('y', figure.y);
}

// ---- from SVG to page

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string rewritten_tag(std::string tag, std::string_view prefix) {
  for (const char* opening : {" id=\"", " id='", "href=\"#", "href='#", "url(#"}) {
    replace_all(tag, opening, std::string(opening) + std::string(prefix));
  }
  replace_all(tag, " color=\"black\"", "");
  for (const char* black : {"'black'", "\"black\"", "'rgb(  0,   0,   0)'", "\"rgb(0,0,0)\""}) {
    replace_all(tag, black, "\"currentColor\"");
  }
  return tag;
}

std::string attribute(std::string_view tag, std::string_view name) {
  const std::string opening = std::string(name) + "=\"";
  const std::size_t begin = tag.find(opening);
  if (begin == std::string_view::npos) return "";
  const std::size_t from = begin + opening.size();
  return std::string(tag.substr(from, tag.find('"', from) - from));
}

std::string root_tag(std::string_view tag, std::string_view description) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"{}\" "
      "role=\"img\" aria-label=\"{}\">",
      html_escaped(attribute(tag, "viewBox")), html_escaped(description));
}

/// What a program drew, if all of it came back.
Image whole_image(ProcessResult result, ImageFormat format, const std::string& what,
                  const std::string& program) {
  const auto none = [&](const std::string& why) {
    return Image{std::nullopt, fmt::format("No {}: {} {}", what, printable(program), why)};
  };
  if (result.timed_out) return none("did not end in time and was ended");
  if (result.exit_code != 0)
    return none(fmt::format("ended with code {}: {}", result.exit_code, printable(result.errors)));
  const bool pdf = format == ImageFormat::pdf;
  if (!(pdf ? is_whole_pdf(result.output) : is_whole_svg(result.output)))
    return none(fmt::format(
        "gave back what is not a whole {}: {}", pdf ? "PDF" : "SVG",
        result.errors.empty() ? "is the disk for temporary files full?" : printable(result.errors)));
  return {std::move(result.output), ""};
}

}  // namespace

Figure success_figure(const Certificate& certificate) {
  Drawing drawing{thinned(success_series(certificate), certificate),
                  certify::telling_values(certificate.tolerances, most_hues),
                  {},
                  0};
  drawing.methods = methods_of(drawing.all);
  Figure figure;
  figure.name = file_names::success;
  figure.title = fmt::format("Share of problems below a tolerance: {}", metric_with_unit(certificate));
  figure.x = step_axis(certificate);
  figure.y = {"share of problems below tolerance", false, true, 0, 1};
  figure.styles = style_names(certificate, drawing.methods);
  figure.remark =
      remark_on(certificate, drawing.parameters.size(), certificate.tolerances.size(), "tolerances");
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    figure.panels.push_back(panel_of(certificate, drawing, v, [&](double tolerance, bool bounded) {
      return fmt::format("< {}{}", with_unit(certificate, exact_label(tolerance)),
                         bounded ? "" : ": no guarantee");
    }));
  }
  return figure;
}

Figure quantile_figure(const Certificate& certificate) {
  Drawing drawing{
      quantile_series(certificate), certify::telling_values(certificate.quantiles, most_hues), {}, infinity};
  drawing.methods = methods_of(drawing.all);
  Figure figure;
  figure.name = file_names::quantiles;
  figure.title = fmt::format("Quantiles of the {}", metric_with_unit(certificate));
  figure.x = step_axis(certificate);
  figure.y.label = metric_with_unit(certificate);
  figure.styles = style_names(certificate, drawing.methods);
  figure.remark =
      remark_on(certificate, drawing.parameters.size(), certificate.quantiles.size(), "quantiles");
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    figure.panels.push_back(panel_of(certificate, drawing, v, [](double share, bool bounded) {
      return percent_label(share) + (bounded ? " of problems" : ": no guarantee");
    }));
    if (const std::optional<Series> worst = worst_case_series(certificate, v)) {
      Curve curve{worst_case_label(certificate), drawing.parameters.size(), styles_of_dash.size() - 1, {}};
      for (const Series::Point& point : worst->points)
        curve.points.push_back({static_cast<double>(point.step), std::min(point.observed, point.certified)});
      figure.panels.back().curves.push_back(std::move(curve));
    }
  }
  const std::vector<double> values = finite_values(figure);
  figure.y.logarithmic = wants_logarithm(certificate, values);
  if (figure.y.logarithmic) {
    fit_logarithmic(figure.y, values);
  } else {
    fit_linear(figure.y, values);
  }
  return figure;
}

bool has_curves(const Figure& figure) {
  return std::ranges::any_of(figure.panels, [](const Panel& panel) { return !panel.curves.empty(); });
}

std::vector<Figure> one_per_panel(const Figure& figure) {
  std::vector<Figure> figures;
  for (const Panel& panel : figure.panels) {
    Figure& single = figures.emplace_back(figure);
    single.title.clear();
    single.panels = {panel};
  }
  return figures;
}

std::string gnuplot_script(const Figure& figure, ImageFormat format) {
  const std::size_t count = std::max<std::size_t>(figure.panels.size(), 1);
  const std::size_t columns = std::min(count, most_columns);
  const std::size_t rows = (count + columns - 1) / columns;
  const Canvas canvas = canvas_of(figure, format);
  const double height = canvas.height * static_cast<double>(rows) + canvas.title_height;
  std::string script = terminal(format, canvas.width * static_cast<double>(columns), height);
  script += common_lines(figure) + legend_place(format);
  script += figure.title.empty()
                ? "set multiplot\n"
                : fmt::format("set multiplot title {} noenhanced font ',16'\n", gnuplot_quoted(figure.title));
  const double panel_height = canvas.height / height;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const std::size_t row = i / columns;
    const double x = static_cast<double>(i % columns) / static_cast<double>(columns);
    const double y = panel_height * static_cast<double>(rows - 1 - row);
    script += fmt::format("set origin {:.6f},{:.6f}\nset size {:.6f},{:.6f}\n", x, y,
                          1.0 / static_cast<double>(columns), panel_height);
    script += panel_lines(figure, figure.panels[i]);
  }
  return script + "unset multiplot\n";
}

Image outlined(const Image& pdf, const std::string& name, const PlotOptions& options) {
  if (!pdf.content) return pdf;
  ProcessResult result = run_process({options.pdftocairo, "-svg", "-", "-"}, *pdf.content);
  if (!result.started && !result.timed_out) {
    return {std::nullopt,
            fmt::format("No SVG figures for papers: cannot run {} ({}).{}", printable(options.pdftocairo),
                        result.errors,
                        result.missing ? " Install it (Debian: apt install poppler-utils) to get them; the "
                                         "PDFs are there."
                                       : "")};
  }
  return whole_image(std::move(result), ImageFormat::outlined_svg, fmt::format("SVG of figure {}", name),
                     options.pdftocairo);
}

Image render(const Figure& figure, ImageFormat format, const PlotOptions& options) {
  if (format == ImageFormat::outlined_svg)
    return outlined(render(figure, ImageFormat::pdf, options), figure.name, options);
  return render_script(gnuplot_script(figure, format), format, figure.name, options);
}

Image render_script(const std::string& script, ImageFormat format, const std::string& name,
                    const PlotOptions& options) {
  if (!ranks().first()) return {};  // the first process alone writes files
  ProcessResult result = run_process({options.gnuplot, "--default-settings"}, script);
  if (!result.started && !result.timed_out) {
    return {
        std::nullopt,
        fmt::format("No figures: cannot run {} ({}).{}", printable(options.gnuplot), result.errors,
                    result.missing ? " Install gnuplot (Debian: apt install gnuplot-nox) to get them." : "")};
  }
  return whole_image(std::move(result), format, fmt::format("figure {}", name), options.gnuplot);
}

std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description) {
  std::string result;
  std::size_t at = svg.find("<svg");
  for (bool first = true; at < svg.size(); first = false) {
    const std::size_t end = std::min(svg.find('>', at), svg.size() - 1) + 1;
    const std::string_view tag = svg.substr(at, end - at);
    const std::size_t next = std::min(svg.find('<', end), svg.size());
    result += first ? root_tag(tag, description) : rewritten_tag(std::string(tag), prefix);
    result += svg.substr(end, next - end);
    at = next;
  }
  return result;
}

}  // namespace surefoot::report
