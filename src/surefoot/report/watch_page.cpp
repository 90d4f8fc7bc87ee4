#include "surefoot/report/watch_page.hpp"

#include "surefoot/core/number_text.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/monitoring/words.hpp"
#include "surefoot/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace surefoot::report {
namespace {

using monitoring::Watch;

constexpr const char* evidence_file = "evidence.csv";
constexpr double least_shown = 1e-3;
constexpr double most_above = 1e4;

/// The largest evidence of each stretch of solves, at its last solve.
std::vector<Curve::Point> course_of(const Watch& watch) {
  std::vector<Curve::Point> points;
  const std::vector<double>& largest = watch.history().largest();
  for (std::size_t i = 0; i < largest.size(); ++i) {
    const Index last = std::min(static_cast<Index>(i + 1) * watch.history().width(), watch.solves());
    points.push_back({static_cast<double>(last), largest[i]});
  }
  return points;
}

Figure evidence_figure(const Watch& watch) {
  Figure figure;
  figure.name = "evidence";
  figure.title = "Evidence over time, the largest of every " + count_label(watch.history().width()) +
                 (watch.history().width() == 1 ? " solve" : " solves");
  const double solves = std::max(1.0, static_cast<double>(watch.solves()));
  figure.x = {"solve", false, false, 0, solves};
  double high = watch.threshold();
  for (const double value : watch.history().largest()) high = std::max(high, value);
  high = std::min(high, most_above * watch.threshold());  // one failure against a rate of 0 is beyond all
  figure.y = {"evidence", true, false, least_shown, std::pow(10, std::ceil(std::log10(high)) + 1)};
  Panel panel;
  panel.curves.push_back({"threshold", 1, 0, {{0, watch.threshold()}, {solves, watch.threshold()}}, false});
  panel.curves.push_back({"evidence", 0, 1, course_of(watch), false});
  figure.panels.push_back(std::move(panel));
  return figure;
}

TextTable claims_table(const Watch& watch) {
  TextTable table{
      {{"claim", Align::left}, {"certified failure rate"}, {"failed"}, {"of"}, {"observed"}, {"evidence"}},
      {}};
  for (std::size_t c = 0; c < watch.options().claims.size(); ++c) {
    const monitoring::WatchedClaim& claim = watch.options().claims[c];
    const double observed =
        watch.solves() > 0 ? static_cast<double>(watch.failures(c)) / static_cast<double>(watch.solves()) : 0;
    table.add_row({claim.text, monitoring::rate_words(claim.rate.rate), count_label(watch.failures(c)),
                   count_label(watch.solves()), observed_percent(observed),
                   observed_value(watch.claim_evidence(c))});
  }
  return table;
}

std::string alarms_html(const Watch& watch) {
  if (watch.latest_alarms().empty()) return html_paragraph("No alarm.");
  std::vector<std::string> lines;
  for (const monitoring::Alarm& alarm : watch.latest_alarms())
    lines.push_back(monitoring::alarm_text(watch, alarm));
  const auto shown = static_cast<Index>(lines.size());
  return html_list(lines) +
         (watch.alarms() > shown
              ? html_paragraph(fmt::format("The latest {} of {}.", shown, count_label(watch.alarms())),
                               "note")
              : "");
}

std::string counts_of_lines(const Watch& watch) {
  return fmt::format(
      "{} lines: {} solves, of which {} were no number and count as failed, and {} blank lines.",
      count_label(watch.lines()), count_label(watch.solves()), count_label(watch.unreadable()),
      count_label(watch.gaps()));
}

std::string evidence_csv(const Watch& watch) {
  std::string text = "solve,evidence\n";
  for (const Curve::Point& point : course_of(watch))
    text += fmt::format("{},{}\n", full_precision(point.x), full_precision(point.y));
  return text;
}

}  // namespace

Report watch_report(const Watch& watch, const PlotOptions& options) {
  Report report;
  const PageFigure figure = static_figure(evidence_figure(watch), options);
  add_notice(report, figure.notice);
  Page page;
  page.title = "Monitor";
  page.subtitle = fmt::format("{} solves against the certificate {}: {}", count_label(watch.solves()),
                              watch.options().certificate.substr(0, 12),
                              watch.alarms() == 0 ? "no alarm"
                                                  : fmt::format("{} alarm{}", count_label(watch.alarms()),
                                                                watch.alarms() == 1 ? "" : "s"));
  page.version = std::string(version);
  page.sections.push_back({"alarms", "Alarms", "Alarms", alarms_html(watch)});
  page.sections.push_back({"evidence", "Evidence over time", "Evidence", figures_html({figure})});
  page.sections.push_back({"claims", "What is watched", "Claims",
                           html_scrolling(claims_table(watch), "verdicts", "claims") +
                               html_paragraph(counts_of_lines(watch), "note")});
  page.sections.push_back(
      {"promise", "What an alarm means", "Meaning", html_list(monitoring::promise_of(watch))});
  report.files.push_back({file_names::page, page_html(page)});
  report.files.push_back({evidence_file, evidence_csv(watch)});
  return report;
}

bool is_file_of_watch(const std::filesystem::path& name) {
  return name == file_names::page || name == evidence_file;
}

}  // namespace surefoot::report
