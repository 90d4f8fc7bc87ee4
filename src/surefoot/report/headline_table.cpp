#include "surefoot/report/headline_table.hpp"

#include "surefoot/certify/kinds/iteration_budget.hpp"
#include "surefoot/certify/kinds/success_rate.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/series.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::report {
namespace {

using certify::BudgetClaim;
using certify::Certificate;
using certify::QuantileClaim;

/// Of the largest share that has one and that the confidence covers.
const BudgetClaim* budget_to_show(const Certificate& certificate, std::size_t variant, double tolerance) {
  const BudgetClaim* best = nullptr;
  for (const BudgetClaim& claim : certificate.budget) {
    if (claim.variant != variant || claim.tolerance != tolerance || !claim.steps ||
        claim.method == bounds::BudgetMethod::paper)
      continue;
    if (best == nullptr || claim.quantile > best->quantile) best = &claim;
  }
  return best;
}

std::string budget_cell(const Certificate& certificate, std::size_t variant, double tolerance) {
  const BudgetClaim* claim = budget_to_show(certificate, variant, tolerance);
  if (claim == nullptr) return std::string(nothing);
  return fmt::format("{} ({})", count_label(*claim->steps), percent_label(claim->quantile));
}

std::string share_cell(const std::vector<certify::Series>& rates, std::size_t variant, double tolerance,
                       Index step) {
  for (const certify::Series& series : rates) {
    if (series.variant != variant || series.parameter != tolerance) continue;
    const certify::Series::Point* point = series.at(step);
    if (point != nullptr) return lower_bound_percent(point->certified);
  }
  return std::string(nothing);
}

bool has_budgets(const Certificate& certificate) {
  return std::ranges::any_of(certificate.budget, [](const BudgetClaim& claim) {
    return claim.method != bounds::BudgetMethod::paper;
  });
}

std::optional<HeadlineTable> of_steps(const Certificate& certificate) {
  const bool budgets = has_budgets(certificate);
  const bool rates = !certificate.success.empty();
  if (certificate.steps.empty() || (!budgets && !rates)) return std::nullopt;
  const Index last = std::ranges::max(certificate.steps);
  const std::vector<certify::Series> series =
      rates ? certify::success_series(certificate) : std::vector<certify::Series>{};
  HeadlineTable result;
  TextTable& table = result.table;
  table.columns = {{"below", Align::right}};
  table.key_columns = 1;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const std::string group = certificate.variants.size() > 1 ? certify::short_name(certificate, v) : "";
    if (budgets) table.columns.push_back({"iterations", Align::right, group});
    if (rates) table.columns.push_back({certify::after_steps(last), Align::right, group});
  }
  for (const double tolerance : certify::telling_values(certificate.tolerances, certify::quoted_tolerances)) {
    std::vector<std::string> cells{certify::tolerance_text(certificate, tolerance)};
    for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
      if (budgets) cells.push_back(budget_cell(certificate, v, tolerance));
      if (rates) cells.push_back(share_cell(series, v, tolerance, last));
    }
    table.add_row(std::move(cells));
  }
  const std::string things = certify::named_things(certificate);
  if (budgets)
    result.note = fmt::format("Iterations until the share of {} in brackets is {}. ", things,
                              certify::budget_meaning(certificate));
  if (rates)
    result.note += fmt::format("\"{}\": at least this share of {} is below the tolerance. ",
                               certify::after_steps(last), things);
  return result;
}

std::optional<HeadlineTable> of_scalars(const Certificate& certificate) {
  if (certificate.quantile.empty()) return std::nullopt;
  HeadlineTable result;
  TextTable& table = result.table;
  table.columns = {{"share of problems", Align::right}};
  table.key_columns = 1;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v)
    table.columns.push_back({certify::short_name(certificate, v), Align::right});
  for (const double share : certificate.quantiles) {
    std::vector<std::string> cells{percent_label(share)};
    for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
      const auto found = std::ranges::find_if(certificate.quantile, [&](const QuantileClaim& claim) {
        return claim.variant == v && claim.quantile == share;
      });
      const bool known = found != certificate.quantile.end() && found->upper_bound < infinity;
      cells.push_back(known ? certify::with_unit(certificate, upper_bound_value(found->upper_bound))
                            : std::string(nothing));
    }
    table.add_row(std::move(cells));
  }
  result.note =
      fmt::format("The {} of at least this share of problems is at most the value. ", certificate.metric);
  return result;
}

}  // namespace

std::optional<HeadlineTable> headline_table(const Certificate& certificate) {
  const bool more = certificate.shift || certificate.worst_case != "null" ||
                    certify::sampling_of(certificate) == certify::Sampling::sequence;
  if (more || certificate.variants.empty()) return std::nullopt;
  std::optional<HeadlineTable> result = certificate.scalar ? of_scalars(certificate) : of_steps(certificate);
  if (!result) return std::nullopt;
  const std::string none(nothing);
  const bool says_something =
      std::ranges::any_of(result->table.rows, [&](const std::vector<std::string>& row) {
        return std::any_of(row.begin() + 1, row.end(), [&](const std::string& cell) { return cell != none; });
      });
  const bool lacks_something = std::ranges::any_of(
      result->table.rows,
      [&](const std::vector<std::string>& row) { return std::ranges::count(row, none) > 0; });
  if (!says_something) return std::nullopt;
  if (lacks_something) result->note += "\"-\": not certifiable with these samples. ";
  result->note.pop_back();
  return result;
}

}  // namespace surefoot::report
