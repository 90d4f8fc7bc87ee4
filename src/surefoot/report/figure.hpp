#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace surefoot::report {

inline constexpr std::size_t figure_hues = 6;  ///< colours that can be told apart
inline constexpr std::size_t line_styles = 5;  ///< observed, three methods, and one of many
inline constexpr std::size_t one_of_many = 4;  ///< thin: a course among others

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
  std::string things = "problems";  ///< that certified curves speak of
  std::string remark;  ///< what is not drawn, and what certified curves rest on; empty if there is nothing
};

/// Whether anything of the curve can be drawn.
bool has_points(const Curve& curve);

/// False: there is nothing to draw.
bool has_curves(const Figure& figure);

/// The panels as figures of their own, without the common title: they can flow in a page.
std::vector<Figure> one_per_panel(const Figure& figure);

}  // namespace surefoot::report
