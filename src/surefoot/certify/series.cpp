#include "surefoot/certify/series.hpp"

#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace surefoot::certify {

const Series::Point* Series::at(Index step) const {
  const auto found = std::ranges::lower_bound(points, step, {}, &Point::step);
  return found == points.end() || found->step != step ? nullptr : &*found;
}

TextTable step_table(const Certificate& certificate, std::vector<Series> all, std::size_t variant,
                     const std::vector<Index>& steps, const SeriesStyle& style) {
  std::set<std::string_view> methods;
  for (const Series& series : all) methods.insert(series.method);
  std::erase_if(all, [variant](const Series& series) { return series.variant != variant; });
  TextTable table;
  table.columns.push_back({std::string(step_name(certificate))});
  add_note(table, note_on_dependence(certificate));
  add_note(table, note_on_worst_case(certificate));
  for (const Series& series : all) {
    const std::string method = methods.size() > 1 ? fmt::format(", {}", series.method) : "";
    add_observed_and_certified(table, style.label(certificate, series) + method);
  }
  for (const Index step : steps) {
    std::vector<std::string> cells{count_label(step)};
    for (const Series& series : all) {
      const Series::Point* point = series.at(step);
      cells.push_back(point == nullptr ? std::string(nothing) : style.observed(point->observed));
      cells.push_back(point == nullptr ? std::string(nothing)
                                       : marked(style.certified(point->certified), point->worst_case));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

TextTable scalar_table(const Certificate& certificate, const std::vector<Series>& all,
                       const SeriesStyle& style) {
  TextTable table;
  table.columns.push_back({"variant", Align::left});
  add_note(table, note_on_dependence(certificate));
  std::map<double, const Series*> parameters;
  std::map<std::pair<std::size_t, double>, const Series::Point*> points;
  for (const Series& series : all) {
    parameters.try_emplace(series.parameter, &series);
    if (!series.points.empty()) points[{series.variant, series.parameter}] = &series.points.front();
  }
  for (const auto& [parameter, series] : parameters)
    add_observed_and_certified(table, style.label(certificate, *series));
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    std::vector<std::string> cells{short_name(certificate, v)};
    for (const auto& [parameter, series] : parameters) {
      const auto point = points.find({v, parameter});
      const bool known = point != points.end();
      cells.push_back(known ? style.observed(point->second->observed) : std::string(nothing));
      cells.push_back(known ? style.certified(point->second->certified) : std::string(nothing));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

void add_observed_and_certified(TextTable& table, const std::string& group) {
  table.columns.push_back({"observed", Align::right, group});
  table.columns.push_back({"certified", Align::right, group});
}

void add_note(TextTable& table, std::string note) {
  if (!note.empty()) table.notes.push_back(std::move(note));
}

std::string marked(const std::string& text, bool worst_case) {
  return worst_case ? text + " (w)" : text;
}

}  // namespace surefoot::certify
