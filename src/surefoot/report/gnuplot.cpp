#include "surefoot/report/gnuplot.hpp"

#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/report/image_check.hpp"
#include "surefoot/report/process.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace surefoot::report {
namespace {

constexpr std::size_t most_columns = 2;
constexpr std::size_t few_points = 12;

/// Okabe and Ito's palette for all kinds of colour vision, in an order whose neighbours differ in lightness
/// too; yellow is left out, it vanishes on white.
constexpr std::array<std::string_view, figure_hues> palette{"#0072B2", "#D55E00", "#009E73",
                                                            "#CC79A7", "#E69F00", "#56B4E9"};

/// Marks of the same places in the list: dots, circles, squares.
constexpr std::array<int, line_styles> points_of_dash{7, 7, 6, 4, 7};

constexpr std::array<std::string_view, line_styles> styles_of_dash{
    "lw 1.3 dt (6,4)", "lw 2.4 dt solid", "lw 2 dt (12,3,2,3)", "lw 2 dt (2,3)", "lw 0.8 dt solid"};

struct Canvas {
  double width;
  double height;
  double title_height;
};

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
  return whole_image(std::move(result), ImageFormat::svg, fmt::format("SVG of figure {}", name),
                     options.pdftocairo);
}

Image render(const Figure& figure, ImageFormat format, const PlotOptions& options) {
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

}  // namespace surefoot::report
