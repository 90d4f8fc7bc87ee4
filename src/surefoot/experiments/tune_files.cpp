#include "surefoot/experiments/tune_files.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace surefoot::experiments {
namespace {

using KeywordJson = nlohmann::ordered_json;

constexpr double picture_width = 900;
constexpr double picture_height = 380;
constexpr double picture_pixels_per_inch = 92;

bool is_number(const std::string& text) {
  double value = 0;
  return io::parse_number(text, value);
}

bool is_truth(const std::string& text) {
  return text == "true" || text == "false";
}

/// All of what decides a run, so that a file does not depend on what is left out.
SettingTexts completed(SettingTexts settings, const std::string& package) {
  const auto has_name = [&](const char* name) {
    return std::ranges::find(settings, name, &SettingTexts::value_type::first) != settings.end();
  };
  if (package == "osqp" && has_name("rho") && !has_name("adaptive_rho"))
    settings.emplace_back("adaptive_rho", "off");
  if (package == "scs" && has_name("scale") && !has_name("adaptive_scale"))
    settings.emplace_back("adaptive_scale", "false");
  return settings;
}

KeywordJson keywords_of(const SettingTexts& settings, const std::string& package) {
  KeywordJson json = KeywordJson::object();
  for (const auto& [name, text] : completed(settings, package)) {
    double value = 0;
    if (name == "adaptive_rho") {
      json[name] = text != "off";
    } else if (is_truth(text)) {
      json[name] = text == "true";
    } else if (io::parse_number(text, value)) {
      const bool whole = (name == "scaling" || name.ends_with("_interval") || name.ends_with("_lookback")) &&
                         value == std::trunc(value) && std::abs(value) <= static_cast<double>(most_counted);
      json[name] = whole ? KeywordJson(whole_number_of(name, value)) : KeywordJson(value);
    } else {
      json[name] = text;
    }
  }
  return json;
}

std::string python_value(const KeywordJson& value) {
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.dump();
}

std::size_t first_range(const SettingSpace& space) {
  const auto found =
      std::ranges::find_if(space.axes(), [](const SettingAxis& axis) { return axis.is_range(); });
  return found == space.axes().end() ? space.axes().size()
                                     : static_cast<std::size_t>(found - space.axes().begin());
}

}  // namespace

bool is_file_of_tuning(const std::filesystem::path& name) {
  constexpr std::array names{tune_names::settings,     tune_names::keywords, tune_names::snippet,
                             tune_names::search,       tune_names::paired,   tune_names::default_traces,
                             tune_names::tuned_traces, "search.svg",         "search.pdf"};
  return std::ranges::any_of(names, [&](const char* each) { return name == each; }) ||
         report::is_file_of_certificate(name);
}

std::string settings_toml(const SettingTexts& settings, const std::string& solver, Index iterations,
                          const problems::Cones* cones) {
  const bool cone = cones != nullptr;
  std::string text = fmt::format(
      "# Settings of {}, found by surefoot tune {}: surefoot run {} FOLDER --settings {}\npreset = \"default\"\n"
      "iterations = {}\n",
      solver, cone ? "cone" : "qp", cone ? "cone" : "qp", tune_names::settings, iterations);
  for (const auto& [name, value] : completed(settings, cone ? "scs" : "osqp")) {
    text += fmt::format("{} = {}\n", name, is_number(value) || is_truth(value) ? value : "\"" + value + "\"");
    if (name == "adaptive_scale" && value == "false") text += "adaptive_diag_scale = false\n";
  }
  if (!cone) return text;
  text += fmt::format("\n[cones]\nzero = {}\nnonnegative = {}\n", cones->zero, cones->nonnegative);
  if (!cones->second_order.empty())
    text += fmt::format("second_order = [{}]\n", fmt::join(cones->second_order, ", "));
  if (!cones->semidefinite.empty())
    text += fmt::format("semidefinite = [{}]\n", fmt::join(cones->semidefinite, ", "));
  if (cones->exponential > 0) text += fmt::format("exponential = {}\n", cones->exponential);
  if (cones->dual_exponential > 0) text += fmt::format("dual_exponential = {}\n", cones->dual_exponential);
  if (!cones->power.empty()) text += fmt::format("power = [{}]\n", fmt::join(cones->power, ", "));
  return text;
}

std::string settings_keywords(const SettingTexts& settings, const std::string& package) {
  return io::json_dump(keywords_of(settings, package)) + "\n";
}

std::string settings_snippet(const SettingTexts& settings, const std::string& package,
                             const std::string& what) {
  std::string text = fmt::format("\"\"\"{}\"\"\"\nimport {}\n\nsettings = {{\n", what, package);
  const KeywordJson keywords = keywords_of(settings, package);
  for (const auto& [name, value] : keywords.items())
    text += fmt::format("    \"{}\": {},\n", name, python_value(value));
  text += "}\n\n\n";
  if (package == "osqp") {
    text +=
        "def solver(P, q, A, l, u, **others):\n    \"\"\"A solver of this problem with the tuned settings.\"\"\"\n"
        "    made = osqp.OSQP()\n    made.setup(P, q, A, l, u, **{**settings, **others})\n    return made\n";
  } else {
    text +=
        "def solver(data, cone, **others):\n    \"\"\"A solver of this problem with the tuned settings.\"\"\"\n"
        "    return scs.SCS(data, cone, **{**settings, **others})\n";
  }
  return text;
}

std::string search_script(const Tunable& subject, const TuneOptions& options, const TuneResult& result,
                          report::ImageFormat format) {
  const SettingSpace& space = subject.space();
  const std::size_t axis = first_range(space);
  const double never = 2 * static_cast<double>(subject.iterations());
  std::string early;
  std::string late;
  double highest = 1;
  double lowest = never;
  for (const Racer& racer : result.race.racers) {
    if (racer.times.empty() || racer.candidate.empty() || axis == space.axes().size()) continue;
    const bool whole = static_cast<Index>(racer.times.size()) == result.split.search.count;
    const double score = std::max(racer.score, 1e-3);
    highest = std::max(highest, score);
    lowest = std::min(lowest, score);
    (whole ? late : early) += fmt::format("{} {}\n", racer.candidate[axis], score);
  }
  const std::string none = "1 NaN 0\n";
  std::string of_grid;
  std::string near;
  Index runs = 0;
  for (const Rung& rung : result.race.rungs) {
    runs += rung.runs;
    (rung.near ? near : of_grid) += fmt::format("{} {} {}\n", runs, rung.score, rung.candidates);
  }
  const auto line = [&](const std::optional<Index>& steps, const char* colour, const std::string& name) {
    const std::string title =
        name.empty() ? "notitle" : fmt::format("title '{} {}'", name, steps.value_or(0));
    return steps ? fmt::format(", {} with lines lw 1.8 dt (6,4) lc rgb '{}' {}", *steps, colour, title) : "";
  };
  const bool svg = format == report::ImageFormat::svg;
  std::string script =
      svg ? fmt::format("set terminal svg size {},{} dynamic enhanced font 'Arial,13' linewidth 1\n",
                        picture_width, picture_height)
          : fmt::format("set terminal pdfcairo size {},{} enhanced color font 'Helvetica,11' linewidth 1\n",
                        picture_width / picture_pixels_per_inch, picture_height / picture_pixels_per_inch);
  script +=
      fmt::format("$early << END\n{}END\n$late << END\n{}END\n$grid << END\n{}END\n$near << END\n{}END\n",
                  early.empty() ? none : early, late.empty() ? none : late, of_grid.empty() ? none : of_grid,
                  near.empty() ? none : near);
  script += fmt::format(
      "set border 3\nset tics nomirror out scale 0.6\nset grid ytics lc rgb '#DDDDDD' lw 0.6\n"
      "set key below left horizontal Left reverse samplen 2 width {} spacing 1.15 maxrows 2 noenhanced\n"
      "set xlabel offset 0,{}\nset multiplot layout 1,2\n",
      svg ? -3 : 1, svg ? 0.7 : 0.4);
  script += fmt::format(
      "set logscale y\nset yrange [{}:{}]\nset ylabel {} noenhanced\n", std::max(lowest * 0.7, 0.5),
      highest * 1.4,
      report::gnuplot_quoted(fmt::format("iterations, {} below {}", percent_label(*options.claim().share),
                                         exact_label(options.claim().value))));
  if (axis < space.axes().size()) {
    const SettingAxis& shown = space.axes()[axis];
    if (shown.kind == SettingAxis::Kind::logarithmic) script += "set logscale x\nset format x '10^{%T}'\n";
    script += fmt::format("set xrange [{}:{}]\nset xlabel {} noenhanced\n", shown.low, shown.high,
                          report::gnuplot_quoted(shown.name));
  }
  script += "set title 'every setting that was tried' noenhanced\n";
  script += fmt::format(
      "plot $early using 1:2 with points pt 6 ps 0.35 lc rgb '#777777' title 'dropped early', "
      "$late using 1:2 with points pt 7 ps 0.5 lc rgb '#0072B2' title 'on all {} problems'{}{}\n",
      result.split.search.count, line(result.before, "#D55E00", "default, certified"),
      line(result.after, "#009E73", "tuned, certified"));
  // About four tics, of a round number.
  const double rough = std::max(static_cast<double>(runs), 1.0) / 4;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  const double tic = decade * std::max(std::round(rough / decade), 1.0);
  script += fmt::format(
      "unset logscale x\nset format x '%g'\nset xrange [0:{}]\nset xtics {}\nset xlabel 'runs made' "
      "noenhanced\nunset ylabel\nunset logscale y\nset yrange [0:*]\n"
      "set title 'the race: the best of each rung' noenhanced\n",
      std::max<Index>(runs, 1), tic);
  script +=
      "plot $grid using 1:2 with linespoints pt 7 ps 0.6 lw 1.8 lc rgb '#0072B2' title 'of the grid (settings)', "
      "$near using 1:2 with linespoints pt 7 ps 0.4 lw 1.4 lc rgb '#56B4E9' title 'near the best', "
      "$grid using 1:2:3 with labels offset 0,0.9 font ',9' notitle" +
      line(result.before, "#D55E00", "") + line(result.after, "#009E73", "") + "\nunset multiplot\n";
  return script;
}

std::string search_caption(const Tunable& subject, const TuneResult& result) {
  const std::size_t axis = first_range(subject.space());
  return fmt::format(
      "The search. Left: every setting that was tried, by {}; a point is the smoothed quantile of its iterations on "
      "the problems it ran on, where a problem that is never solved counts as {}. Right: the best of each rung, on the "
      "problems of the rung, by the runs made so far; numbers are the settings that were left. Dashed: what is "
      "certified, on {} other problems.",
      axis < subject.space().axes().size() ? subject.space().axes()[axis].name : "place",
      count_label(2 * subject.iterations()), count_label(result.split.certified.count));
}

}  // namespace surefoot::experiments
