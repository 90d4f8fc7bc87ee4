#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/runs/tally.hpp"

#include <functional>
#include <string>
#include <vector>

/// Figures of "success over steps" and "quantiles over steps": a panel for each tolerance or share, the same
/// curves in each. A curve is a label, a source and a style.
namespace surefoot::experiments {

using CurvePoints = std::vector<report::Curve::Point>;

/// The points of a curve in the panel of a parameter: a tolerance, or a share of problems.
using PointsAt = std::function<CurvePoints(double parameter)>;

/// What was observed of counted runs. Tolerances are those of `tolerances`, in the order that the tally
/// counts them.
PointsAt observed_success(const runs::Tally& tally, const std::vector<double>& tolerances);
PointsAt observed_quantiles(const runs::Tally& tally);
/// Of the variant that has the best bound at each step, and those bounds. Steps without a bound are
/// interruptions.
PointsAt observed_success(const certify::Certificate& certificate);
PointsAt certified_success(const certify::Certificate& certificate);
PointsAt observed_quantiles(const certify::Certificate& certificate);
PointsAt certified_quantiles(const certify::Certificate& certificate);

struct StepCurve {
  std::string label;  ///< in the legend; empty: not there
  PointsAt source;
  std::size_t hue = 0;
  std::size_t style = 0;  ///< place in the figure's styles; 0: observed
};

struct StepFigure {
  std::string name;       ///< of its file
  std::string title;      ///< may be empty
  std::string metric;     ///< label of the axis of quantiles
  std::string unit = {};  ///< of tolerances, "dB"
  std::string problems = "problems";
  std::string step = "iteration";
  Index steps = 0;
  bool logarithmic_steps = false;
  std::vector<std::string> styles{"observed", "certified"};
  std::vector<StepCurve> curves;
};

/// A panel for each tolerance, in the given order.
report::Figure success_over_steps(const StepFigure& figure, const std::vector<double>& tolerances);

/// A panel for each share; `y` is the axis of the metric, whose label is filled in.
report::Figure quantiles_over_steps(const StepFigure& figure, const std::vector<double>& shares,
                                    report::Axis y);

/// Places 0 .. count - 1, or about 250 of them spread evenly along the axis.
std::vector<std::size_t> drawn_places(std::size_t count, bool logarithmic);

}  // namespace surefoot::experiments
