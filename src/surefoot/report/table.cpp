#include "surefoot/report/table.hpp"

#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace surefoot::report {
namespace {

using bounds::BudgetMethod;
using certify::BudgetClaim;
using certify::Certificate;
using certify::Headline;

constexpr std::size_t page_width = 100;
constexpr std::size_t name_width = 32;
constexpr std::size_t terminal_rows = 7;
constexpr std::size_t terminal_tolerances = 8;
constexpr std::string_view page_margin = "  ";

std::string variant_name(const Certificate& certificate, std::size_t variant) {
  return shortened(certificate.variants[variant].name, name_width);
}

void add_pair(TextTable& table, const std::string& group) {
  table.columns.push_back({"observed", Align::right, group});
  table.columns.push_back({"certified", Align::right, group});
}

void add_note(TextTable& table, std::string note) {
  if (!note.empty()) table.notes.push_back(std::move(note));
}

/// What comes from the worst case is marked.
std::string marked(const std::string& text, bool worst_case) {
  return worst_case ? text + " (w)" : text;
}

/// Method paper: marked, as it stands under "certified" without being so.
std::string certified_iterations(const BudgetClaim& claim, const certify::WorstCaseBounds& worst) {
  const std::optional<Index> better = worst.better(claim);
  if (better != claim.steps) return marked(count_label(*better), true);
  if (!claim.steps) return std::string(nothing);
  return count_label(*claim.steps) + (claim.method == BudgetMethod::paper ? "*" : "");
}

std::string observed_iterations(const std::optional<Index>& steps) {
  return steps ? count_label(*steps) : "not reached";
}

std::string method_label(BudgetMethod method) {
  return std::string(bounds::name(method)) + (method == BudgetMethod::paper ? "*" : "");
}

/// Several methods, or one that needs its mark.
bool tells_budget_methods(const Certificate& certificate) {
  return std::ranges::any_of(certificate.budget, [&](const BudgetClaim& claim) {
    return claim.method == BudgetMethod::paper || claim.method != certificate.budget.front().method;
  });
}

using BudgetRow = std::tuple<std::size_t, double, BudgetMethod>;

/// Claims by the place of their tolerance, quantile and method, then by variant.
std::map<BudgetRow, std::map<std::size_t, const BudgetClaim*>> budget_rows(const Certificate& certificate) {
  std::map<BudgetRow, std::map<std::size_t, const BudgetClaim*>> rows;
  std::map<double, std::size_t> places;
  for (const BudgetClaim& claim : certificate.budget) {
    if (std::isnan(claim.tolerance) || std::isnan(claim.quantile)) continue;
    const std::size_t place = places.try_emplace(claim.tolerance, places.size()).first->second;
    rows[{place, claim.quantile, claim.method}][claim.variant] = &claim;
  }
  return rows;
}

using Format = std::string (*)(double);
using Label = std::string (*)(const Certificate&, const Series&);

/// A row per step and a pair of columns per series of the variant.
TextTable step_table(const Certificate& certificate, std::vector<Series> all, std::size_t variant,
                     const std::vector<Index>& steps, Label label, Format observed, Format certified) {
  std::set<std::string_view> methods;
  for (const Series& series : all) methods.insert(series.method);
  std::erase_if(all, [variant](const Series& series) { return series.variant != variant; });
  TextTable table;
  table.columns.push_back({"iteration"});
  add_note(table, note_on_dependence(certificate));
  add_note(table, note_on_worst_case(certificate));
  for (const Series& series : all) {
    const std::string method = methods.size() > 1 ? fmt::format(", {}", series.method) : "";
    add_pair(table, label(certificate, series) + method);
  }
  for (const Index step : steps) {
    std::vector<std::string> cells{count_label(step)};
    for (const Series& series : all) {
      const Series::Point* point = series.at(step);
      cells.push_back(point == nullptr ? std::string(nothing) : observed(point->observed));
      cells.push_back(point == nullptr ? std::string(nothing)
                                       : marked(certified(point->certified), point->worst_case));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

std::string filled(std::string_view text) {
  return wrapped(text, page_width);
}

std::string heading(std::string_view text) {
  return '\n' + filled(text);
}

std::string bullets(const std::vector<std::string>& lines, std::string_view margin = page_margin) {
  std::string text;
  for (const std::string& line : lines) {
    text += wrapped(line, page_width, fmt::format("{}- ", margin), fmt::format("{}  ", margin));
  }
  return text;
}

std::string fitted(const TextTable& table) {
  std::string text;
  for (const TextTable& part : split_to_width(table, page_width - page_margin.size())) {
    if (!text.empty()) text += '\n';
    text += to_text(part, page_margin);
  }
  return text;
}

std::string title_lines(const Certificate& certificate) {
  std::string text = filled(certificate.title.empty() ? "Certificate" : certificate.title);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const certify::Variant& variant = certificate.variants[v];
    const std::string bad =
        variant.non_finite_runs > 0
            ? fmt::format(", {} with an infinity or NaN (counted as failed from there on)",
                          count_label(variant.non_finite_runs))
            : "";
    text += wrapped(fmt::format("{}: {} problems, {} iterations recorded{}", variant_name(certificate, v),
                                count_label(variant.samples), count_label(variant.columns), bad),
                    page_width, "  ", "    ");
  }
  return text;
}

std::string headline_text(const Certificate& certificate) {
  const Headline lines = headline(certificate);
  std::string text = '\n' + filled(lines.opening);
  for (const Headline::Group& group : lines.groups) {
    const bool named = lines.groups.size() > 1;
    if (named) text += wrapped(group.variant, page_width, page_margin, page_margin);
    text += bullets(group.claims, named ? "    " : page_margin);
  }
  return text;
}

/// The certificate with telling tolerances only, so that a terminal is not flooded.
Certificate abridged(const Certificate& certificate) {
  Certificate result = certificate;
  const std::vector<double> kept = certify::telling_values(certificate.tolerances, terminal_tolerances);
  const auto left_out = [&](const auto& claim) { return std::ranges::count(kept, claim.tolerance) == 0; };
  std::erase_if(result.success, left_out);
  std::erase_if(result.budget, left_out);
  return result;
}

std::string abridged_note(const Certificate& certificate) {
  if (certificate.tolerances.size() <= terminal_tolerances) return "";
  return filled(fmt::format("Tables show {} of {} tolerances; the report and certificate.json have all.",
                            terminal_tolerances, certificate.tolerances.size()));
}

std::string step_tables(const Certificate& certificate, std::string_view title, const auto& table_of) {
  const std::vector<Index> steps = telling_steps(certificate, terminal_rows);
  std::string text;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const TextTable table = table_of(certificate, v, steps);
    if (table.columns.size() == 1) continue;
    const std::string of =
        certificate.variants.size() > 1 ? ": " + variant_name(certificate, v) : std::string();
    text += heading(fmt::format("{}{}", title, of)) + fitted(table);
  }
  return text;
}

std::string footnotes(const Certificate& certificate) {
  std::string text;
  for (const std::string& note : {note_on_settling(certificate), note_on_no_guarantee(certificate),
                                  note_on_paper_budgets(certificate), note_on_worst_case(certificate)}) {
    if (!note.empty()) text += filled(note);
  }
  return text + abridged_note(certificate);
}

}  // namespace

TextTable budget_table(const Certificate& certificate) {
  const bool tells_methods = tells_budget_methods(certificate);
  TextTable table;
  table.columns = {{"below", Align::right}, {"share", Align::right}};
  if (tells_methods) table.columns.push_back({"method", Align::left});
  table.key_columns = table.columns.size();
  table.notes = {fmt::format("Iterations until the share is {}.", budget_meaning(certificate))};
  add_note(table, note_on_paper_budgets(certificate));
  add_note(table, note_on_dependence(certificate));
  add_note(table, note_on_worst_case(certificate));
  const certify::WorstCaseBounds worst(certificate);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) add_pair(table, variant_name(certificate, v));
  for (const auto& [row, claims] : budget_rows(certificate)) {
    const BudgetClaim& first = *claims.begin()->second;
    std::vector<std::string> cells{with_unit(certificate, exact_label(first.tolerance)),
                                   percent_label(first.quantile)};
    if (tells_methods) cells.push_back(method_label(first.method));
    for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
      const auto found = claims.find(v);
      const bool has = found != claims.end();
      cells.push_back(has ? observed_iterations(found->second->empirical) : std::string(nothing));
      cells.push_back(has ? certified_iterations(*found->second, worst) : std::string(nothing));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

TextTable success_table(const Certificate& certificate, std::size_t variant,
                        const std::vector<Index>& steps) {
  const Label label = [](const Certificate& c, const Series& series) {
    return "below " + with_unit(c, exact_label(series.parameter));
  };
  return step_table(certificate, success_series(certificate), variant, steps, label, observed_percent,
                    lower_bound_percent);
}

TextTable quantile_table(const Certificate& certificate, std::size_t variant,
                         const std::vector<Index>& steps) {
  const Label label = [](const Certificate&, const Series& series) {
    return percent_label(series.parameter) + " of problems";
  };
  TextTable table = step_table(certificate, quantile_series(certificate), variant, steps, label,
                               observed_value, upper_bound_value);
  if (const std::optional<Series> worst = worst_case_series(certificate, variant)) {
    const bool used = certify::WorstCaseBounds(certificate).used();
    table.columns.push_back(
        {used ? "certified" : "not certified", Align::right, worst_case_label(certificate)});
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const Series::Point* point = worst->at(steps[row]);
      table.rows[row].push_back(point == nullptr
                                    ? std::string(nothing)
                                    : upper_bound_value(std::min(point->observed, point->certified)));
    }
  }
  return table;
}

TextTable share_table(const Certificate& certificate) {
  const bool together = certificate.simultaneous == certify::Simultaneity::all;
  TextTable table;
  table.columns = {{"purpose", Align::left}, {"claims"}, {"delta each"}};
  if (together) table.columns.push_back({"delta together"});
  add_note(table, note_on_dependence(certificate));
  Index claims = 0;
  double spent = 0;
  for (const certify::Share& share : certificate.shares) {
    const double delta = static_cast<double>(share.claims) * share.delta_each;
    std::vector<std::string> cells{share.purpose, count_label(share.claims),
                                   upper_bound_value(share.delta_each)};
    if (together) cells.push_back(upper_bound_value(delta));
    table.add_row(std::move(cells));
    claims += share.claims;
    spent += delta;
  }
  std::vector<std::string> total{"total", count_label(claims), ""};
  if (together) total.push_back(upper_bound_value(std::min(spent, certificate.delta)));
  table.add_row(std::move(total));
  return table;
}

std::string terminal_text(const Certificate& certificate) {
  const Certificate shown = abridged(certificate);
  std::string text = title_lines(shown) + headline_text(shown);
  if (!shown.budget.empty()) {
    text += heading("Iterations needed until the share of problems is " + budget_meaning(shown));
    text += fitted(budget_table(shown));
  }
  text += step_tables(shown, "Share of problems below the tolerance", success_table);
  text += step_tables(shown, fmt::format("Quantiles of the {}", metric_with_unit(shown)), quantile_table);
  text += '\n' + footnotes(certificate);
  const bool rows_matter = certify::if_independent(certificate) ||
                           std::ranges::any_of(certificate.variants, [](const certify::Variant& variant) {
                             return variant.independence && !variant.independence->order_checked;
                           });
  if (rows_matter) text += heading("Rows") + bullets(certify::notes_on_rows(certificate));
  text += heading("Assumed") + bullets(certificate.assumptions.empty()
                                           ? std::vector<std::string>{what_it_does_not_say(certificate)[1]}
                                           : certificate.assumptions);
  return text;
}

}  // namespace surefoot::report
