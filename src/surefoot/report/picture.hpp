#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/gnuplot.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/inline_svg.hpp"

#include <string>
#include <vector>

/// Pictures of problems and their solutions, drawn by gnuplot as the figures are.
namespace surefoot::report {

/// Marks in the plane, drawn in the order of the layers.
struct PlaneLayer {
  /// line: a path without points; band: everything within `radius` above and below a line.
  enum class Kind { discs, points, crosses, path, line, band };
  Kind kind = Kind::points;
  std::string name;    ///< in the legend
  std::string colour;  ///< "#0072B2"
  std::vector<Curve::Point> points = {};
  double radius = 0;  ///< of discs and bands, in units of the axes
};

struct PlanePanel {
  std::string title;
  std::vector<PlaneLayer> layers;
};

/// Panels side by side with axes of equal scale and one legend.
struct PlanePicture {
  std::string name;  ///< of its file
  std::string caption;
  std::vector<PlanePanel> panels;
};

/// Grey images in rows with a label before each: 0 is paper, 1 is ink.
struct ImageGrid {
  struct Row {
    std::string label;
    std::vector<std::vector<double>> images;  ///< side x side numbers each, row by row
  };
  std::string name;
  std::string caption;
  Index side = 0;
  std::vector<Row> rows;
};

std::string gnuplot_script(const PlanePicture& picture, ImageFormat format);
std::string gnuplot_script(const ImageGrid& grid, ImageFormat format);
Image render(const PlanePicture& picture, ImageFormat format, const PlotOptions& options = {});
Image render(const ImageGrid& grid, ImageFormat format, const PlotOptions& options = {});
/// The picture in a page; its notice says why if it could not be drawn.
PageFigure page_figure(const Image& svg, const std::string& name, const std::string& caption);

}  // namespace surefoot::report
