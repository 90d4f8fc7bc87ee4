#include "surefoot/experiments/setting_space.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/experiments/host.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::experiments {
namespace {

SettingSpace rho_and_rule() {
  SettingAxis interval{"interval", SettingAxis::Kind::choices, 0, 0, {"50", "10"}, 1, {"rule", "on"}};
  return SettingSpace(
      {parse_axis("--over", "rho=1e-2:1e2:log:5"), parse_axis("--over", "rule=on|off"), interval});
}

TEST(SettingSpace, ReadsRangesAndChoices) {
  const SettingAxis rho = parse_axis("--over", "rho=1e-3:1e3:log");
  EXPECT_EQ(rho.kind, SettingAxis::Kind::logarithmic);
  EXPECT_EQ(rho.low, 1e-3);
  EXPECT_EQ(rho.high, 1e3);
  EXPECT_EQ(rho.coarse, 13);
  EXPECT_EQ(parse_axis("--over", "alpha=1:1.9").kind, SettingAxis::Kind::linear);
  EXPECT_EQ(parse_axis("--over", "alpha=1:1.9:linear:7").coarse, 7);
  EXPECT_EQ(parse_axis("--over", "method=a|b|c").choices, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(SettingSpace, RefusesWhatIsNoRangeAndNamesIt) {
  for (const char* text :
       {"rho", "=1:2", "rho=1:1e-3:log", "rho=1:1", "rho=0:1:log", "rho=-1:1:log", "rho=a:b", "rho=1:2:cubic",
        "rho=1:2:log:x", "rho=1:2:log:1", "rho=1:2:log:5:6", "rho=a||b", "rho=a|a", "rho=", "rho=1:inf",
        "rho=nan:1", "rho=1e-300:1e300:log", "rho=-1e308:1e308"}) {
    EXPECT_INPUT_ERROR(parse_axis("--over", text), "--over: ") << text;
  }
  EXPECT_INPUT_ERROR(parse_axis("--over", "rho=1:1e-3:log"), "--over: rho: 1:0.001 is an empty range");
}

TEST(SettingSpace, KnownAxesComeInTheirOrderAndOthersAreRefused) {
  const std::vector<SettingAxis> known{parse_axis("x", "rho=1:10"), parse_axis("x", "alpha=1:2")};
  const std::vector<SettingAxis> both = parse_axes("--over", "alpha,rho=2:3", known);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].name, "rho");
  EXPECT_EQ(both[0].high, 3);
  EXPECT_INPUT_ERROR((parse_axes("--over", "beta", known)), "'beta' is not one of rho, alpha");
  EXPECT_INPUT_ERROR((parse_axes("--over", "rho,rho", known)), "rho is there twice");
}

TEST(SettingSpace, AGridHasEveryCombinationThatRunsDifferently) {
  const SettingSpace space = rho_and_rule();
  const std::vector<SettingValues> grid = space.coarse_grid();
  EXPECT_EQ(grid.size(), 10U);
  EXPECT_EQ(std::set<SettingValues>(grid.begin(), grid.end()).size(), grid.size());
  EXPECT_EQ(to_text(space.texts(grid.front())), "rho=0.01 rule=on interval=50");
  // The interval does not matter where the rule is off, and is then not said.
  EXPECT_EQ(to_text(space.texts(grid.back())), "rho=100 rule=off");
  EXPECT_EQ(space.canonical({1, 1, 1}), space.canonical({1, 1, 0}));
  EXPECT_NE(space.canonical({1, 0, 1}), space.canonical({1, 0, 0}));
}

TEST(SettingSpace, AFineGridIsNoLargerThanAsked) {
  const SettingSpace space(
      {parse_axis("x", "rho=1e-3:1e3:log"), parse_axis("x", "alpha=1:1.9"), parse_axis("x", "scaling=0|10")});
  const FineGrid grid = space.fine_grid(400);
  EXPECT_LE(grid.points.size(), 400U);
  EXPECT_GE(grid.points.size(), 350U);
  EXPECT_FALSE(grid.finest);
  EXPECT_INPUT_ERROR((space.fine_grid(7)), "has at least 8 points, not 7");
}

TEST(SettingSpace, ARangeHasManyValuesOfFewDigits) {
  for (const char* text : {"x=0.99:0.9999", "x=1990:2020", "x=0:1", "x=1:1.9", "x=-3:5", "x=0.99:0.9999:log",
                           "x=1990:2020:log", "x=1e-3:1e3:log", "x=1:10:log"}) {
    const SettingAxis axis = parse_axis("--over", text);
    const SettingSpace space({axis});
    std::set<double> values;
    std::size_t longest = 0;
    for (int i = 0; i <= 20000; ++i) {
      const double place = i / 20000.0;
      const double at = axis.kind == SettingAxis::Kind::linear
                            ? axis.low + (axis.high - axis.low) * place
                            : axis.low * std::pow(axis.high / axis.low, place);
      values.insert(space.canonical({at})[0]);
      longest = std::max(longest, to_text(space.texts(space.canonical({at}))).size() - 2);
    }
    const double decades =
        axis.kind == SettingAxis::Kind::linear ? 1 : std::max(1.0, std::log10(axis.high / axis.low));
    EXPECT_GE(values.size(), 32U) << text;
    EXPECT_LE(static_cast<double>(values.size()), 1000 * decades) << text;
    EXPECT_LE(longest, 8U) << text;
  }
}

TEST(SettingSpace, AGivenCandidateKeepsItsDigits) {
  const SettingSpace space = rho_and_rule();
  EXPECT_EQ(space.candidate_of("x", {{"rho", "0.123456"}, {"rule", "off"}, {"interval", "10"}}),
            (SettingValues{0.123456, 1, 0}));
}

TEST(SettingSpace, SettingsThatAreNoPointAreTheDefault) {
  EXPECT_EQ(to_text(rho_and_rule().texts({})), "the default");
}

// Few digits tell so many values of a range apart and no more.
TEST(SettingSpace, AFineGridEndsWhereItsValuesAreTheSame) {
  const auto size_of = [](std::vector<SettingAxis> axes, Index points) {
    const FineGrid grid = SettingSpace(std::move(axes)).fine_grid(points);
    EXPECT_EQ(std::set<SettingValues>(grid.points.begin(), grid.points.end()).size(), grid.points.size());
    EXPECT_TRUE(grid.finest);
    return grid.points.size();
  };
  const SettingAxis alpha = parse_axis("x", "alpha=1:1.9");
  EXPECT_EQ(size_of({alpha}, 120), 91U) << "1.00, 1.01 .. 1.90";
  EXPECT_EQ(size_of({alpha}, 1'000'000), 91U);
  EXPECT_EQ(size_of({parse_axis("x", "method=a|b|c")}, 100), 3U);
  EXPECT_EQ(size_of({alpha, parse_axis("x", "beta=1:1.1")}, 20'000), 91U * 101);
  // On a logarithmic scale the first digits of a decade are the first to be the same.
  EXPECT_GT(size_of({parse_axis("x", "rho=1:10:log")}, 1000), 200U);
  EXPECT_FALSE(SettingSpace({alpha}).fine_grid(91).finest) << "as many as were asked for";
}

TEST(SettingSpace, AGridThatIsTooLargeIsRefusedBeforeItIsMade) {
  std::vector<SettingAxis> axes;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"})
    axes.push_back(parse_axis("x", std::string(name) + "=1:2:linear:1000"));
  EXPECT_INPUT_ERROR((SettingSpace(axes).coarse_grid()), "the grid has more than 1000000 points");
}

TEST(SettingSpace, AGridCanBeStopped) {
  const Interrupt before = host().check;
  host().check = [] { throw Interrupted(); };
  const SettingSpace space({parse_axis("x", "rho=1e-3:1e3:log")});
  EXPECT_THROW((void)space.fine_grid(1'000'000), Interrupted);
  host().check = before;
}

TEST(SettingSpace, NeighboursDifferInOneSettingAndStayInside) {
  const SettingSpace space = rho_and_rule();
  const SettingValues corner = space.coarse_grid().front();
  const std::vector<SettingValues> near = space.neighbours(corner, 1);
  ASSERT_EQ(near.size(), 3U);  // up, the other rule, the other interval
  EXPECT_NEAR(near[0][0], 0.01 * 3.16, 1e-12);
  for (const SettingValues& each : near) EXPECT_EQ(each, space.canonical(each));
  EXPECT_NEAR(space.neighbours(corner, 2)[0][0], 0.0178, 1e-12);
}

TEST(SettingSpace, TextsComeBack) {
  const SettingSpace space = rho_and_rule();
  for (const SettingValues& each : space.coarse_grid())
    EXPECT_EQ(space.candidate_of("x", space.texts(each)), each);
  EXPECT_INPUT_ERROR((space.candidate_of("x", {{"rho", "1000"}})), "rho = '1000'");
  EXPECT_INPUT_ERROR((space.candidate_of("x", {{"rule", "on"}})), "there is no value of rho");
  EXPECT_INPUT_ERROR((space.candidate_of("x", {{"rho", "1"}, {"rule", "maybe"}})),
                     "'maybe' is not one of on, off");
  EXPECT_INPUT_ERROR((space.candidate_of("x", {{"rho", "1"}, {"sigma", "1"}})), "'sigma' is not a setting");
  EXPECT_EQ(parse_setting_texts("x", "rho=0.1,rule=off"), (SettingTexts{{"rho", "0.1"}, {"rule", "off"}}));
  EXPECT_INPUT_ERROR((parse_setting_texts("x", "rho")), "is not NAME=VALUE");
}

TEST(SettingSpace, AConditionMustBeSearched) {
  EXPECT_INPUT_ERROR(
      (SettingSpace({{"interval", SettingAxis::Kind::choices, 0, 0, {"1"}, 1, {"rule", "on"}}})),
      "only with rule, which is not searched");
  EXPECT_INPUT_ERROR((SettingSpace(std::vector<SettingAxis>{})), "no settings to search");
}

}  // namespace
}  // namespace surefoot::experiments
