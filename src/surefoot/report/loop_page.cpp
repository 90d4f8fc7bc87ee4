#include "surefoot/report/loop_page.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/report/curves.hpp"
#include "surefoot/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace surefoot::report {
namespace {

using certify::Certificate;

constexpr const char* tube_file = "tube.csv";
constexpr const char* rollouts_file = "rollouts.csv";
constexpr const char* tube_folder = "tube";
constexpr std::array<const char*, 5> loop_folders{"violation", "cost", "failed", "series", tube_folder};

const Certificate* certificate_in(const LoopCertificates& certificates, const std::string& folder) {
  const auto found = std::ranges::find(certificates, folder, &LoopCertificates::value_type::first);
  return found == certificates.end() ? nullptr : &found->second;
}

/// Upper ends of the tube by variant (two per state: the state, and the state times -1) and tick.
std::vector<std::map<Index, double>> ends_of(const Certificate& tube) {
  std::vector<std::map<Index, double>> ends(tube.variants.size());
  for (const certify::QuantileClaim& claim : tube.quantile)
    ends[claim.variant][claim.step] = claim.upper_bound;
  return ends;
}

Figure state_figure(const LoopPicture& picture, const Certificate& tube, std::size_t state) {
  const LoopPicture::State& drawn = picture.states[state];
  const auto ends = ends_of(tube);
  Figure figure;
  figure.name = fmt::format("state_{}", state + 1);
  figure.title = fmt::format("State {}", state + 1);
  const auto ticks = static_cast<double>(picture.ticks);
  figure.x = {"tick", false, false, 0, ticks};
  Panel panel;
  double low = infinity;
  double high = -infinity;
  const auto see = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const std::vector<double>& course : drawn.rollouts) {
    Curve curve{panel.curves.empty() ? "rollouts" : "", 5, one_of_many, {}, false};
    for (std::size_t t = 0; t < course.size(); ++t) {
      curve.points.push_back({static_cast<double>(t), course[t]});
      see(course[t]);
    }
    panel.curves.push_back(std::move(curve));
  }
  for (const bool upper : {true, false}) {
    Curve curve{upper ? "tube" : "", 0, 1, {}, false};
    for (const auto& [tick, end] : ends.at(2 * state + (upper ? 0 : 1))) {
      curve.points.push_back({static_cast<double>(tick), upper ? end : -end});
      see(end * (upper ? 1 : -1));
    }
    panel.curves.push_back(std::move(curve));
  }
  if (!(low <= high)) low = -1, high = 1;
  const double reach = std::max(high - low, 1e-9);
  bool named = false;
  for (const double bound : {drawn.lower_bound, drawn.upper_bound}) {
    // A bound far away would leave no room for what there is to see.
    if (!std::isfinite(bound) || bound < low - reach || bound > high + reach) continue;
    panel.curves.push_back({named ? "" : "bounds of the plant", 1, 2, {{0, bound}, {ticks, bound}}, false});
    named = true;
    see(bound);
  }
  const double margin = 0.05 * std::max(high - low, 1e-9);
  figure.y = {fmt::format("state {}", state + 1), false, false, low - margin, high + margin};
  figure.panels.push_back(std::move(panel));
  return figure;
}

/// Certified shares of rollouts by limit, a curve for each tolerance.
Figure share_figure(const Certificate& certificate, const std::string& name, const std::string& title) {
  Figure figure;
  figure.name = name;
  figure.title = title;
  figure.styles = {"observed", "certified"};
  const double first = static_cast<double>(certificate.steps.front());
  const double last = static_cast<double>(certificate.steps.back());
  figure.x = {"limit of iterations of a tick", last > 8 * first, false, 0.9 * first, 1.1 * last};
  figure.y = {"rollouts", false, true, 0, 1.02};
  figure.things = "rollouts";
  Panel panel;
  for (std::size_t t = 0; t < certificate.tolerances.size(); ++t) {
    const double tolerance = certificate.tolerances[t];
    Curve observed{"", t % figure_hues, 0, {}, false};
    // Nothing is claimed of limits between those that were run.
    Curve certified{"below " + exact_label(tolerance), t % figure_hues, 1, {}, true};
    for (const certify::SuccessClaim& claim : certificate.success) {
      if (claim.tolerance != tolerance) continue;
      observed.points.push_back({static_cast<double>(claim.step), claim.empirical});
      certified.points.push_back({static_cast<double>(claim.step), claim.lower_bound});
    }
    panel.curves.push_back(std::move(observed));
    panel.curves.push_back(std::move(certified));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

TextTable limits_table(const LoopPicture& picture) {
  TextTable table{{{"limit"},
                   {"iterations of a tick"},
                   {"failed ticks"},
                   {"lost rollouts"},
                   {"average", Align::right, "excess of the cost"},
                   {"median", Align::right, "excess of the cost"},
                   {percent_label(LoopPicture::high_share), Align::right, "excess of the cost"}},
                  {}};
  const auto shown = [](double excess) { return std::isfinite(excess) ? observed_value(excess) : "-"; };
  for (const LoopPicture::Limit& limit : picture.limits)
    table.add_row({count_label(limit.limit), observed_value(limit.iterations), observed_percent(limit.failed),
                   count_label(limit.lost), shown(limit.excess), shown(limit.median), shown(limit.high)});
  return table;
}

/// What a larger limit buys, as it was observed.
Figure cost_figure(const LoopPicture& picture) {
  Figure figure;
  figure.name = "cost";
  figure.title = "Closed-loop cost over that with exact solves, relative, by the limit: observed";
  const auto first = static_cast<double>(picture.limits.front().limit);
  const auto last = static_cast<double>(picture.limits.back().limit);
  figure.x = {"limit of iterations of a tick", last > 8 * first, false, 0.9 * first, 1.1 * last};
  Panel panel;
  double low = 0;  // a limit may also cost less: exact solves are not the best of all controllers
  double high = 0;
  const auto add = [&](std::string name, std::size_t hue, double LoopPicture::Limit::*excess) {
    Curve curve{std::move(name), hue, 0, {}, false};
    for (const LoopPicture::Limit& limit : picture.limits) {
      const double value = limit.*excess;
      curve.points.push_back({static_cast<double>(limit.limit), value});
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    panel.curves.push_back(std::move(curve));
  };
  add("average", 0, &LoopPicture::Limit::excess);
  add("median of rollouts", 2, &LoopPicture::Limit::median);
  add(percent_label(LoopPicture::high_share) + " of rollouts", 1, &LoopPicture::Limit::high);
  if (low == high) return figure;  // nobody knows, or all cost the same
  const double margin = 0.05 * (high - low);
  figure.y = {"excess of the cost", false, false, low - margin, high + margin};
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::string tube_words(const LoopPicture& picture, const Certificate& tube) {
  const std::string share = percent_label(picture.tube_share);
  const bool none = std::ranges::none_of(
      tube.quantile, [](const certify::QuantileClaim& claim) { return std::isfinite(claim.upper_bound); });
  const std::string drawn = fmt::format(" {} of the rollouts are drawn.",
                                        picture.states.empty() ? 0 : picture.states.front().rollouts.size());
  if (none)
    return fmt::format(
        "With a limit of {} iterations a tick. There is no tube of {} of the rollouts: so many claims at once need "
        "more rollouts than {}, or too many of them were lost.{}",
        count_label(picture.tube_limit), share, count_label(picture.rollouts), drawn);
  return fmt::format(
      "With a limit of {} iterations a tick. At every tick, and for each state by itself, at least {} of new rollouts "
      "are at or below the upper end of the tube, and at least as many at or above the lower end: all ends together "
      "with confidence {}. It does not say that so many rollouts are within the tube at all ticks.{}",
      count_label(picture.tube_limit), share, confidence_label(tube.delta), drawn);
}

std::string tube_csv(const Certificate& tube) {
  std::string text = "state,tick,lower,upper\n";
  const auto ends = ends_of(tube);
  for (std::size_t state = 0; 2 * state + 1 < ends.size(); ++state) {
    for (const auto& [tick, upper] : ends[2 * state])
      text += fmt::format("{},{},{},{}\n", state + 1, tick, full_precision(-ends[2 * state + 1].at(tick)),
                          full_precision(upper));
  }
  return text;
}

std::string links(const LoopCertificates& certificates) {
  std::string html = "<p class=\"note\">Certificates:";
  for (const auto& [folder, certificate] : certificates)
    html += fmt::format(" <a href=\"{0}/{1}\">{0}</a>", folder,
                        folder == tube_folder ? file_names::certificate : file_names::page);
  return html + "</p>";
}

}  // namespace

TextTable smallest_limits(const LoopCertificates& certificates) {
  TextTable table{{{"what is below", Align::left}, {"tolerance"}}, {}};
  std::vector<double> shares;
  for (const auto& [folder, certificate] : certificates)
    if (!certificate.budget.empty()) shares = certificate.quantiles;
  for (const double share : shares) table.columns.push_back({percent_label(share) + " of rollouts"});
  for (const auto& [folder, certificate] : certificates) {
    std::map<double, std::vector<std::string>> rows;
    for (const certify::BudgetClaim& claim : certificate.budget)
      rows[claim.tolerance].push_back(claim.steps ? count_label(*claim.steps) : "-");
    for (const auto& [tolerance, limits] : rows) {
      std::vector<std::string> cells{certificate.metric, exact_label(tolerance)};
      cells.insert(cells.end(), limits.begin(), limits.end());
      table.add_row(std::move(cells));
    }
  }
  return table;
}

Report loop_report(const LoopPicture& picture, const LoopCertificates& certificates,
                   const PlotOptions& options) {
  Report report;
  std::vector<std::string> sentences;
  std::vector<std::string> all_sentences;
  for (const auto& [folder, certificate] : certificates) {
    report.files.push_back({folder + '/' + file_names::certificate, certify::to_json(certificate)});
    if (folder == tube_folder) {
      report.files.push_back({folder + '/' + file_names::curves, curves_csv(certificate)});
      continue;
    }
    Report own = make_report(certificate, options);
    for (ReportFile& file : own.files)
      report.files.push_back({folder + '/' + file.name, std::move(file.content)});
    for (const std::string& notice : own.notices) add_notice(report, notice);
    sentences.push_back(certify::summary_sentence(certificate));
    for (const std::string& sentence : certify::statements_of(certificate)) all_sentences.push_back(sentence);
  }
  Page page;
  page.title = "Closed loop";
  page.subtitle =
      fmt::format("{}: {} rollouts of {} ticks, {} start", picture.family.empty() ? "files" : picture.family,
                  count_label(picture.rollouts), count_label(picture.ticks), picture.start);
  page.version = std::string(version);
  page.sections.push_back(
      {"claims", "What is certified", "Claims",
       html_list(sentences) +
           html_paragraph(
               fmt::format(
                   "A rollout is one sample, its ticks are not. Every certificate has its part of the confidence: all "
                   "of them hold together with confidence {}.",
                   confidence_label(picture.delta)),
               "note") +
           html_folded("All sentences", html_list(all_sentences)) + links(certificates)});
  std::vector<PageFigure> figures;
  const auto draw = [&](const Figure& figure) {
    PageFigure drawn = static_figure(figure, options);
    add_notice(report, drawn.notice);
    figures.push_back(std::move(drawn));
  };
  if (const Certificate* tube = certificate_in(certificates, tube_folder)) {
    for (std::size_t state = 0; state < picture.states.size(); ++state)
      draw(state_figure(picture, *tube, state));
    page.sections.push_back({"tube", "Trajectories and tube", "Tube",
                             html_paragraph(tube_words(picture, *tube)) + figures_html(figures)});
    report.files.push_back({tube_file, tube_csv(*tube)});
  }
  figures.clear();
  if (const Figure cost = cost_figure(picture); has_curves(cost)) draw(cost);
  if (const Certificate* cost = certificate_in(certificates, "cost"))
    draw(share_figure(
        *cost, "excess_cost",
        "Share of rollouts whose excess over the cost with exact solves is below the tolerance"));
  if (const Certificate* violation = certificate_in(certificates, "violation"))
    draw(share_figure(*violation, "violation",
                      "Share of rollouts whose violation of the plant's bounds is below the tolerance"));
  page.sections.push_back(
      {"budget", "Iterations against cost", "Budget",
       figures_html(figures) + html_scrolling(limits_table(picture), "verdicts", "limits") +
           html_paragraph(
               "Iterations and failed ticks are averages over rollouts and ticks, as they were observed; a tick has "
               "failed where OSQP's stopping test is not passed within the limit, and a rollout is lost where a number "
               "overflows. The excess is relative: 0.01 is "
               "1 % more than with exact solves; \"-\": some rollouts have none. Points are certified, lines observed; nothing is "
               "certified between the limits that were run.",
               "note")});
  page.sections.push_back(
      {"smallest", "The smallest limit with a guarantee", "Smallest limit",
       html_scrolling(smallest_limits(certificates), "verdicts", "smallest limits") +
           html_paragraph(
               "Limits are tested in an order that was declared, from the largest down to the first that "
               "fails, each with the whole confidence of its claim: what passed holds together, and the "
               "choice among them is covered by the confidence level. \"-\": not even the largest.",
               "note")});
  report.files.push_back({file_names::page, page_html(page)});
  return report;
}

bool is_file_of_loop(const std::filesystem::path& name) {
  if (name == file_names::page || name == tube_file || name == rollouts_file) return true;
  const std::string folder = name.begin() == name.end() ? "" : name.begin()->string();
  if (std::ranges::count(loop_folders, folder) == 0) return false;
  return is_file_of_certificate(name.lexically_relative(folder));
}

}  // namespace surefoot::report
