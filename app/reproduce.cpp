#include "reproduce.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text.hpp"

#include "say.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace reproduce {

using namespace surefoot;

namespace {

constexpr double certificate_delta = 0.01;

// ---- counting

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

  void add(const paper::Row& row) {
    ComparisonRow ours;
    ours.quantile = row.percent / 100.0;
    ours.paper_tolerance = row.tolerance;
    ours.tolerance = row.tolerance * plan_.tolerance_factor;
    tolerance_ = tolerance_index(ours.tolerance);
    if (plan_.same_metric) ours.paper_observed = row.observed;
    if (plan_.same_metric && row.worst_case != paper::no_worst_case) ours.paper_worst_case = row.worst_case;
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

  void add_cell(ComparisonRow& row, const paper::Row& paper_row, std::size_t size) {
    const runs::Tally& tally = measured_.tallies[size];
    const Index n = tally.samples();
    Cell cell;
    if (plan_.same_metric && paper::bound_from(paper_row, n) != paper::none) {
      cell.paper = paper::bound_from(paper_row, n);
    }
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
    const auto known = std::find(paper::sample_sizes.begin(), paper::sample_sizes.end(), n);
    if (!plan_.same_metric || known == paper::sample_sizes.end()) return;
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

std::vector<Index> nested_sizes(Index samples) {
  std::vector<Index> sizes;
  for (const Index size : paper::sample_sizes) {
    if (size < samples) sizes.push_back(size);
  }
  sizes.push_back(samples);
  return sizes;
}

std::vector<Measured> measure(const algorithms::Operator& op, const std::vector<Subject>& subjects,
                              const runs::RunOptions& options, certify::CountJournal& journal) {
  std::vector<Measured> measured;
  std::vector<runs::TallySpec> specs;  // of a subject's rings: samples up to a size and beyond the one before
  std::vector<runs::Metric> metrics;
  const std::vector<Index> sizes = nested_sizes(op.instances());
  for (const Subject& subject : subjects) {
    const std::vector<Index> steps = certify::recorded_steps(subject.metric, options.steps);
    const certify::Options claims = claims_of(subject, steps);
    specs.insert(specs.end(), sizes.size(), certify::tally_spec(claims, steps));
    metrics.push_back(subject.metric);
    measured.push_back({subject, claims, sizes, {}});
  }
  certify::RunCounter counter(specs, &journal);
  counter.run_grouped(op, metrics, {}, options, [&](std::size_t metric, Index instance) {
    const auto ring = std::upper_bound(sizes.begin(), sizes.end(), instance) - sizes.begin();
    return metric * sizes.size() + static_cast<std::size_t>(ring);
  });
  std::vector<runs::Tally> rings = counter.finish_groups();
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (i % sizes.size() > 0) rings[i].merge(rings[i - 1]);
    measured[i / sizes.size()].tallies.push_back(rings[i]);
  }
  return measured;
}

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
  for (const paper::Row& row : plan.table) comparer.add(row);
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

// ---- figures

namespace {

constexpr std::size_t most_points = 250;

report::Axis step_axis(const Measured& measured) {
  report::Axis axis{"iteration", measured.tallies.back().spec().steps.back() > 2000, false, 0, 1};
  axis.low = axis.logarithmic ? 1 : 0;
  axis.high = static_cast<double>(measured.tallies.back().spec().steps.back());
  return axis;
}

/// Every column, or columns spread evenly along the axis.
std::vector<std::size_t> drawn_columns(const Measured& measured, bool logarithmic) {
  const std::size_t all = measured.tallies.back().spec().steps.size();
  std::vector<std::size_t> columns;
  const std::size_t points = std::min(all, most_points);
  for (std::size_t i = 0; i < points; ++i) {
    const double share = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 0;
    const auto last = static_cast<double>(all - 1);
    const auto column =
        static_cast<std::size_t>(std::llround(logarithmic ? std::pow(last + 1, share) - 1 : share * last));
    if (columns.empty() || columns.back() < column) columns.push_back(column);
  }
  return columns;
}

const std::vector<std::string>& line_styles() {
  static const std::vector<std::string> styles{"observed, all samples", "exact", "the paper's method"};
  return styles;
}

report::Curve success_curve(const runs::Tally& tally, std::size_t tolerance,
                            const std::vector<std::size_t>& columns, const bounds::RiskMethod* method) {
  report::Curve curve;
  for (const std::size_t column : columns) {
    const Index failures = tally.failures(column, tolerance);
    const double share =
        method != nullptr
            ? bounds::success_lower_bound(failures, tally.samples(), claim_delta, *method)
            : static_cast<double>(tally.samples() - failures) / static_cast<double>(tally.samples());
    curve.points.push_back({static_cast<double>(tally.spec().steps[column]), share});
  }
  return curve;
}

/// Upper bounds on a quantile at the claim columns; without a bound the line is interrupted.
double observed_quantile(const runs::ValueStore& values, double quantile) {
  return values.order_statistic(bounds::empirical_rank(values.size(), quantile));
}
double exact_quantile(const runs::ValueStore& values, double quantile) {
  const Index rank = bounds::order_statistic_rank(values.size(), quantile, quantile_delta);
  return rank > 0 ? values.order_statistic(rank) : infinity;
}
double paper_quantile(const runs::ValueStore& values, double quantile, const std::vector<double>& grid) {
  std::vector<Index> failures;
  failures.reserve(grid.size());
  for (const double tolerance : grid) failures.push_back(values.size() - values.count_below(tolerance));
  const auto found =
      bounds::grid_quantile(failures, values.size(), quantile, quantile_delta, bounds::RiskMethod::kl);
  return found ? grid[*found] : infinity;
}

template <class Value>
report::Curve quantile_curve(const runs::Tally& tally, const Value& value) {
  report::Curve curve;
  for (std::size_t i = 0; i < tally.spec().claim_columns.size(); ++i) {
    const Index step = tally.spec().steps[tally.spec().claim_columns[i]];
    curve.points.push_back({static_cast<double>(step), value(tally.values(i))});
  }
  return curve;
}

report::Curve styled(report::Curve curve, std::string name, std::size_t hue, std::size_t dash) {
  curve.name = std::move(name);
  curve.hue = hue;
  curve.dash = dash;
  return curve;
}

std::string size_label(Index n) {
  return fmt::format("N = {}", n);
}

}  // namespace

report::Figure success_figure(const Measured& measured) {
  report::Figure figure;
  figure.name = "success_" + measured.subject.slug;
  figure.title = fmt::format("Share of problems with {} below a tolerance", measured.subject.metric.name);
  figure.x = step_axis(measured);
  figure.y = {"share of problems", false, true, 0, 1};
  figure.styles = line_styles();
  const std::vector<std::size_t> columns = drawn_columns(measured, figure.x.logarithmic);
  const auto exact = bounds::RiskMethod::exact;
  const auto kl = bounds::RiskMethod::kl;
  for (std::size_t t = measured.subject.tolerances.size(); t-- > 0;) {
    report::Panel panel{fmt::format("below {}{}", exact_label(measured.subject.tolerances[t]),
                                    measured.subject.metric.unit.empty() ? "" : " dB"),
                        {}};
    const std::size_t sizes = measured.sizes.size();
    panel.curves.push_back(
        styled(success_curve(measured.tallies.back(), t, columns, nullptr), "", sizes - 1, 0));
    for (std::size_t i = 0; i < sizes; ++i) {
      panel.curves.push_back(styled(success_curve(measured.tallies[i], t, columns, &kl), "", i, 2));
      panel.curves.push_back(styled(success_curve(measured.tallies[i], t, columns, &exact),
                                    size_label(measured.sizes[i]), i, 1));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

report::Figure quantile_figure(const Measured& measured) {
  const bool decibels = measured.subject.metric.unit == "dB";
  const std::vector<double> grid = decibels ? bounds::decibel_grid() : bounds::residual_grid();
  report::Figure figure;
  figure.name = "quantiles_" + measured.subject.slug;
  figure.title = fmt::format("Quantiles of the {}", measured.subject.metric.name);
  figure.x = step_axis(measured);
  figure.y = decibels ? report::Axis{measured.subject.metric.name + " (dB)", false, false, -40, 0}
                      : report::Axis{measured.subject.metric.name, true, false, 1e-6, 1e1};
  figure.styles = line_styles();
  for (const double quantile : table_quantiles) {
    report::Panel panel{percent_label(quantile) + " of problems", {}};
    const std::size_t sizes = measured.sizes.size();
    panel.curves.push_back(styled(
        quantile_curve(measured.tallies.back(),
                       [&](const runs::ValueStore& values) { return observed_quantile(values, quantile); }),
        "", sizes - 1, 0));
    for (std::size_t i = 0; i < sizes; ++i) {
      const runs::Tally& tally = measured.tallies[i];
      panel.curves.push_back(styled(
          quantile_curve(
              tally, [&](const runs::ValueStore& values) { return paper_quantile(values, quantile, grid); }),
          "", i, 2));
      panel.curves.push_back(
          styled(quantile_curve(
                     tally, [&](const runs::ValueStore& values) { return exact_quantile(values, quantile); }),
                 size_label(measured.sizes[i]), i, 1));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

// ---- files

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

std::string to_csv(const report::TextTable& table) {
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

namespace {

std::string verdict(const Comparison& comparison) {
  if (!comparison.has_paper) return "The paper has no table of this metric.";
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
  say(text);
}

void Output::add(const Comparison& comparison) {
  const report::TextTable table = to_table(comparison);
  fmt::print("\n{}\n\n{}\n{}\n", comparison.title, report::to_text(table, "  "), verdict(comparison));
  std::string markdown =
      fmt::format("### {}\n\n{}\n{}\n", comparison.title, report::to_markdown(table), verdict(comparison));
  if (!comparison.worst_case_note.empty()) {
    fmt::print("{}", report::wrapped(comparison.worst_case_note, 110, "", ""));
    markdown += fmt::format("\n{}\n", comparison.worst_case_note);
  }
  for (const std::string& line : comparison.differences) {
    fmt::print("{}", report::wrapped(line, 110, "  - ", "    "));
    markdown += fmt::format("{}- {}\n", &line == &comparison.differences.front() ? "\n" : "", line);
  }
  write(fmt::format("table_{}.md", comparison.slug), markdown);
  std::vector<std::string> remarks{verdict(comparison)};
  if (!comparison.worst_case_note.empty()) remarks.push_back(comparison.worst_case_note);
  remarks.insert(remarks.end(), comparison.differences.begin(), comparison.differences.end());
  add_table({comparison.slug, comparison.title, table, std::move(remarks)});
}

void Output::add_table(const report::ResultTable& table) {
  write(fmt::format("table_{}.csv", table.slug), to_csv(table.table));
  write(fmt::format("table_{}.tex", table.slug), report::to_latex(table.table));
  record_.tables.push_back(table);
}

void Output::add(const report::Figure& figure) {
  report::Report papers;
  add_figure(papers, figure);
  add(papers, "");
  report::Figure named = figure;
  named.name = id_of(figure.name);
  record_.figures.push_back(report::static_figure(named));
  notice(record_.figures.back().notice);
}

void Output::add_image(const report::Image& image, const std::string& name) {
  notice(image.notice);
  if (image.content) write(name, *image.content);
}

void Output::add(certify::Certificate certificate, const std::string& subfolder,
                 const std::vector<report::PageFigure>& pictures, bool main) {
  certificate.rerun = rerun_(subfolder);
  io::prepare_output_folder(folder_ / subfolder);
  add(report::make_report(certificate, {}, pictures), subfolder);
  const std::string text = certify::to_json(certificate);
  write((std::filesystem::path(subfolder) / "certificate.json").string(), text);
  record_.certificates.push_back({subfolder, io::sha256_hex(text), main});
}

void Output::add(const report::Report& report, const std::string& subfolder) {
  for (const report::ReportFile& file : report.files) {
    const std::filesystem::path name = std::filesystem::path(subfolder) / file.name;
    if (ranks().first()) std::filesystem::create_directories((folder_ / name).parent_path());
    write(name.string(), file.content);
  }
  for (const std::string& text : report.notices) notice(text);
}

}  // namespace reproduce
