#include "surefoot/experiments/run_loop.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/rollouts.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/settings_json.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/json_dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>
#include <vector>

namespace surefoot::experiments {

using problems::Table;

namespace {

constexpr Index shown_rollouts = 40;

void require_increasing(const char* option, const std::vector<double>& numbers) {
  require(!numbers.empty(), "{}: is empty", option);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    require(std::isfinite(numbers[i]), "{}: {} is not finite", option, numbers[i]);
    require(i == 0 || numbers[i - 1] < numbers[i], "{}: {} does not come after {}; the list must increase",
            option, numbers[i], numbers[i - 1]);
  }
}

double mean_of(const Table& values, Index column) {
  double sum = 0;
  for (Index i = 0; i < values.rows(); ++i) sum += values(i, column);
  return sum / static_cast<double>(values.rows());
}

double observed_quantile(const Table& values, Index column, double share) {
  std::vector<double> sorted;
  for (Index i = 0; i < values.rows(); ++i) sorted.push_back(values(i, column));
  std::ranges::sort(sorted);
  return sorted[static_cast<std::size_t>(bounds::empirical_rank(values.rows(), share) - 1)];
}

}  // namespace

void LoopRunOptions::validate() const {
  require(ranks().count() == 1, "run loop: rollouts are run in one process; use threads");
  require(rollouts >= 1 && rollouts <= most_counted, "--rollouts: {} is outside 1 .. {}", rollouts,
          most_counted);
  require(ticks >= 1 && ticks < most_steps, "--ticks: {} is outside 1 .. {}", ticks, most_steps - 1);
  require(!limits.empty(), "--limits: is empty");
  for (std::size_t i = 0; i < limits.size(); ++i) {
    require(limits[i] >= 1 && limits[i] <= most_steps, "--limits: {} is outside 1 .. {}", limits[i],
            most_steps);
    require(i == 0 || limits[i - 1] < limits[i],
            "--limits: {} does not come after {}; the list must increase", limits[i], limits[i - 1]);
  }
  require(tube_limit == 0 || std::ranges::count(limits, tube_limit) > 0,
          "--tube-limit: {} is not one of --limits {}", tube_limit, fmt::join(limits, ","));
  require(tube_share >= 0 && tube_share < 1, "--tube-share: {} is outside (0, 1), and not 0 (the default)",
          tube_share);
  require(delta > 0 && delta < 1, "--confidence: {} is outside (0, 1)", 1 - delta);
  require(std::isfinite(exact_eps) && exact_eps > 0, "--exact-eps: {} must be > 0", exact_eps);
  require(exact_limit >= 1 && exact_limit <= most_steps, "--exact-limit: {} is outside 1 .. {}", exact_limit,
          most_steps);
  require_increasing("--shares", shares);
  require(shares.front() > 0 && shares.back() < 1, "--shares: {} is outside (0, 1)",
          shares.front() > 0 ? shares.back() : shares.front());
  require_increasing("--violation-tolerances", violation_tolerances);
  require_increasing("--cost-tolerances", cost_tolerances);
  require_increasing("--failed-tolerances", failed_tolerances);
  require_increasing("--series-tolerances", series_tolerances);
}

LoopRun::LoopRun(std::string family, families::FamilyFiles& files, const algorithms::OsqpOptions& osqp,
                 LoopRunOptions options)
    : family_(std::move(family)), files_(files), osqp_(osqp), options_(std::move(options)) {
  options_.validate();
  MemoryNeeds needs(options_.memory_limit);
  needs.add("rollouts", static_cast<double>(options_.rollouts) * static_cast<double>(Index{columns}));
  needs.require_fit();
  setup_ = read_loop(files_, options_.rollouts, options_.ticks, options_.seed, options_.start);
  require_memory();
  look_for_dependence();
}

void LoopRun::look_for_dependence() {
  runs::Disturbance& disturbance = setup_.plant.disturbance;
  const bool disturbed = disturbance.kind != runs::Disturbance::Kind::none;
  const bool one_for_all = (setup_.initial.rowwise() - setup_.initial.row(0)).isZero(0);
  files_.with_file_names([&] {
    require(!one_for_all || disturbed || options_.rollouts == 1,
            "initial: all {} rollouts begin at the same state and nothing disturbs them: they are one sample",
            options_.rollouts);
  });
  std::vector<std::pair<const char*, certify::Independence>> looked_at;
  const auto look = [&](const Table& rows, const char* name) {
    looked_at.emplace_back(name, certify::independence_of_rollouts(rows, options_.rollouts));
  };
  if (disturbance.kind == runs::Disturbance::Kind::rows) {
    disturbance.numbers.conservativeResize(options_.rollouts * options_.ticks, Eigen::NoChange);
    look(disturbance.numbers, "disturbances");
  }
  // One initial state for all is no sign of dependence where rollouts are disturbed.
  if (setup_.initial_from == "table" && !one_for_all) look(setup_.initial, "initial");
  if (looked_at.empty()) return;
  const char* name = looked_at.front().first;
  independence_ = looked_at.front().second;
  if (looked_at.size() > 1) {
    if (independence_->findings().empty()) name = looked_at.back().first;
    independence_ = certify::together(*independence_, looked_at.back().second);
  }
  files_.with_file_names([&] { independence_->require_none(name, options_.allow_dependence); });
}

io::Configuration LoopRun::data() const {
  io::Configuration data;
  for (const families::FamilyFiles::Read& read : files_.files())
    data.emplace_back("--" + read.name, read.sha256);
  return data;
}

std::vector<RerunFile> LoopRun::rerun_files() const {
  std::vector<RerunFile> read;
  for (const families::FamilyFiles::Read& file : files_.files())
    read.push_back({"--" + file.name, std::filesystem::path(file.file).filename().string(), file.sha256});
  return read;
}

void LoopRun::require_memory() const {
  MemoryNeeds needs(options_.memory_limit);
  const auto rollouts = static_cast<double>(options_.rollouts);
  const auto states = static_cast<double>(setup_.plant.A.rows());
  const auto n = static_cast<double>(setup_.model.problem.variables());
  const auto m = static_cast<double>(setup_.model.problem.constraints());
  needs.add("problems and iterates", rollouts * (2 * n + 4 * m + 4 * states));
  const double tube = states * (static_cast<double>(options_.ticks) + 1);
  const auto limits = static_cast<double>(options_.limits.size());
  // As a piece of the journal, and as its file is put together and written.
  const double kept = options_.checkpoints ? 3 : 0;
  // The states as they are run, as they are kept, those alone, and the tallies of both sides.
  needs.add("states of the tube", (5 + kept) * rollouts * tube);
  needs.add("numbers of rollouts",
            (2 + kept) * rollouts * static_cast<double>(Index{columns}) * (limits + 1));
  if (setup_.plant.disturbance.kind == runs::Disturbance::Kind::rows) {
    // The rows that are used, by rollout as dependence is looked for, and the plant's own.
    constexpr double copies = 3;
    needs.add("disturbances",
              copies * rollouts * static_cast<double>(options_.ticks) * static_cast<double>(states));
  }
  // rollouts.csv: as it grows, and as it is written.
  constexpr double line = 90;
  constexpr double texts = 4;
  needs.add_bytes("rollouts.csv", texts * line * rollouts * limits);
  CountedSizes sizes;
  sizes.columns = sizes.claimed = limits;
  sizes.quantiles = static_cast<double>(options_.shares.size());
  constexpr double kinds = 4;
  sizes.variants = kinds;
  for (const std::vector<double>* tolerances : {&options_.violation_tolerances, &options_.cost_tolerances,
                                                &options_.failed_tolerances, &options_.series_tolerances})
    sizes.tolerances = std::max(sizes.tolerances, static_cast<double>(tolerances->size()));
  needs.add_counts(sizes, options_.rollouts, 1, false);
  CountedSizes sides;
  sides.columns = sides.claimed = static_cast<double>(options_.ticks);
  sides.quantiles = sides.tolerances = 1;
  sides.variants = 2 * states;
  needs.add_counts(sides, options_.rollouts, 1, false);
  needs.require_fit();
}

Table LoopRun::run_limit(Index limit, bool exact, bool keep_states) {
  runs::ClosedLoopOptions how;
  how.osqp = osqp_;
  how.limit = limit;
  how.stop = options_.stop;
  how.start = options_.start;
  how.ticks = options_.ticks;
  how.interrupt = host().check;
  if (exact) {
    constexpr Index check = 10;
    how.osqp.eps_abs = how.osqp.eps_rel = options_.exact_eps;
    how.osqp.check_termination = check;
    how.stop = true;
  }
  const Index states = setup_.plant.A.rows();
  std::unique_ptr<runs::ClosedLoop> loop;
  files_.with_file_names(
      [&] { loop = std::make_unique<runs::ClosedLoop>(setup_.model, options_.rollouts, states, how); });
  if (!exact) settings_ = certify::settings_json(loop->op().settings());
  const runs::Plant plant = runs::linear_plant(setup_.plant, options_.rollouts);
  runs::RolloutValues values(setup_.task, options_.rollouts);
  Table result = Table::Zero(options_.rollouts, columns + (keep_states ? states * (options_.ticks + 1) : 0));
  if (keep_states) result.middleCols(columns, states) = setup_.initial;
  std::vector<char> never_failed(static_cast<std::size_t>(options_.rollouts), 1);
  Progress progress(exact ? std::string("exact loop") : fmt::format("loop with {} iterations", limit));
  loop->run(setup_.initial, plant, [&](const runs::LoopTick& tick) {
    values.add(tick);
    progress.update(static_cast<double>(tick.tick + 1), static_cast<double>(options_.ticks), "ticks");
    for (std::size_t i = 0; i < never_failed.size(); ++i)
      if (tick.solved[i] == 0) never_failed[i] = 0;
    if (!keep_states) return;
    auto kept = result.middleCols(columns + (tick.tick + 1) * states, states);
    for (Index i = 0; i < options_.rollouts; ++i) {
      if (tick.lost[static_cast<std::size_t>(i)] != 0) {
        kept.row(i).setConstant(infinity);
      } else {
        kept.row(i) = tick.next.row(i);
      }
    }
  });
  const std::vector<double> cost = values.cost();
  const std::vector<double> failed = values.failed_share();
  const double iterations =
      values.iterations() / static_cast<double>(options_.ticks) / static_cast<double>(options_.rollouts);
  for (Index i = 0; i < options_.rollouts; ++i) {
    const auto place = static_cast<std::size_t>(i);
    result(i, violation_column) = values.violation()[place];
    // An exact solve that did not get there is none.
    result(i, cost_column) = exact && never_failed[place] == 0 ? infinity : cost[place];
    result(i, failed_column) = failed[place];
    result(i, series_column) = values.longest_series()[place];
    result(i, iterations_column) = iterations;
  }
  return result;
}

certify::Certificate LoopRun::certify_values(const std::string& metric, const Table& values,
                                             const std::vector<double>& tolerances, double delta) const {
  certify::Options options;
  options.tolerances = tolerances;
  options.quantiles = options_.shares;
  options.delta = delta;
  options.metric = metric;
  options.title = fmt::format("Closed loop of {} ticks", options_.ticks);
  certify::Variant variant;
  variant.name = fmt::format("osqp, {} start", runs::name(options_.start));
  variant.source = "surefoot run loop";
  variant.independence = independence_;
  return certify::certify_rollouts(values, options_.limits, options_.ticks, options, variant);
}

double LoopRun::share_of_tube(double delta) const {
  if (options_.tube_share > 0) return options_.tube_share;
  return certify::share_of_tube(options_.rollouts, setup_.plant.A.rows(), options_.ticks, delta);
}

certify::Certificate LoopRun::certify_tube(const Table& loop, double share, double delta) const {
  certify::Variant variant;
  variant.source = "surefoot run loop";
  variant.independence = independence_;
  return certify::certify_tube(loop.rightCols(loop.cols() - columns), setup_.plant.A.rows(),
                               options_.limit_of_tube(), share, delta, variant);
}

std::string LoopRun::record() const {
  nlohmann::ordered_json run = nlohmann::ordered_json::parse(settings_);
  run["files"] = nlohmann::ordered_json::object();
  for (const families::FamilyFiles::Read& read : files_.files())
    run["files"][read.name] = {{"file", std::filesystem::path(read.file).filename().string()},
                               {"sha256", read.sha256}};
  run["loop"] = {{"rollouts", options_.rollouts},
                 {"ticks", options_.ticks},
                 {"limits", options_.limits},
                 {"limit_of_tube", options_.limit_of_tube()},
                 {"own_stopping_test", options_.stop},
                 {"start", std::string(runs::name(options_.start))},
                 {"seed", options_.seed},
                 {"initial", setup_.initial_from},
                 {"disturbance", setup_.disturbed_by},
                 {"exact_eps", options_.exact_eps},
                 {"exact_limit", options_.exact_limit}};
  return io::json_dump(run);
}

LoopResult LoopRun::run(certify::CountJournal& journal) {
  const auto count = static_cast<Index>(options_.limits.size());
  Table exact;
  if (setup_.task.has_cost())
    exact = kept_table(journal, [&] { return run_limit(options_.exact_limit, true, false); },
                       {options_.rollouts, columns});
  Table tube;
  Table violation(options_.rollouts, count);
  Table cost(options_.rollouts, count);
  Table failed(options_.rollouts, count);
  Table series(options_.rollouts, count);
  LoopResult result;
  report::LoopPicture& picture = result.picture;
  for (Index k = 0; k < count; ++k) {
    const Index limit = options_.limits[static_cast<std::size_t>(k)];
    const bool of_tube = limit == options_.limit_of_tube();
    const Index kept = of_tube ? setup_.plant.A.rows() * (options_.ticks + 1) : 0;
    Table loop = kept_table(journal, [&] { return run_limit(limit, false, of_tube); },
                            {options_.rollouts, columns + kept});
    violation.col(k) = loop.col(violation_column);
    failed.col(k) = loop.col(failed_column);
    series.col(k) = loop.col(series_column);
    if (setup_.task.has_cost()) {
      std::vector<double> own(static_cast<std::size_t>(options_.rollouts));
      std::vector<double> best(own.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        own[i] = loop(static_cast<Index>(i), cost_column);
        best[i] = exact(static_cast<Index>(i), cost_column);
      }
      const std::vector<double> excess = runs::excess_cost(own, best);
      for (std::size_t i = 0; i < own.size(); ++i) cost(static_cast<Index>(i), k) = excess[i];
    }
    report::LoopPicture::Limit& shown = picture.limits.emplace_back();
    shown = {limit, mean_of(loop, iterations_column), mean_of(failed, k),
             (loop.col(violation_column).array() == infinity).count()};
    if (setup_.task.has_cost()) {
      shown.excess = mean_of(cost, k);
      shown.median = observed_quantile(cost, k, 0.5);
      shown.high = observed_quantile(cost, k, report::LoopPicture::high_share);
    }
    if (of_tube) tube = std::move(loop);
  }
  if (settings_.empty()) {  // all of it was in a checkpoint
    runs::ClosedLoopOptions how;
    how.osqp = osqp_;
    how.limit = options_.limits.back();
    how.stop = options_.stop;
    how.start = options_.start;
    how.ticks = options_.ticks;
    const runs::ClosedLoop loop(setup_.model, 1, setup_.plant.A.rows(), how);
    settings_ = certify::settings_json(loop.op().settings());
  }

  const int parts = 3 + (setup_.task.has_bounds() ? 1 : 0) + (setup_.task.has_cost() ? 1 : 0);
  const double delta = options_.delta / parts;
  const auto add = [&](const char* folder, certify::Certificate certificate) {
    certificate.run = record();
    result.certificates.emplace_back(folder, std::move(certificate));
  };
  if (setup_.task.has_bounds())
    add("violation", certify_values(std::string(certify::violation_of_bounds), violation,
                                    options_.violation_tolerances, delta));
  if (setup_.task.has_cost())
    add("cost", certify_values("excess of the closed-loop cost", cost, options_.cost_tolerances, delta));
  add("failed", certify_values("share of failed ticks", failed, options_.failed_tolerances, delta));
  add("series", certify_values("longest series of failed ticks", series, options_.series_tolerances, delta));
  add("tube", certify_tube(tube, share_of_tube(delta), delta));

  const Index states = setup_.plant.A.rows();
  picture.family = family_;
  picture.rollouts = options_.rollouts;
  picture.ticks = options_.ticks;
  picture.delta = options_.delta;
  picture.tube_share = share_of_tube(delta);
  picture.tube_limit = options_.limit_of_tube();
  picture.start = runs::name(options_.start);
  for (Index state = 0; state < states; ++state) {
    report::LoopPicture::State& drawn = picture.states.emplace_back();
    if (setup_.task.state_lower.size() > 0) drawn.lower_bound = setup_.task.state_lower(0, state);
    if (setup_.task.state_upper.size() > 0) drawn.upper_bound = setup_.task.state_upper(0, state);
    for (Index i = 0; i < std::min(shown_rollouts, options_.rollouts); ++i) {
      std::vector<double>& course = drawn.rollouts.emplace_back();
      for (Index tick = 0; tick <= options_.ticks; ++tick)
        course.push_back(tube(i, columns + tick * states + state));
    }
  }
  result.rollouts = "rollout,limit,violation,excess_cost,failed_share,longest_series\n";
  for (Index i = 0; i < options_.rollouts; ++i) {
    for (Index k = 0; k < count; ++k) {
      result.rollouts += fmt::format(
          "{},{},{},{},{},{}\n", i, options_.limits[static_cast<std::size_t>(k)], violation(i, k),
          setup_.task.has_cost() ? fmt::format("{}", cost(i, k)) : "", failed(i, k), series(i, k));
    }
  }
  for (const auto& [folder, certificate] : result.certificates) {
    if (folder != "tube") result.summary.push_back(certify::summary_sentence(certificate));
  }
  return result;
}

}  // namespace surefoot::experiments
