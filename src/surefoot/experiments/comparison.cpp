#include "surefoot/experiments/comparison.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::experiments {

namespace {

std::vector<Index> failures_by_column(const runs::Tally& tally, std::size_t tolerance) {
  std::vector<Index> failures(tally.spec().steps.size());
  for (std::size_t column = 0; column < failures.size(); ++column) {
    failures[column] = tally.failures(column, tolerance);
  }
  return failures;
}

std::optional<Index> step_of(const runs::Tally& tally, const std::optional<std::size_t>& column) {
  return column ? std::optional<Index>(tally.spec().steps[*column]) : std::nullopt;
}

/// The first step at which `enough` runs are below the tolerance.
std::optional<Index> first_step_with(const runs::Tally& tally, std::size_t tolerance, Index enough) {
  for (std::size_t column = 0; column < tally.spec().steps.size(); ++column) {
    if (tally.samples() - tally.failures(column, tolerance) >= enough) return tally.spec().steps[column];
  }
  return std::nullopt;
}

/// Steps between which an order statistic of another sample of size n lies almost surely (three standard
/// deviations of its place, seen in all of our samples). Ends are open where our samples end.
struct StepRange {
  double low = 0;
  double high = infinity;
  [[nodiscard]] bool holds(Index step) const {
    return static_cast<double>(step) >= low && static_cast<double>(step) <= high;
  }
};

StepRange sampling_range(const runs::Tally& all, std::size_t tolerance, double place, Index n) {
  const auto samples = static_cast<double>(all.samples());
  const double deviation =
      std::sqrt(place * (1 - place) * (1 / static_cast<double>(n + 2) + 1 / (samples + 2)));
  const auto rank_at = [&](double where) { return static_cast<Index>(std::floor(where * samples)); };
  StepRange range;
  const Index low = rank_at(place - 3 * deviation);
  const Index high = rank_at(place + 3 * deviation) + 1;
  if (low >= 1) {
    const std::optional<Index> step = first_step_with(all, tolerance, low);
    range.low = step ? static_cast<double>(*step) : infinity;
  }
  if (high <= all.samples()) {
    const std::optional<Index> step = first_step_with(all, tolerance, high);
    if (step) range.high = static_cast<double>(*step);
  }
  return range;
}

std::string step_text(const std::optional<Index>& step) {
  return step ? fmt::format("{}", *step) : std::string(nothing);
}

/// Steps of a worst case, rounded up.
std::string worst_case_text(const std::optional<double>& steps) {
  return steps ? upper_bound_count(*steps) : std::string(nothing);
}

/// No bound is the loosest of all.
bool at_least_as_tight(const std::optional<Index>& ours, const std::optional<Index>& theirs) {
  return !theirs || (ours && *ours <= *theirs);
}

class Comparer {
 public:
  Comparer(const Measured& measured, const ComparisonPlan& plan, Comparison& result)
      : measured_(measured), plan_(plan), result_(result), all_(measured.tallies.back()) {}

  void add(Index row) {
    ComparisonRow ours;
    ours.quantile = plan_.table.quantile(row);
    ours.paper_tolerance = plan_.table.at(row, "tol").value();
    ours.tolerance = ours.paper_tolerance * plan_.tolerance_factor;
    tolerance_ = tolerance_index(ours.tolerance);
    if (plan_.same_metric) ours.paper_observed = plan_.table.count_at(row, "cold_start");
    if (plan_.same_metric) ours.paper_worst_case = plan_.table.at(row, "worst");
    ours.observed = first_step_with(all_, tolerance_, bounds::empirical_rank(all_.samples(), ours.quantile));
    if (plan_.worst_case) {
      const auto steps = bounds::averaged_rate_steps(0.5, plan_.worst_case->dist0, ours.tolerance);
      if (steps) ours.worst_case = static_cast<double>(*steps);
    }
    compare_observed(ours);
    for (std::size_t i = 0; i < measured_.sizes.size(); ++i) add_cell(ours, row, i);
    result_.rows.push_back(std::move(ours));
  }

 private:
  [[nodiscard]] std::size_t tolerance_index(double tolerance) const {
    const std::vector<double>& known = measured_.subject.tolerances;
    const auto near = std::min_element(known.begin(), known.end(), [&](double a, double b) {
      return std::abs(a - tolerance) < std::abs(b - tolerance);
    });
    return static_cast<std::size_t>(near - known.begin());
  }

  [[nodiscard]] std::string place(const ComparisonRow& row) const {
    return fmt::format("{}, {}", percent_label(row.quantile), exact_label(row.paper_tolerance));
  }

  void compare_observed(const ComparisonRow& row) {
    if (!row.paper_observed) return;
    if (!row.observed && *row.paper_observed > all_.spec().steps.back()) return;  // beyond the horizon
    const StepRange range = sampling_range(all_, tolerance_, row.quantile, plan_.paper_observed_samples);
    if (range.holds(*row.paper_observed)) return;
    result_.differences.push_back(fmt::format("{}: observed {}, the paper {}; {}", place(row),
                                              step_text(row.observed), *row.paper_observed,
                                              plan_.explanation));
  }

  void add_cell(ComparisonRow& row, Index paper_row, std::size_t size) {
    const runs::Tally& tally = measured_.tallies[size];
    const Index n = tally.samples();
    Cell cell;
    if (plan_.same_metric) cell.paper = paper_bound_from(plan_.table, paper_row, n);
    const std::vector<Index> failures = failures_by_column(tally, tolerance_);
    cell.kl = step_of(
        tally, bounds::paper_budget(failures, n, row.quantile, claim_delta, bounds::RiskMethod::kl).column);
    std::vector<Index> successes(failures);
    for (Index& count : successes) count = n - count;
    const bounds::IterationBudget exact = bounds::time_quantile_budget(
        bounds::fewest_from_here_on(std::move(successes)), n, row.quantile, claim_delta);
    cell.exact = step_of(tally, exact.column);
    cell.stays = step_of(
        tally, bounds::time_quantile_budget(tally.settled(tolerance_), n, row.quantile, claim_delta).column);
    row.cells.push_back(cell);
    judge(row, cell, exact.rank);
  }

  void judge(const ComparisonRow& row, const Cell& cell, Index rank) {
    const Index n = measured_.sizes[row.cells.size() - 1];
    const auto known = std::find(paper_sample_sizes.begin(), paper_sample_sizes.end(), n);
    if (!plan_.same_metric || known == paper_sample_sizes.end()) return;
    if (!cell.paper && !cell.exact) return;
    if (!cell.exact && *cell.paper > all_.spec().steps.back()) return;  // beyond the horizon
    ++result_.cells_compared;
    if (at_least_as_tight(cell.exact, cell.paper)) {
      ++result_.cells_at_least_as_tight;
      return;
    }
    result_.differences.push_back(fmt::format("{}, N = {}: {} is looser than the paper's {}; {}", place(row),
                                              n, step_text(cell.exact), *cell.paper,
                                              why_looser(cell, rank, n)));
  }

  [[nodiscard]] std::string why_looser(const Cell& cell, Index rank, Index n) const {
    const double where = static_cast<double>(rank) / static_cast<double>(n + 1);
    const bool luck = rank > 0 && sampling_range(all_, tolerance_, where, n).holds(*cell.paper);
    if (!luck) return plan_.explanation;
    // At least rank of n new problems must be below at that step and at every later one.
    const auto column = static_cast<std::size_t>(*cell.paper - all_.spec().steps.front());
    std::vector<Index> failures = failures_by_column(all_, tolerance_);
    const Index most =
        *std::max_element(failures.begin() + static_cast<std::ptrdiff_t>(column), failures.end());
    const double below = 1 - static_cast<double>(most) / static_cast<double>(all_.samples());
    const double as_tight = bounds::binomial_tail_upper(rank, n, below);
    return fmt::format("by the draw: about {} of samples of {} are as tight as that",
                       observed_percent(as_tight), n);
  }

  const Measured& measured_;
  const ComparisonPlan& plan_;
  Comparison& result_;
  const runs::Tally& all_;
  std::size_t tolerance_ = 0;
};

}  // namespace

Comparison compare(const Measured& measured, const std::string& slug, const ComparisonPlan& plan) {
  Comparison comparison;
  comparison.slug = slug;
  comparison.title = plan.title;
  comparison.has_paper = plan.same_metric;
  comparison.sizes = measured.sizes;
  if (plan.worst_case) {
    comparison.worst_case_note =
        fmt::format("Worst case, ours: an estimate, not a guarantee. 1/2-averaged from a distance of {}; {}.",
                    upper_bound_value(plan.worst_case->dist0), plan.worst_case->why);
  }
  Comparer comparer(measured, plan, comparison);
  for (Index row = 0; row < plan.table.rows(); ++row) comparer.add(row);
  return comparison;
}

namespace {

bool has_worst_case(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                     [](const ComparisonRow& row) { return row.worst_case.has_value(); });
}

std::vector<report::Column> comparison_columns(const Comparison& comparison) {
  std::vector<report::Column> columns{{"share"}, {"below"}};
  const auto add = [&](const std::string& group, const char* header) {
    columns.push_back({header, report::Align::right, group});
  };
  if (has_worst_case(comparison)) {
    if (comparison.has_paper) add("worst case", "paper");
    add("worst case", "ours (estimate)");
  }
  if (comparison.has_paper) add("observed", "paper");
  add("observed", "ours");
  for (const Index n : comparison.sizes) {
    const std::string group = fmt::format("N = {}", n);
    if (comparison.has_paper) add(group, "paper");
    add(group, "kl");
    add(group, "exact");
    add(group, "stays");
  }
  return columns;
}

std::string tolerance_text(const ComparisonRow& row) {
  if (row.paper_tolerance == row.tolerance) return exact_label(row.tolerance);
  return fmt::format("{} ({} dB)", exact_label(row.paper_tolerance), upper_bound_value(row.tolerance));
}

std::vector<std::string> comparison_cells(const Comparison& comparison, const ComparisonRow& row) {
  std::vector<std::string> cells{percent_label(row.quantile), tolerance_text(row)};
  if (has_worst_case(comparison)) {
    if (comparison.has_paper) cells.push_back(worst_case_text(row.paper_worst_case));
    cells.push_back(worst_case_text(row.worst_case));
  }
  if (comparison.has_paper) cells.push_back(step_text(row.paper_observed));
  cells.push_back(step_text(row.observed));
  for (const Cell& cell : row.cells) {
    if (comparison.has_paper) cells.push_back(step_text(cell.paper));
    cells.push_back(step_text(cell.kl));
    cells.push_back(step_text(cell.exact));
    cells.push_back(step_text(cell.stays));
  }
  return cells;
}

}  // namespace

report::TextTable to_table(const Comparison& comparison) {
  report::TextTable table;
  table.key_columns = 2;
  table.columns = comparison_columns(comparison);
  for (const ComparisonRow& row : comparison.rows) table.add_row(comparison_cells(comparison, row));
  return table;
}

}  // namespace surefoot::experiments
