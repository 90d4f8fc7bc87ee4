#include "surefoot/report/figure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::report {

bool has_points(const Curve& curve) {
  return std::ranges::any_of(curve.points, [](const Curve::Point& point) { return std::isfinite(point.y); });
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

}  // namespace surefoot::report
