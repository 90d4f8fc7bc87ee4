#include "surefoot/report/picture.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace surefoot::report {
namespace {

constexpr double panel_width = 330;
constexpr double panel_pixels = 330;
constexpr double legend_height = 44;
constexpr double pixels_per_inch = 92;
constexpr Index magnification = 4;  ///< screen pixels per pixel
constexpr Index image_gap = 1;
constexpr int ink = 99;  ///< grey levels have two digits: gnuplot reads its script byte by byte
constexpr int gap_grey = 10;
constexpr double label_width = 130;

std::string picture_terminal(ImageFormat format, double width, double height) {
  if (format == ImageFormat::svg) {
    return fmt::format("set terminal svg size {:.0f},{:.0f} dynamic enhanced font 'Arial,13' linewidth 1\n",
                       width, height);
  }
  return fmt::format(
      "set terminal pdfcairo size {:.3f},{:.3f} enhanced color font 'Helvetica,11' linewidth 1\n",
      width / pixels_per_inch, height / pixels_per_inch);
}

std::string style_of(const PlaneLayer& layer) {
  switch (layer.kind) {
    case PlaneLayer::Kind::discs:
      return fmt::format("using 1:2:({:.17g}) with circles fs transparent solid 0.25 noborder", layer.radius);
    case PlaneLayer::Kind::points:
      return "using 1:2 with points pt 7 ps 0.28";
    case PlaneLayer::Kind::crosses:
      return "using 1:2 with points pt 2 ps 0.5 lw 1.6";
    case PlaneLayer::Kind::line:
      return "using 1:2 with lines lw 1.6";
    case PlaneLayer::Kind::band:
      return fmt::format(
          "using 1:($2-{0:.17g}):($2+{0:.17g}) with filledcurves fs transparent solid 0.25 noborder",
          layer.radius);
    case PlaneLayer::Kind::path:
      break;
  }
  return "using 1:2 with linespoints pt 7 ps 0.55 lw 1.4";
}

/// The legend's mark; large enough to be seen.
std::string legend_entry(const PlaneLayer& layer) {
  const bool crosses = layer.kind == PlaneLayer::Kind::crosses;
  const bool discs = layer.kind == PlaneLayer::Kind::discs || layer.kind == PlaneLayer::Kind::band;
  const bool path = layer.kind == PlaneLayer::Kind::path;
  const std::string mark = layer.kind == PlaneLayer::Kind::line
                               ? "lines"
                               : fmt::format("{} pt {} ps {}", path ? "linespoints" : "points",
                                             crosses ? 2 : 7, discs ? 2.2 : 0.8);
  return fmt::format("keyentry with {} lc rgb '{}' title {} noenhanced", mark,
                     (discs ? "#BF" : "#00") + layer.colour.substr(1), gnuplot_quoted(layer.name));
}

std::string data_block(const PlaneLayer& layer, std::size_t number) {
  std::string text = fmt::format("$layer{} << END\n", number);
  for (const Curve::Point& point : layer.points) {
    fmt::format_to(std::back_inserter(text), "{:.6g} {:.6g}\n", point.x, point.y);
  }
  return text + "END\n";
}

std::string panel_lines(const PlanePanel& panel) {
  std::string data;
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < panel.layers.size(); ++i) {
    const PlaneLayer& layer = panel.layers[i];
    data += data_block(layer, i);
    entries.push_back(fmt::format("$layer{} {} lc rgb '{}' notitle", i, style_of(layer), layer.colour));
  }
  return data + fmt::format("set title {} noenhanced offset 0,-0.6\nplot {}\n", gnuplot_quoted(panel.title),
                            fmt::join(entries, ", \\\n     "));
}

/// An empty plot over the whole width that carries the legend.
std::string legend_lines(const PlanePanel& panel, double share) {
  std::vector<std::string> entries;
  for (const PlaneLayer& layer : panel.layers) entries.push_back(legend_entry(layer));
  return fmt::format(
      "unset title\nunset border\nunset tics\nunset grid\nset size noratio\nset origin "
      "0,0\nset size 1,{:.6f}\n"
      "set lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\nset xrange [0:1]\nset yrange [0:1]\n"
      "set key center center horizontal Left reverse samplen 1.5 width -3 maxrows 1 noenhanced\n"
      "plot {}, 1/0 notitle\n",
      share, fmt::join(entries, ", "));
}

/// All images of a grid in one, as grey levels.
struct GreyMap {
  Index width = 0;
  Index height = 0;
  std::vector<int> levels;
};

GreyMap grey_map(const ImageGrid& grid) {
  const Index cell = grid.side + image_gap;
  GreyMap map;
  map.width = static_cast<Index>(grid.rows.front().images.size()) * cell + image_gap;
  map.height = static_cast<Index>(grid.rows.size()) * cell + image_gap;
  map.levels.assign(static_cast<std::size_t>(map.width * map.height), gap_grey);
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    for (std::size_t column = 0; column < grid.rows[row].images.size(); ++column) {
      const std::vector<double>& image = grid.rows[row].images[column];
      const Index corner = (static_cast<Index>(row) * cell + image_gap) * map.width +
                           static_cast<Index>(column) * cell + image_gap;
      for (Index pixel = 0; pixel < grid.side * grid.side; ++pixel) {
        const double value = std::clamp(image.at(static_cast<std::size_t>(pixel)), 0.0, 1.0);
        map.levels.at(static_cast<std::size_t>(corner + pixel / grid.side * map.width + pixel % grid.side)) =
            static_cast<int>(std::lround(ink * value));
      }
    }
  }
  return map;
}

std::string data_block(const GreyMap& map) {
  std::string text = "$image << END\n";
  for (std::size_t i = 0; i < map.levels.size(); ++i) {
    const bool ends_row = (i + 1) % static_cast<std::size_t>(map.width) == 0;
    fmt::format_to(std::back_inserter(text), "{}{}", map.levels[i], ends_row ? '\n' : ' ');
  }
  return text + "END\n";
}

}  // namespace

std::string gnuplot_script(const PlanePicture& picture, ImageFormat format) {
  require(!picture.panels.empty(), "picture {}: has no panel", picture.name);
  const auto count = static_cast<double>(picture.panels.size());
  const double height = panel_pixels + legend_height;
  std::string script = picture_terminal(format, panel_width * count, height);
  script +=
      "set encoding utf8\nset samples 2\nset border 3 lc rgb 'black' lw 0.8\n"
      "set grid lc rgb '#999999' lw 0.6 dt (1,3)\nset tics nomirror out scale 0.6\nset size ratio -1\n"
      "set xtics 1\nset ytics 1\n"
      "set offsets graph 0.06, graph 0.06, graph 0.06, graph 0.06\nset tmargin 2\nset multiplot\n";
  for (std::size_t i = 0; i < picture.panels.size(); ++i) {
    script +=
        fmt::format("set origin {:.6f},{:.6f}\nset size {:.6f},{:.6f}\n", static_cast<double>(i) / count,
                    legend_height / height, 1 / count, panel_pixels / height);
    script += panel_lines(picture.panels[i]);
  }
  return script + legend_lines(picture.panels.front(), legend_height / height) + "unset multiplot\n";
}

std::string gnuplot_script(const ImageGrid& grid, ImageFormat format) {
  require(!grid.rows.empty() && !grid.rows.front().images.empty(), "picture {}: has no image", grid.name);
  const GreyMap map = grey_map(grid);
  const Index cell = grid.side + image_gap;
  std::string labels;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    labels += fmt::format("set label {} {} at first -3,{} right noenhanced\n", row + 1,
                          gnuplot_quoted(grid.rows[row].label), static_cast<Index>(row) * cell + cell / 2);
  }
  const auto width = static_cast<double>(map.width);
  const auto height = static_cast<double>(map.height);
  const double full_width = magnification * width + label_width;
  return picture_terminal(format, full_width, magnification * height) +
         fmt::format(
             "set encoding utf8\nset palette gray negative\nset cbrange "
             "[0:{}]\nunset colorbox\nunset border\n"
             "unset tics\nset lmargin at screen {:.6f}\nset rmargin at screen 1\nset tmargin at screen 1\n"
             "set bmargin at screen 0\nset xrange [-0.5:{}]\nset yrange [{}:-0.5]\n",
             ink, label_width / full_width, width - 0.5, height - 0.5) +
         labels + data_block(map) + "plot $image matrix with image notitle\n";
}

Image render(const PlanePicture& picture, ImageFormat format, const PlotOptions& options) {
  return render_script(gnuplot_script(picture, format), format, picture.name, options);
}

Image render(const ImageGrid& grid, ImageFormat format, const PlotOptions& options) {
  Image image = render_script(gnuplot_script(grid, format), format, grid.name, options);
  if (image.content && format == ImageFormat::svg) {
    const std::size_t at = image.content->find("<image ");
    if (at != std::string::npos) image.content->insert(at + 7, "style='image-rendering:pixelated' ");
  }
  return image;
}

PageFigure page_figure(const Image& svg, const std::string& name, const std::string& caption) {
  PageFigure figure;
  figure.caption = caption;
  figure.notice = svg.notice;
  if (svg.content) figure.panels.push_back(inline_svg(*svg.content, name + "-", caption));
  return figure;
}

}  // namespace surefoot::report
