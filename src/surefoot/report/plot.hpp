#pragma once

#include "surefoot/certify/certificate.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Figures, drawn by the program gnuplot.
namespace surefoot::report {

struct Curve {
  struct Point {
    double x = 0;
    double y = 0;  ///< not finite: the line is interrupted
  };
  std::string name;      ///< in the legend; empty: not there
  std::size_t hue = 0;   ///< place in the palette
  std::size_t dash = 0;  ///< 0: thin and dashed, as observed; 1, 2, 3: solid and others, one per method
  std::vector<Point> points;
  /// Values are claimed at these steps alone: drawn as points, or as a staircase where every step is one of
  /// them.
  bool claims = false;
};

struct Panel {
  std::string title;
  std::vector<Curve> curves;
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  bool percent = false;
  double low = 0;
  double high = 1;
};

/// Panels side by side with common axes and a common legend of line styles.
struct Figure {
  std::string name;   ///< of its file, "success"
  std::string title;  ///< may be empty
  Axis x;
  Axis y;
  std::vector<std::string> styles;  ///< meaning of dash 0, 1, ...
  std::vector<Panel> panels;
  std::string remark;  ///< what is not drawn, and what certified curves rest on; empty if there is nothing
};

/// Share of problems below each tolerance over the steps, a panel per variant.
Figure success_figure(const certify::Certificate& certificate);

/// Quantiles over the steps, a panel per variant; logarithmic unless the metric is negative or in dB.
Figure quantile_figure(const certify::Certificate& certificate);

/// False: there is nothing to draw.
bool has_curves(const Figure& figure);

/// The panels as figures of their own, without the common title: they can flow in a page.
std::vector<Figure> one_per_panel(const Figure& figure);

enum class ImageFormat {
  svg,           ///< text stays text: for pages, which choose the font
  pdf,           ///< fonts embedded
  outlined_svg,  ///< letters are outlines: looks the same everywhere, as the PDF
};

struct PlotOptions {
  std::string gnuplot = "gnuplot";        ///< program, searched in PATH
  std::string pdftocairo = "pdftocairo";  ///< the same; makes outlined SVG of a PDF
};

/// The script, complete with its data; user text in it is quoted and inert.
std::string gnuplot_script(const Figure& figure, ImageFormat format);

struct Image {
  std::optional<std::string> content;  ///< none: see notice
  std::string notice;                  ///< why there is no image; empty if there is one
};

/// The PDF of an image as an SVG with outlines.
Image outlined(const Image& pdf, const std::string& name, const PlotOptions& options = {});

/// Runs gnuplot, without a shell and without the user's settings. Does not throw if it is missing, fails,
/// hangs or gives back a part.
Image render(const Figure& figure, ImageFormat format, const PlotOptions& options = {});

/// The same for a complete script that draws in this format; `name` stands in the notice.
Image render_script(const std::string& script, ImageFormat format, const std::string& name,
                    const PlotOptions& options = {});

/// An SVG of gnuplot made ready to stand in a page beside others: no prolog, ids begin with `prefix`, colours
/// black and none follow the page, `description` for those who do not see it.
std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description);

}  // namespace surefoot::report
