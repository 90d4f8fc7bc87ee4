#include "surefoot/experiments/step_figures.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace surefoot::experiments {
namespace {

/// Two runs of the steps 1, 2, 3; one of them stays at 1.
runs::Tally small_tally() {
  runs::TallySpec spec;
  spec.steps = {1, 2, 3};
  spec.tolerances = {0.1, 0.5};
  spec.claim_columns = {0, 2};
  spec.keep_values = true;
  runs::Tally tally(spec);
  for (const auto& trace : {std::vector<double>{1, 0.3, 0.05}, {1, 1, 1}}) tally.add_run(trace.data());
  return tally;
}

TEST(StepFigures, HaveAPanelForEachParameterWithTheSameCurves) {
  const runs::Tally tally = small_tally();
  StepFigure figure{.name = "success", .title = "", .metric = "residual", .steps = 3, .curves = {}};
  figure.curves = {{"seen", observed_success(tally, {0.1, 0.5}), 2, 0},
                   {"claimed",
                    [](double) {
                      return CurvePoints{{1, 0.25}};
                    },
                    1, 1}};
  const report::Figure drawn = success_over_steps(figure, {0.5, 0.1});
  ASSERT_EQ(drawn.panels.size(), 2U);
  EXPECT_EQ(drawn.panels[0].title, "below 0.5");
  EXPECT_EQ(drawn.x.high, 3);
  const std::vector<double> shares{0, 0.5, 0.5};
  ASSERT_EQ(drawn.panels[0].curves.size(), 2U);
  const report::Curve& seen = drawn.panels[0].curves[0];
  ASSERT_EQ(seen.points.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(seen.points[i].y, shares[i]);
  EXPECT_FALSE(seen.claims);
  EXPECT_EQ(seen.hue, 2U);
  EXPECT_TRUE(drawn.panels[0].curves[1].claims);
  EXPECT_EQ(drawn.panels[1].curves[0].points[1].y, 0) << "below 0.1 after two steps";
  EXPECT_INPUT_ERROR(success_over_steps(figure, {0.2}), "tolerance: 0.2 was not counted");
}

TEST(StepFigures, QuantilesAreDrawnAtTheClaimedSteps) {
  const runs::Tally tally = small_tally();
  const StepFigure figure{.name = "quantiles",
                          .title = "",
                          .metric = "NMSE",
                          .unit = "dB",
                          .steps = 3,
                          .curves = {{"seen", observed_quantiles(tally), 0, 0}}};
  const report::Figure drawn = quantiles_over_steps(figure, {0.5}, {"", true, false, 1e-3, 1});
  EXPECT_EQ(drawn.y.label, "NMSE (dB)");
  EXPECT_EQ(drawn.panels[0].title, "50 % of problems");
  const CurvePoints& points = drawn.panels[0].curves[0].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].x, 1);
  EXPECT_EQ(points[0].y, 1);
  EXPECT_EQ(points[1].x, 3);
  EXPECT_EQ(points[1].y, 0.05);
}

TEST(StepFigures, ManyPlacesAreSpreadAlongTheAxis) {
  EXPECT_EQ(drawn_places(3, false), (std::vector<std::size_t>{0, 1, 2}));
  for (const bool logarithmic : {false, true}) {
    const std::vector<std::size_t> places = drawn_places(16000, logarithmic);
    EXPECT_LE(places.size(), 250U);
    EXPECT_EQ(places.front(), 0U);
    EXPECT_EQ(places.back(), 15999U);
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  }
  EXPECT_LT(drawn_places(16000, true)[100], drawn_places(16000, false)[100]);
}

}  // namespace
}  // namespace surefoot::experiments
