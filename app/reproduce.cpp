#include "reproduce.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/report/format.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

namespace reproduce {

using namespace surefoot;

namespace {

constexpr double certificate_delta = 0.01;

// ---- counting

/// Runs between two sizes are counted in one ring; the first N samples are the rings up to N.
class Rings {
 public:
  Rings(const runs::TallySpec& spec, std::vector<Index> sizes)
      : sizes_(std::move(sizes)), rings_(sizes_.size(), runs::Tally(spec)) {}

  void add(Index instance, const double* trace) {
    const auto ring = std::upper_bound(sizes_.begin(), sizes_.end(), instance) - sizes_.begin();
    const std::scoped_lock lock(mutex_);
    rings_.at(static_cast<std::size_t>(ring)).add_run(trace);
  }
  [[nodiscard]] std::vector<runs::Tally> nested() const {
    std::vector<runs::Tally> tallies = rings_;
    for (std::size_t i = 1; i < tallies.size(); ++i) tallies[i].merge(tallies[i - 1]);
    return tallies;
  }

 private:
  std::vector<Index> sizes_;
  std::vector<runs::Tally> rings_;
  std::mutex mutex_;
};

certify::Options claims_of(const Subject& subject, const std::vector<Index>& recorded) {
  certify::Options options;
  options.delta = certificate_delta;
  options.budget_delta = claim_delta;
  options.tolerances = subject.tolerances;
  options.quantiles = {table_quantiles.begin(), table_quantiles.end()};
  options.metric = subject.metric.name;
  options.unit = subject.metric.unit;
  options.steps = certify::default_steps(recorded);
  for (const Index step : subject.extra_steps) {
    if (step <= recorded.back()) options.steps.push_back(step);
  }
  std::sort(options.steps.begin(), options.steps.end());
  options.steps.erase(std::unique(options.steps.begin(), options.steps.end()), options.steps.end());
  return certify::resolved(options, {recorded});
}

// ---- comparing

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
  return step ? fmt::format("{}", *step) : std::string(report::nothing);
}

std::string scientific(const std::optional<double>& number) {
  if (!number) return std::string(report::nothing);
  return *number < 1e6 ? fmt::format("{:.0f}", *number) : fmt::format("{:.1e}", *number);
}

/// No bound is the loosest of all.
bool at_least_as_tight(const std::optional<Index>& ours, const std::optional<Index>& theirs) {
  return !theirs || (ours && *ours <= *theirs);
}

class Comparer {
 public:
  Comparer(const Measured& measured, const ComparisonPlan& plan, Comparison& result)
      : measured_(measured), plan_(plan), result_(result), all_(measured.tallies.back()) {}

  void add(const paper::Row& row) {
    ComparisonRow ours;
    ours.quantile = row.percent / 100.0;
    ours.paper_tolerance = row.tolerance;
    ours.tolerance = row.tolerance * plan_.tolerance_factor;
    tolerance_ = tolerance_index(ours.tolerance);
    if (plan_.same_metric) ours.paper_observed = row.observed;
    if (plan_.same_metric && row.worst_case != paper::no_worst_case) ours.paper_worst_case = row.worst_case;
    ours.observed = first_step_with(all_, tolerance_, bounds::empirical_rank(all_.samples(), ours.quantile));
    if (plan_.dist0) {
      const auto steps = bounds::averaged_rate_steps(0.5, *plan_.dist0, ours.tolerance);
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
    return fmt::format("{}, {}", report::percent_label(row.quantile),
                       report::exact_label(row.paper_tolerance));
  }

  void compare_observed(const ComparisonRow& row) {
    if (!row.paper_observed) return;
    if (!row.observed && *row.paper_observed > all_.spec().steps.back()) return;
    const StepRange range = sampling_range(all_, tolerance_, row.quantile, plan_.paper_observed_samples);
    if (range.holds(*row.paper_observed)) return;
    result_.differences.push_back(fmt::format("{}: observed {}, the paper {}; {}", place(row),
                                              step_text(row.observed), *row.paper_observed,
                                              plan_.explanation));
  }

  void add_cell(ComparisonRow& row, const paper::Row& paper_row, std::size_t size) {
    const runs::Tally& tally = measured_.tallies[size];
    const Index n = tally.samples();
    Cell cell;
    if (plan_.same_metric && paper::bound_from(paper_row, n) != paper::none) {
      cell.paper = paper::bound_from(paper_row, n);
    }
    cell.kl = step_of(tally, bounds::paper_budget(failures_by_column(tally, tolerance_), n, row.quantile,
                                                  claim_delta, bounds::RiskMethod::kl)
                                 .column);
    const bounds::IterationBudget exact =
        bounds::time_quantile_budget(tally.settled(tolerance_), n, row.quantile, claim_delta);
    cell.exact = step_of(tally, exact.column);
    judge(row, cell, exact.rank, n);
    row.cells.push_back(cell);
  }

  void judge(const ComparisonRow& row, const Cell& cell, Index rank, Index n) {
    const auto known = std::find(paper::sample_sizes.begin(), paper::sample_sizes.end(), n);
    if (!plan_.same_metric || known == paper::sample_sizes.end()) return;
    if (!cell.paper && !cell.exact) return;
    ++result_.cells_compared;
    if (at_least_as_tight(cell.exact, cell.paper)) {
      ++result_.cells_at_least_as_tight;
      return;
    }
    const double where = static_cast<double>(rank) / static_cast<double>(n + 1);
    const bool luck = rank > 0 && sampling_range(all_, tolerance_, where, n).holds(*cell.paper);
    result_.differences.push_back(
        fmt::format("{}, N = {}: {} is looser than the paper's {}; {}", place(row), n, step_text(cell.exact),
                    *cell.paper, luck ? "within the sampling error of the draw" : plan_.explanation));
  }

  const Measured& measured_;
  const ComparisonPlan& plan_;
  Comparison& result_;
  const runs::Tally& all_;
  std::size_t tolerance_ = 0;
};

}  // namespace

std::vector<Index> nested_sizes(Index samples) {
  std::vector<Index> sizes;
  for (const Index size : paper::sample_sizes) {
    if (size < samples) sizes.push_back(size);
  }
  sizes.push_back(samples);
  return sizes;
}

std::vector<Measured> measure(const algorithms::Operator& op, const std::vector<Subject>& subjects,
                              const runs::RunOptions& options, const runs::IterateSink& iterate_sink) {
  std::vector<Measured> measured;
  std::vector<std::unique_ptr<Rings>> rings;
  std::vector<runs::Metric> metrics;
  const std::vector<Index> sizes = nested_sizes(op.instances());
  for (const Subject& subject : subjects) {
    const Index first = subject.metric.first_step();
    std::vector<Index> steps(static_cast<std::size_t>(options.steps + 1 - first));
    std::iota(steps.begin(), steps.end(), first);
    const certify::Options claims = claims_of(subject, steps);
    rings.push_back(std::make_unique<Rings>(certify::tally_spec(claims, std::move(steps)), sizes));
    metrics.push_back(subject.metric);
    measured.push_back({subject, claims, sizes, {}});
  }
  runs::run(
      op, metrics, {}, options,
      [&](std::size_t metric, Index instance, const double* trace) { rings[metric]->add(instance, trace); },
      iterate_sink);
  for (std::size_t i = 0; i < measured.size(); ++i) measured[i].tallies = rings[i]->nested();
  return measured;
}

Comparison compare(const Measured& measured, const std::string& slug, const ComparisonPlan& plan) {
  Comparison comparison;
  comparison.slug = slug;
  comparison.title = plan.title;
  comparison.sizes = measured.sizes;
  Comparer comparer(measured, plan, comparison);
  for (const paper::Row& row : plan.table) comparer.add(row);
  return comparison;
}

report::TextTable to_table(const Comparison& comparison) {
  const bool worst = std::any_of(comparison.rows.begin(), comparison.rows.end(),
                                 [](const ComparisonRow& row) { return row.worst_case.has_value(); });
  report::TextTable table;
  table.key_columns = 2;
  table.columns = {{"share"}, {"below"}};
  if (worst) {
    table.columns.push_back({"paper", report::Align::right, "worst case"});
    table.columns.push_back({"ours (est.)", report::Align::right, "worst case"});
  }
  table.columns.push_back({"paper", report::Align::right, "observed"});
  table.columns.push_back({"ours", report::Align::right, "observed"});
  for (const Index n : comparison.sizes) {
    for (const char* header : {"paper", "kl", "exact"}) {
      table.columns.push_back({header, report::Align::right, fmt::format("N = {}", n)});
    }
  }
  for (const ComparisonRow& row : comparison.rows) {
    std::vector<std::string> cells{report::percent_label(row.quantile),
                                   row.paper_tolerance == row.tolerance
                                       ? report::exact_label(row.tolerance)
                                       : fmt::format("{} ({:.1f} dB)", row.paper_tolerance, row.tolerance)};
    if (worst) {
      cells.push_back(scientific(row.paper_worst_case));
      cells.push_back(scientific(row.worst_case));
    }
    cells.push_back(step_text(row.paper_observed));
    cells.push_back(step_text(row.observed));
    for (const Cell& cell : row.cells) {
      for (const auto& step : {cell.paper, cell.kl, cell.exact}) cells.push_back(step_text(step));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

certify::Certificate certificate_of(const Measured& measured, const std::string& title,
                                    const std::string& source, const std::string& run_json) {
  certify::Options claims = measured.claims;
  claims.title = title;
  certify::Variant variant;
  variant.name = source;
  variant.source = source;
  certify::Certificate certificate = certify::certify(claims, {{variant, measured.tallies.back()}});
  certificate.run = run_json;
  return certificate;
}

// ---- files

namespace {

std::string csv_of(const report::TextTable& table) {
  std::string text;
  const auto add_cell = [&](std::size_t column, const std::string& cell) {
    text += (column > 0 ? "," : "") + report::csv_quoted(cell);
  };
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const report::Column& column = table.columns[j];
    add_cell(j, column.group.empty() ? column.header : column.group + ": " + column.header);
  }
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) add_cell(j, row[j]);
    text += '\n';
  }
  return text;
}

std::string verdict(const Comparison& comparison) {
  if (comparison.cells_compared == 0) return "The paper has no table of this metric.";
  return fmt::format("{} of {} bounds by the exact method are at least as tight as the paper's.",
                     comparison.cells_at_least_as_tight, comparison.cells_compared);
}

}  // namespace

void Output::write(const std::string& name, const std::string& content) {
  io::write_file_atomically(folder_ / name, content);
}

void Output::notice(const std::string& text) {
  if (text.empty() || std::count(notices_.begin(), notices_.end(), text) > 0) return;
  notices_.push_back(text);
  fmt::print(stderr, "surefoot: {}\n", text);
}

void Output::add(const Comparison& comparison) {
  const report::TextTable table = to_table(comparison);
  fmt::print("\n{}\n\n{}\n{}\n", comparison.title, report::to_text(table, "  "), verdict(comparison));
  std::string markdown =
      fmt::format("### {}\n\n{}\n{}\n", comparison.title, report::to_markdown(table), verdict(comparison));
  for (const std::string& line : comparison.differences) {
    fmt::print("{}", report::wrapped(line, 110, "  - ", "    "));
    markdown += fmt::format("{}- {}\n", &line == &comparison.differences.front() ? "\n" : "", line);
  }
  write(fmt::format("table_{}.md", comparison.slug), markdown);
  write(fmt::format("table_{}.csv", comparison.slug), csv_of(table));
}

void Output::add(const report::Figure& figure) {
  for (const auto& [format, ending] :
       {std::pair(report::ImageFormat::svg, ".svg"), std::pair(report::ImageFormat::pdf, ".pdf")}) {
    const report::Image image = report::render(figure, format);
    notice(image.notice);
    if (image.content) write(figure.name + ending, *image.content);
  }
}

void Output::add(const certify::Certificate& certificate, const std::string& subfolder,
                 const std::vector<report::PageFigure>& pictures) {
  const std::filesystem::path inside(subfolder);
  io::prepare_output_folder(folder_ / inside);
  const report::Report report = report::make_report(certificate, {}, pictures);
  for (const report::ReportFile& file : report.files) write((inside / file.name).string(), file.content);
  for (const std::string& text : report.notices) notice(text);
  write((inside / "certificate.json").string(), certify::to_json(certificate));
}

}  // namespace reproduce
