#include "surefoot/report/comparison.hpp"

#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/chart_data.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/page.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace surefoot::report {
namespace {

using certify::Certificate;
using certify::Comparison;
using certify::VariantComparison;
using certify::Verdict;

constexpr std::size_t compared_rows_in_sight = 9;
constexpr std::size_t compared_page_width = 100;

std::string lower_value(const Certificate& certificate, double value) {
  return value > -infinity ? with_unit(certificate, lower_bound_value(value)) : std::string(nothing);
}

std::string upper_value(const Certificate& certificate, double value) {
  return value < infinity ? with_unit(certificate, upper_bound_value(value)) : std::string(nothing);
}

std::string steps_text(const std::optional<Index>& steps) {
  return steps ? count_label(*steps) : std::string(nothing);
}

/// What both are called: their names, with the files where the names are the same.
struct SideNames {
  std::string a;
  std::string b;

  [[nodiscard]] const std::string& better(Verdict verdict) const {
    return verdict == Verdict::a_is_better ? a : b;
  }
  [[nodiscard]] const std::string& other(Verdict verdict) const {
    return verdict == Verdict::a_is_better ? b : a;
  }
};

SideNames names_of(const Compared& a, const Compared& b, const VariantComparison& pair) {
  SideNames names{a.certificate.variants[pair.a].name, b.certificate.variants[pair.b].name};
  if (names.a != names.b) return names;
  const bool files = a.source != b.source;
  names.a = fmt::format("{} ({})", names.a, files ? printable(a.source) : "first");
  names.b = fmt::format("{} ({})", names.b, files ? printable(b.source) : "second");
  return names;
}

std::string verdict_cell(const SideNames& names, Verdict verdict) {
  return verdict == Verdict::not_shown ? std::string(nothing) : names.better(verdict);
}

/// Keys, the two ends of both, and who is better.
TextTable ranges_table(std::vector<Column> keys, const char* low, const char* high, const SideNames& names) {
  TextTable table;
  table.columns = std::move(keys);
  table.key_columns = table.columns.size();
  for (const std::string& side : {names.a, names.b}) {
    table.columns.push_back({low, Align::right, side});
    table.columns.push_back({high, Align::right, side});
  }
  table.columns.push_back({"better", Align::left});
  return table;
}

bool is_wanted(const std::vector<Index>& steps, Index step) {
  return steps.empty() || std::ranges::count(steps, step) > 0;
}

struct VerdictCount {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t open = 0;
};

VerdictCount count_verdicts(const auto& cells) {
  VerdictCount tally;
  for (const auto& cell : cells) {
    if (cell.verdict == Verdict::a_is_better) ++tally.a;
    if (cell.verdict == Verdict::b_is_better) ++tally.b;
    if (cell.verdict == Verdict::not_shown) ++tally.open;
  }
  return tally;
}

std::string tally_sentence(std::string_view what, const SideNames& names, const VerdictCount& tally) {
  return fmt::format("{}: {} is provably better in {} of {} cells, {} in {}; {} are not decided.", what,
                     names.a, tally.a, tally.a + tally.b + tally.open, names.b, tally.b, tally.open);
}

std::string exact_tolerance(const Certificate& certificate, double tolerance) {
  return with_unit(certificate, exact_label(tolerance));
}

std::vector<Index> steps_of(const VariantComparison& pair) {
  std::vector<Index> steps;
  for (const auto& cell : pair.success) steps.push_back(cell.step);
  for (const auto& cell : pair.quantile) steps.push_back(cell.step);
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// Steps in sight in tables: evenly among those compared.
std::vector<Index> steps_in_sight(const VariantComparison& pair) {
  const std::vector<Index> steps = steps_of(pair);
  if (steps.size() <= compared_rows_in_sight) return steps;
  std::vector<Index> chosen;
  for (std::size_t i = 0; i < compared_rows_in_sight; ++i)
    chosen.push_back(steps[i * (steps.size() - 1) / (compared_rows_in_sight - 1)]);
  return chosen;
}

using SuccessCells = std::span<const certify::SuccessComparison* const>;

/// "warm has more problems below 1e-3 than cold at each compared iteration from 12 to 71: ...", of cells with
/// one verdict; numbers are those of the widest margin.
std::string success_sentence(const Certificate& certificate, const SideNames& names, SuccessCells cells) {
  const auto margin = [](const certify::SuccessComparison* cell) {
    return std::max(cell->a.low - cell->b.high, cell->b.low - cell->a.high);
  };
  const certify::SuccessComparison& widest = **std::ranges::max_element(cells, {}, margin);
  const bool a_wins = widest.verdict == Verdict::a_is_better;
  const certify::Range& better = a_wins ? widest.a : widest.b;
  const certify::Range& worse = a_wins ? widest.b : widest.a;
  const std::string first = count_label(cells.front()->step);
  const std::string_view step = step_name(certificate);
  const std::string when = cells.size() == 1 ? fmt::format("at {} {}", step, first)
                                             : fmt::format("at each compared {} from {} to {}", step, first,
                                                           count_label(cells.back()->step));
  return fmt::format("{} has more {} below {} than {} {}: at least {} against at most {} {} {}",
                     names.better(widest.verdict), things(certificate),
                     exact_tolerance(certificate, widest.tolerance), names.other(widest.verdict), when,
                     lower_bound_percent(better.low), upper_bound_percent(worse.high),
                     certificate.loop ? "at" : "after", count_label(widest.step));
}

/// One by one: those at the given steps, or the first if there is none.
void add_single_sentences(std::vector<std::string>& sentences, const Certificate& certificate,
                          const SideNames& names, SuccessCells cells, const std::vector<Index>& steps) {
  const std::size_t before = sentences.size();
  for (const certify::SuccessComparison* const& cell : cells) {
    if (is_wanted(steps, cell->step)) sentences.push_back(success_sentence(certificate, names, {&cell, 1}));
  }
  if (sentences.size() == before) sentences.push_back(success_sentence(certificate, names, cells.first(1)));
}

void add_success_sentences(std::vector<std::string>& sentences, const Certificate& certificate,
                           const SideNames& names, const VariantComparison& pair, bool together) {
  const std::vector<Index> in_sight = steps_in_sight(pair);
  std::map<double, std::vector<const certify::SuccessComparison*>> by_tolerance;
  for (const auto& cell : pair.success) by_tolerance[cell.tolerance].push_back(&cell);
  for (const auto& [tolerance, cells] : by_tolerance) {
    for (std::size_t i = 0; i < cells.size();) {
      std::size_t end = i + 1;
      while (end < cells.size() && cells[end]->verdict == cells[i]->verdict) ++end;
      const SuccessCells run = SuccessCells(cells).subspan(i, end - i);
      i = end;
      if (run.front()->verdict == Verdict::not_shown) continue;
      if (together) {
        sentences.push_back(success_sentence(certificate, names, run));
      } else {
        add_single_sentences(sentences, certificate, names, run, in_sight);
      }
    }
  }
}

void add_budget_sentences(std::vector<std::string>& sentences, const Certificate& certificate,
                          const SideNames& names, const VariantComparison& pair, const std::string& lasting) {
  for (const auto& cell : pair.budget) {
    if (cell.verdict == Verdict::not_shown) continue;
    const bool a_wins = cell.verdict == Verdict::a_is_better;
    const certify::StepRange& better = a_wins ? cell.a : cell.b;
    const certify::StepRange& worse = a_wins ? cell.b : cell.a;
    sentences.push_back(fmt::format(
        "{} needs {} than {} {} {} of {} are below {}{}: at most {} against more than {}",
        names.better(cell.verdict), certificate.loop ? "a smaller limit" : "fewer iterations",
        names.other(cell.verdict), certificate.loop ? "with which" : "until", percent_label(cell.quantile),
        things(certificate), exact_tolerance(certificate, cell.tolerance), lasting,
        steps_text(better.at_most), steps_text(worse.more_than)));
  }
}

/// " and stay below it (up to iteration 400)": how long the compared budgets last. `stay`: the verb as it
/// fits.
std::string compared_lasting(const Compared& a, const Compared& b, const VariantComparison& pair,
                             std::string_view stay) {
  if (pair.budget.empty()) return "";
  const certify::Variant& of_a = a.certificate.variants[pair.a];
  const certify::Variant& of_b = b.certificate.variants[pair.b];
  const std::string horizon =
      of_a.last_step == of_b.last_step
          ? horizon_words(a.certificate, of_a.last_step)
          : fmt::format("{}: up to iteration {}, {}: up to {}", names_of(a, b, pair).a,
                        count_label(of_a.last_step), names_of(a, b, pair).b, count_label(of_b.last_step));
  switch (pair.budget.front().method) {
    case bounds::BudgetMethod::settling:
      if (of_a.columns <= 1 && of_b.columns <= 1) return "";
      return fmt::format(" and {} {}", stay, certify::staying(has_gaps(of_a) || has_gaps(of_b), horizon));
    case bounds::BudgetMethod::every_step:
      return lasting_every_step(a.certificate, horizon);
    case bounds::BudgetMethod::first_hit:
      return " at least once";
    case bounds::BudgetMethod::paper:
      break;
  }
  return "";
}

/// A verdict rests on what either certificate rests on.
std::string conditioned_by(const Compared& a, const Compared& b, const std::string& sentence) {
  const std::string by_a = conditioned(a.certificate, sentence);
  return by_a == sentence ? conditioned(b.certificate, sentence) : by_a;
}

std::string opening_of(const Compared& a, const Compared& b, const Comparison& comparison) {
  const std::string confidence = confidence_label(comparison.delta);
  return conditioned_by(
      a, b,
      comparison.together ? fmt::format("With confidence {}, all of these hold together:", confidence)
                          : fmt::format("Each of these, taken alone and had it been chosen in advance, holds "
                                        "with confidence {}:",
                                        confidence));
}

std::string confidence_words(const Comparison& comparison) {
  std::string text = confidence_label(comparison.delta) + ": ";
  text +=
      comparison.delta_b > 0
          ? fmt::format("the first certificate may be wrong with probability {}, the second with {}",
                        exact_label(comparison.delta_a), exact_label(comparison.delta_b))
          : fmt::format("the certificate may be wrong with probability {}", exact_label(comparison.delta_a));
  return text +
         fmt::format(
             ", and the {} bounds from the other side, which neither certificate's confidence covers, with {} "
             "together ({} each).",
             count_label(comparison.opposite_bounds), exact_label(comparison.delta_opposite),
             upper_bound_value(comparison.delta_each));
}

constexpr const char* about_same_family =
    "\"Better\" is about new problems of each certificate's own distribution, from samples that are "
    "independent and identically distributed. That both are about the same problems is for the reader to "
    "know; no certificate can show it.";
constexpr const char* about_not_shown =
    "\"-\" under \"better\" is not a tie: these samples do not decide it.";

std::string side_line(const std::string& side, const Compared& compared, std::size_t variant) {
  const certify::Variant& of = compared.certificate.variants[variant];
  return fmt::format("{}: {} ({} {}, confidence {})", side, compared.source, count_label(of.samples),
                     things(compared.certificate), confidence_label(compared.certificate.delta));
}

std::string pair_title(const Compared& a, const Compared& b, const VariantComparison& pair) {
  const std::string& of_a = a.certificate.variants[pair.a].name;
  const std::string& of_b = b.certificate.variants[pair.b].name;
  return of_a == of_b ? of_a : fmt::format("{} and {}", of_a, of_b);
}

/// Both variants of a pair in one certificate, for figures only.
Certificate side_by_side(const Compared& a, const Compared& b, const VariantComparison& pair) {
  Certificate both = a.certificate;
  both.variants.clear();
  both.success.clear();
  both.quantile.clear();
  both.budget.clear();
  const auto add = [&](const Certificate& from, std::size_t variant, const std::string& side) {
    const std::size_t place = both.variants.size();
    both.variants.push_back(from.variants[variant]);
    both.variants.back().name = side;
    for (certify::SuccessClaim claim : from.success) {
      if (claim.variant != variant || std::ranges::count(both.tolerances, claim.tolerance) == 0) continue;
      claim.variant = place;
      both.success.push_back(claim);
    }
    for (certify::QuantileClaim claim : from.quantile) {
      if (claim.variant != variant || std::ranges::count(both.quantiles, claim.quantile) == 0) continue;
      claim.variant = place;
      both.quantile.push_back(claim);
    }
  };
  std::erase_if(both.tolerances,
                [&](double t) { return std::ranges::count(b.certificate.tolerances, t) == 0; });
  std::erase_if(both.quantiles,
                [&](double q) { return std::ranges::count(b.certificate.quantiles, q) == 0; });
  both.steps.insert(both.steps.end(), b.certificate.steps.begin(), b.certificate.steps.end());
  std::ranges::sort(both.steps);
  both.steps.erase(std::unique(both.steps.begin(), both.steps.end()), both.steps.end());
  const SideNames names = names_of(a, b, pair);
  add(a.certificate, pair.a, names.a);
  add(b.certificate, pair.b, names.b);
  return both;
}

std::string compared_tables_html(const TextTable& in_sight, const TextTable& all, std::string_view label) {
  if (all.rows.empty()) return html_paragraph("Nothing to compare.", "note");
  std::string html = html_scrolling(in_sight, "verdicts", label);
  if (all.rows.size() > in_sight.rows.size())
    html += html_folded(fmt::format("All {} cells", all.rows.size()), html_scrolling(all, "verdicts", label));
  return html;
}

nlohmann::ordered_json json_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

nlohmann::ordered_json json_range(const certify::Range& range) {
  return {{"at_least", json_number(range.low)}, {"at_most", json_number(range.high)}};
}

nlohmann::ordered_json json_steps(const certify::StepRange& range) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  object["more_than"] = range.more_than ? nlohmann::ordered_json(*range.more_than) : nullptr;
  object["at_most"] = range.at_most ? nlohmann::ordered_json(*range.at_most) : nullptr;
  return object;
}

nlohmann::ordered_json json_verdict(Verdict verdict) {
  if (verdict == Verdict::not_shown) return nullptr;
  return verdict == Verdict::a_is_better ? "A" : "B";  // keys of each cell are a and b
}

nlohmann::ordered_json json_side(const Compared& side) {
  return {{"source", printable(side.source)}, {"digest", side.digest}, {"delta", side.certificate.delta}};
}

nlohmann::ordered_json json_pair(const Compared& a, const Compared& b, const VariantComparison& pair) {
  nlohmann::ordered_json object{{"a", a.certificate.variants[pair.a].name},
                                {"b", b.certificate.variants[pair.b].name}};
  for (const char* kind : {"success", "quantile", "budget"}) object[kind] = nlohmann::ordered_json::array();
  for (const auto& cell : pair.success)
    object["success"].push_back({{"step", cell.step},
                                 {"tolerance", cell.tolerance},
                                 {"a", json_range(cell.a)},
                                 {"b", json_range(cell.b)},
                                 {"better", json_verdict(cell.verdict)}});
  for (const auto& cell : pair.quantile)
    object["quantile"].push_back({{"step", cell.step},
                                  {"quantile", cell.quantile},
                                  {"a", json_range(cell.a)},
                                  {"b", json_range(cell.b)},
                                  {"better", json_verdict(cell.verdict)}});
  for (const auto& cell : pair.budget)
    object["budget"].push_back({{"tolerance", cell.tolerance},
                                {"quantile", cell.quantile},
                                {"method", bounds::name(cell.method)},
                                {"a", json_steps(cell.a)},
                                {"b", json_steps(cell.b)},
                                {"better", json_verdict(cell.verdict)}});
  return object;
}

std::string wrapped_bullets(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += wrapped(line, compared_page_width, "  - ", "    ");
  return text;
}

std::vector<std::string> tallies(const SideNames& names, const VariantComparison& pair) {
  std::vector<std::string> sentences;
  const auto add = [&](std::string_view what, const auto& cells) {
    if (!cells.empty()) sentences.push_back(tally_sentence(what, names, count_verdicts(cells)));
  };
  add("Iterations needed", pair.budget);
  add("Success rates", pair.success);
  add("Quantiles", pair.quantile);
  return sentences;
}

}  // namespace

std::vector<std::string> verdict_sentences(const Compared& a, const Compared& b,
                                           const VariantComparison& pair, bool together) {
  std::vector<std::string> sentences;
  const SideNames names = names_of(a, b, pair);
  add_budget_sentences(sentences, a.certificate, names, pair, compared_lasting(a, b, pair, "stay"));
  add_success_sentences(sentences, a.certificate, names, pair, together);
  for (std::string& sentence : sentences) sentence = conditioned_by(a, b, sentence);
  if (sentences.empty())
    sentences.emplace_back("nothing is shown to be better: these samples do not decide it");
  return sentences;
}

TextTable compared_budget_table(const Compared& a, const Compared& b, const VariantComparison& pair) {
  const SideNames names = names_of(a, b, pair);
  TextTable table = ranges_table({{"below"}, {"share"}}, "more than", "at most", names);
  table.notes = {fmt::format("{} the share is below the tolerance{}.",
                             a.certificate.loop ? "Limit with which" : "Iterations until",
                             compared_lasting(a, b, pair, "stays"))};
  for (const auto& cell : pair.budget) {
    table.add_row({exact_tolerance(a.certificate, cell.tolerance), percent_label(cell.quantile),
                   steps_text(cell.a.more_than), steps_text(cell.a.at_most), steps_text(cell.b.more_than),
                   steps_text(cell.b.at_most), verdict_cell(names, cell.verdict)});
  }
  return table;
}

TextTable compared_success_table(const Compared& a, const Compared& b, const VariantComparison& pair,
                                 const std::vector<Index>& steps) {
  const SideNames names = names_of(a, b, pair);
  TextTable table =
      ranges_table({{"below"}, {std::string(step_name(a.certificate))}}, "at least", "at most", names);
  std::vector<certify::SuccessComparison> cells = pair.success;
  std::ranges::stable_sort(cells, {}, &certify::SuccessComparison::tolerance);
  for (const auto& cell : cells) {
    if (!is_wanted(steps, cell.step)) continue;
    table.add_row({exact_tolerance(a.certificate, cell.tolerance), count_label(cell.step),
                   lower_bound_percent(cell.a.low), upper_bound_percent(cell.a.high),
                   lower_bound_percent(cell.b.low), upper_bound_percent(cell.b.high),
                   verdict_cell(names, cell.verdict)});
  }
  return table;
}

TextTable compared_quantile_table(const Compared& a, const Compared& b, const VariantComparison& pair,
                                  const std::vector<Index>& steps) {
  const SideNames names = names_of(a, b, pair);
  const Certificate& of = a.certificate;
  TextTable table =
      ranges_table({{"share"}, {std::string(step_name(a.certificate))}}, "at least", "at most", names);
  std::vector<certify::QuantileComparison> cells = pair.quantile;
  std::ranges::stable_sort(cells, {}, &certify::QuantileComparison::quantile);
  for (const auto& cell : cells) {
    if (!is_wanted(steps, cell.step)) continue;
    table.add_row({percent_label(cell.quantile), count_label(cell.step), lower_value(of, cell.a.low),
                   upper_value(of, cell.a.high), lower_value(of, cell.b.low), upper_value(of, cell.b.high),
                   verdict_cell(names, cell.verdict)});
  }
  return table;
}

std::string terminal_text(const Compared& a, const Compared& b, const Comparison& comparison) {
  std::string text;
  for (const VariantComparison& pair : comparison.pairs) {
    const SideNames names = names_of(a, b, pair);
    text += wrapped(side_line(names.a, a, pair.a), compared_page_width, "", "   ");
    text += wrapped(side_line(names.b, b, pair.b), compared_page_width, "", "   ");
    text += '\n' + wrapped(opening_of(a, b, comparison), compared_page_width);
    text += wrapped_bullets(verdict_sentences(a, b, pair, comparison.together));
    if (!pair.budget.empty())
      text += '\n' +
              wrapped(fmt::format("{} the share of {} is below the tolerance{}",
                                  a.certificate.loop ? "Limit with which" : "Iterations needed until",
                                  things(a.certificate), compared_lasting(a, b, pair, "stays")),
                      compared_page_width) +
              to_text(compared_budget_table(a, b, pair), "  ");
    if (!pair.success.empty())
      text += fmt::format("\nShare of {} below the tolerance\n", things(a.certificate)) +
              to_text(compared_success_table(a, b, pair, steps_in_sight(pair)), "  ");
    text += '\n';
    for (const std::string& line : tallies(names, pair)) text += wrapped(line, compared_page_width);
    text += '\n';
  }
  text += wrapped("Confidence " + confidence_words(comparison), compared_page_width);
  text += wrapped(about_not_shown, compared_page_width);
  text += wrapped(about_same_family, compared_page_width);
  for (const std::string& remark : comparison.remarks) text += wrapped(remark, compared_page_width);
  return text;
}

std::string comparison_json(const Compared& a, const Compared& b, const Comparison& comparison) {
  nlohmann::ordered_json object{{"surefoot_comparison", 1},
                                {"metric", printable(a.certificate.metric)},
                                {"unit", printable(a.certificate.unit)},
                                {"a", json_side(a)},
                                {"b", json_side(b)},
                                {"confidence",
                                 {{"delta", comparison.delta},
                                  {"together", comparison.together},
                                  {"delta_a", comparison.delta_a},
                                  {"delta_b", comparison.delta_b},
                                  {"delta_opposite", comparison.delta_opposite},
                                  {"opposite_bounds", comparison.opposite_bounds},
                                  {"delta_each", comparison.delta_each}}},
                                {"pairs", nlohmann::ordered_json::array()},
                                {"remarks", comparison.remarks}};
  for (const VariantComparison& pair : comparison.pairs) object["pairs"].push_back(json_pair(a, b, pair));
  return object.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

Report comparison_report(const Compared& a, const Compared& b, const Comparison& comparison,
                         const PlotOptions& options) {
  Report report;
  Page page{"Two certificates side by side",
            fmt::format("{} {}: {} and {}", metric_with_unit(a.certificate), of_new_things(a.certificate),
                        a.source, b.source),
            a.certificate.version,
            {},
            ""};
  std::string summary;
  std::string budgets;
  std::string success;
  std::string quantiles;
  std::vector<PageFigure> figures;
  std::vector<ChartSet> charts;
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
    const VariantComparison& pair = comparison.pairs[i];
    const std::string heading = fmt::format("<h3>{}</h3>\n", html_escaped(pair_title(a, b, pair)));
    const bool several = comparison.pairs.size() > 1;
    const std::string title = several ? heading : "";
    const std::string pair_name =
        several ? fmt::format("<p class=\"variant\">{}</p>\n", html_escaped(pair_title(a, b, pair))) : "";
    const std::vector<Index> in_sight = steps_in_sight(pair);
    const SideNames names = names_of(a, b, pair);
    summary += fmt::format("<div class=\"quote\">\n{}{}{}</div>\n", pair_name,
                           html_paragraph(opening_of(a, b, comparison)),
                           html_list(verdict_sentences(a, b, pair, comparison.together)));
    summary += html_list({side_line(names.a, a, pair.a), side_line(names.b, b, pair.b)}) +
               html_list(tallies(names, pair));
    const TextTable budget_table = compared_budget_table(a, b, pair);
    const TextTable success_table = compared_success_table(a, b, pair);
    const TextTable quantile_table = compared_quantile_table(a, b, pair);
    budgets += title + html_paragraph(budget_table.notes.front()) +
               compared_tables_html(budget_table, budget_table, "Iterations needed");
    success += title + compared_tables_html(compared_success_table(a, b, pair, in_sight), success_table,
                                            "Success rates");
    quantiles += title + compared_tables_html(compared_quantile_table(a, b, pair, in_sight), quantile_table,
                                              "Quantiles");
    const Certificate both = side_by_side(a, b, pair);
    const std::string suffix = comparison.pairs.size() > 1 ? fmt::format("_{}", i + 1) : "";
    ChartSet& set = charts.emplace_back(chart_set(both));
    set.answers.clear();
    set.first = FirstSight::all_variants;
    for (Chart& chart : set.charts) chart.id += suffix;
    for (Figure figure : {success_figure(both), quantile_figure(both)}) {
      if (!has_curves(figure)) continue;
      figure.name += suffix;
      add_figure(report, figure, options);
      PageFigure& shown = figures.emplace_back(page_figure(figure, options));
      add_notice(report, shown.notice);
      if (!suffix.empty()) shown.caption = fmt::format("{}: {}", pair_title(a, b, pair), shown.caption);
    }
    const std::string condition = note_on_dependence(both);
    const auto add = [&](const char* name, TextTable table) {
      if (!condition.empty()) table.notes.push_back(condition);
      add_table(report, name + suffix, table);
    };
    add(file_names::compared_iterations, budget_table);
    add(file_names::compared_success, success_table);
    add(file_names::compared_quantiles, quantile_table);
  }
  std::vector<std::string> notes{confidence_words(comparison), about_not_shown, about_same_family};
  notes.insert(notes.end(), comparison.remarks.begin(), comparison.remarks.end());
  page.sections = {{"summary", "", "Summary", summary},
                   {"figures", "Figures", "Figures", figures_html(figures)},
                   {"iterations", "Iterations needed", "Iterations needed", budgets},
                   {"success", "Success rates", "Success rates", success},
                   {"quantiles", "Quantiles", "Quantiles", quantiles},
                   {"meaning", "What this rests on", "What it rests on", html_list(notes)},
                   {"check", "How to check", "How to check",
                    fmt::format("<pre>surefoot verify {}\nsurefoot verify {}\nsurefoot compare {} {}</pre>\n",
                                html_escaped(shell_quoted(a.source)), html_escaped(shell_quoted(b.source)),
                                html_escaped(shell_quoted(a.source)), html_escaped(shell_quoted(b.source)))}};
  page.chart_data = chart_data(charts);
  report.files.push_back({file_names::comparison, comparison_json(a, b, comparison)});
  report.files.push_back({file_names::page, page_html(page)});
  return report;
}

namespace {

std::string places_text(const certify::RankedVariant& variant) {
  return variant.first == variant.last ? count_label(variant.first)
                                       : fmt::format("{} .. {}", variant.first, variant.last);
}

/// "warm is the best", or which of them may be: a tie is said to be one.
std::string best_sentence(const certify::Ranking& ranking) {
  if (ranking.has_best()) return fmt::format("{} is the best.", ranking.variants.front().name);
  std::vector<std::string> names;
  for (const certify::RankedVariant& each : ranking.variants)
    if (each.first == 1) names.push_back(each.name);
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {} are tied for the first place: these samples do not decide between them.",
                     fmt::join(names, ", "), last);
}

TextTable ranking_table(const certify::Ranking& ranking) {
  const bool of_steps = ranking.claim.share.has_value();
  TextTable table;
  table.columns = {{"place"}, {of_steps ? "more than" : "at least"}, {"at most"}, {"variant", Align::left}};
  for (const certify::RankedVariant& each : ranking.variants)
    table.add_row(
        {places_text(each), of_steps ? steps_text(each.steps.more_than) : lower_bound_percent(each.rate.low),
         of_steps ? steps_text(each.steps.at_most) : upper_bound_percent(each.rate.high), each.name});
  return table;
}

/// "below 1e-2 after 30 of the residual: share of new problems".
std::string ranking_title(const Certificate& certificate, const certify::Ranking& ranking) {
  return fmt::format("{} of the {}: {}", certify::to_text(ranking.claim), metric_with_unit(certificate),
                     !ranking.claim.share ? fmt::format("share of new {}", things(certificate))
                     : certificate.loop   ? "limit needed"
                                          : "iterations needed");
}

std::string ranking_opening(const std::vector<certify::Ranking>& rankings) {
  return fmt::format("With confidence {}, all of this holds together.",
                     confidence_label(rankings.front().delta));
}

constexpr const char* about_ties = "Places that are a range are ties: these samples do not decide them.";

}  // namespace

std::string ranking_text(const Certificate& certificate, const std::vector<certify::Ranking>& rankings) {
  std::string text = ranking_opening(rankings) + '\n';
  for (const certify::Ranking& ranking : rankings) {
    text +=
        fmt::format("\n{}\n{}", ranking_title(certificate, ranking), to_text(ranking_table(ranking), "  "));
    text += wrapped(best_sentence(ranking), compared_page_width, "  ", "  ");
  }
  text += '\n' + wrapped(about_ties, compared_page_width);
  return text + wrapped(about_same_family, compared_page_width);
}

Report ranking_report(const std::vector<Compared>& certificates,
                      const std::vector<certify::Ranking>& rankings) {
  const Certificate& first = certificates.front().certificate;
  Report report;
  Page page{"Variants ranked",
            fmt::format("{} {}", metric_with_unit(first), of_new_things(first)),
            first.version,
            {},
            ""};
  std::vector<std::string> best;
  std::string tables;
  for (std::size_t i = 0; i < rankings.size(); ++i) {
    const std::string title = ranking_title(first, rankings[i]);
    const TextTable table = ranking_table(rankings[i]);
    best.push_back(fmt::format("{}: {}", certify::to_text(rankings[i].claim), best_sentence(rankings[i])));
    tables += fmt::format("<h3>{}</h3>\n", html_escaped(title)) + html_scrolling(table, "verdicts", title);
    const std::string suffix = rankings.size() > 1 ? fmt::format("_{}", i + 1) : "";
    add_table(report, file_names::ranking + suffix, table);
  }
  std::string check = "<pre>";
  for (const Compared& each : certificates)
    check += fmt::format("surefoot verify {}\n", html_escaped(shell_quoted(each.source)));
  page.sections = {
      {"summary", "", "Summary",
       fmt::format("<div class=\"quote\">\n{}{}</div>\n", html_paragraph(ranking_opening(rankings)),
                   html_list(best))},
      {"places", "Places", "Places", tables},
      {"meaning", "What this rests on", "What it rests on", html_list({about_ties, about_same_family})},
      {"check", "How to check", "How to check", check + "</pre>\n"}};
  report.files.push_back({file_names::ranking_record, ranking_json(rankings)});
  report.files.push_back({file_names::page, page_html(page)});
  return report;
}

std::string ranking_json(const std::vector<certify::Ranking>& rankings) {
  nlohmann::ordered_json object{{"surefoot_ranking", 1},
                                {"delta", rankings.front().delta},
                                {"delta_each", rankings.front().delta_each},
                                {"rankings", nlohmann::ordered_json::array()}};
  for (const certify::Ranking& ranking : rankings) {
    nlohmann::ordered_json row{{"claim", certify::to_text(ranking.claim)}};
    if (ranking.has_best()) row["best"] = ranking.variants.front().name;
    row["variants"] = nlohmann::ordered_json::array();
    for (const certify::RankedVariant& each : ranking.variants) {
      nlohmann::ordered_json variant = {
          {"name", each.name}, {"first_place", each.first}, {"last_place", each.last}};
      variant.update(ranking.claim.share ? json_steps(each.steps) : json_range(each.rate));
      row["variants"].push_back(std::move(variant));
    }
    object["rankings"].push_back(std::move(row));
  }
  return object.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace surefoot::report
