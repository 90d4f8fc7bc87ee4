#include "surefoot/experiments/planning.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/sample_size.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace surefoot::experiments {

namespace {

constexpr Index shown_rows = 6;
constexpr Index most_failures = 1'000'000;

PlanRow row_of(const PlanOptions& options, Index failures) {
  PlanRow row;
  row.failures = failures;
  row.samples = bounds::samples_needed(failures, options.share, options.delta);
  if (options.expected && row.samples > 0)
    row.chance = bounds::binomial_cdf_upper(failures, row.samples, *options.expected);
  return row;
}

/// Fewest failures, and so fewest samples, with the chance that is wanted. It grows with them if the expected
/// rate is below what is tolerated.
std::optional<PlanRow> wanted_row(const PlanOptions& options) {
  const auto enough = [&](const PlanRow& row) { return row.chance && *row.chance >= options.chance; };
  Index too_few = -1;
  Index found = 0;
  while (!enough(row_of(options, found))) {
    if (found >= most_failures) return std::nullopt;
    too_few = found;
    found = std::min(2 * found + 1, most_failures);
  }
  while (found - too_few > 1) {
    const Index middle = too_few + (found - too_few) / 2;
    (enough(row_of(options, middle)) ? found : too_few) = middle;
  }
  return row_of(options, found);
}

std::string duration(double seconds) {
  if (seconds < 120) return observed_value(seconds) + " s";
  if (seconds < 7200) return observed_value(seconds / 60) + " min";
  if (seconds < 48 * 3600.0) return observed_value(seconds / 3600) + " h";
  return observed_value(seconds / 86400) + " days";
}

std::string count_or_none(Index samples) {
  return samples == 0 ? std::string(nothing) : count_label(samples);
}

}  // namespace

void PlanOptions::validate() const {
  require(share > 0 && share < 1, "share: {} is outside (0, 1)", share);
  require(delta > 0 && delta < 1, "confidence: {} is outside (0, 1)", 1 - delta);
  require(!expected || (*expected >= 0 && *expected <= 1), "expected: {} is outside [0, 1]",
          expected.value_or(0));
  require(chance > 0 && chance < 1, "chance: {} is outside (0, 1)", chance);
  require(!seconds_per_run || (*seconds_per_run > 0 && *seconds_per_run < infinity),
          "seconds per run: {} is not a positive number", seconds_per_run.value_or(0));
}

Plan plan(const PlanOptions& options) {
  options.validate();
  Plan result;
  for (Index failures = 0; failures < shown_rows; ++failures) {
    result.rows.push_back(row_of(options, failures));
    result.rows.back().looking = bounds::samples_needed_looking(failures, options.share, options.delta);
  }
  if (options.expected && bounds::covers(*options.expected, options.share))
    result.wanted = wanted_row(options);
  return result;
}

TextTable plan_table(const PlanOptions& options, const Plan& plan) {
  TextTable table;
  table.columns = {{"failures"}, {"runs"}, {"runs, looking again"}};
  if (options.expected) table.columns.push_back({"chance"});
  if (options.seconds_per_run) table.columns.push_back({"time"});
  for (const PlanRow& row : plan.rows) {
    std::vector<std::string> cells{count_label(row.failures), count_or_none(row.samples),
                                   count_or_none(row.looking)};
    if (options.expected) cells.push_back(row.chance ? observed_percent(*row.chance) : std::string(nothing));
    if (options.seconds_per_run)
      cells.push_back(duration(static_cast<double>(row.samples) * *options.seconds_per_run));
    table.add_row(cells);
  }
  return table;
}

std::string plan_sentence(const PlanOptions& options, const Plan& plan) {
  std::string text = fmt::format(
      "Runs needed to show with confidence {} that at least {} of problems succeed, by the largest number of "
      "runs that may fail. Fix the number of runs before the first one, or use the last column if you want to "
      "look and add runs until the claim holds.",
      confidence_label(options.delta), percent_label(options.share));
  if (!options.expected) return text;
  if (!plan.wanted) {
    return text + fmt::format(" At a failure rate of {} there is no chance of {} to show it.",
                              percent_label(*options.expected), percent_label(options.chance));
  }
  text += fmt::format(" At a failure rate of {}, {} runs succeed with a chance of {}: {} of them may fail",
                      percent_label(*options.expected), count_label(plan.wanted->samples),
                      observed_percent(*plan.wanted->chance), count_label(plan.wanted->failures));
  if (options.seconds_per_run)
    text +=
        fmt::format(", {}", duration(static_cast<double>(plan.wanted->samples) * *options.seconds_per_run));
  return text + '.';
}

}  // namespace surefoot::experiments
