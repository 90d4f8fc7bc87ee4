#include "surefoot/experiments/tune_command.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/family_key.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/child_programs.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace surefoot::experiments {
namespace {

using TuneCommandJson = nlohmann::ordered_json;

/// Settings that are tried to learn how long rows are.
constexpr std::size_t first_tries = 20;

bool has_mark(const std::vector<std::string>& command, const std::string& name) {
  const std::string mark = "{" + name + "}";
  return std::ranges::any_of(command, [&](const std::string& word) { return word.find(mark) != word.npos; });
}

}  // namespace

void CommandTuneOptions::validate() const {
  tune.validate();
  require(
      !command.empty() && !command.front().empty(),
      "tune command: there is no command; write it after --, as in: -- ./my-solver --rho {{rho}} {{seed}}");
  require(has_mark(command, "seed"),
          "tune command: the command has no {{seed}}, so that every run would be of the same problem");
  require(!over.empty(), "--over: say what to search, as in --over rho=1e-3:1e3:log");
  for (const SettingAxis& axis : parse_axes("--over", over, {})) {
    require(axis.name != "seed", "--over: seed is the number of the problem");
    require(has_mark(command, axis.name), "--over: the command has no {{{}}}", axis.name);
  }
  require(samples >= 1 && samples <= most_counted, "--samples: say how many problems, 1 .. {}", most_counted);
  require(first_seed >= 0 && first_seed <= most_counted, "--first-seed: {} is outside 0 .. {}", first_seed,
          most_counted);
  require(seconds > 0, "--time-limit: {} is not above 0", seconds);
  require(at_once >= 1 && at_once <= 1000, "--jobs: {} is outside 1 .. 1000", at_once);
  require(first_step >= 0 && first_step <= most_counted, "--first-step: {} is outside 0 .. {}", first_step,
          most_counted);
  (void)split_problems(samples, tune, !defaults.empty());
}

CommandTunable::CommandTunable(CommandTuneOptions options, Interrupt interrupt)
    : options_(std::move(options)),
      interrupt_(std::move(interrupt)),
      space_((options_.validate(), parse_axes("--over", options_.over, {}))) {
  if (!options_.defaults.empty())
    default_ = space_.candidate_of("--default", parse_setting_texts("--default", options_.defaults));
  require_memory(1);  // before any run, then with the length of their rows
  learn_steps();
  require_memory(static_cast<Index>(steps_.size()));
}

void CommandTunable::require_memory(Index columns) const {
  MemoryNeeds needs(options_.memory_limit);
  add_tuning(needs, space_, options_.samples, columns, options_.tune, default_.has_value());
  needs.add("rows", 3 * static_cast<double>(runs_of_piece()) * static_cast<double>(columns));
  needs.require_fit();
}

std::vector<std::string> CommandTunable::command_with(const SettingTexts& settings) const {
  return filled_in(options_.command, settings);
}

std::vector<ProgramOutcome> CommandTunable::outcomes(const std::vector<Job>& jobs) {
  std::vector<ProgramOutcome> all(jobs.size());
  ChildPrograms programs({.seconds = options_.seconds});
  std::size_t begun = 0;
  while (begun < jobs.size() || programs.running() > 0) {
    while (begun < jobs.size() && programs.running() < static_cast<std::size_t>(options_.at_once)) {
      const Job& job = jobs[begun];
      const std::string seed = fmt::to_string(options_.first_seed + job.problem);
      programs.begin(static_cast<Index>(begun),
                     filled_in(command_with(space_.texts(job.candidate)), {{"seed", seed}}));
      ++begun;
    }
    for (const ChildEnd& end : programs.wait(interrupt_))
      all[static_cast<std::size_t>(end.number)] = outcome_of(end);
  }
  return all;
}

void CommandTunable::add(FailuresByKind& to, const std::string& how, const Failures& failures) {
  const auto [place, is_new] = to.emplace(how, failures);
  if (!is_new) place->second.count += failures.count;
}

void CommandTunable::count_failure(const ProgramOutcome& outcome, Index seed) {
  const Failures one{1, seed, outcome.said};
  add(failures_, outcome.failure, one);
  add(noted_, outcome.failure, one);
}

std::string CommandTunable::take_notes() {
  ByteWriter to;
  to.number(static_cast<Index>(noted_.size()));
  for (const auto& [how, failures] : noted_) {
    to.text(how);
    to.number(failures.count);
    to.number(failures.first_seed);
    to.text(failures.first);
  }
  noted_.clear();
  return to.take();
}

void CommandTunable::add_notes(std::string_view notes) {
  ByteReader from(notes, "failed runs of a checkpoint");
  const auto kinds = from.number<Index>();
  for (Index i = 0; i < kinds; ++i) {
    const std::string how = from.text();
    Failures failures;
    failures.count = from.number<Index>();
    failures.first_seed = from.number<Index>();
    failures.first = from.text();
    add(failures_, how, failures);
  }
  from.finish();
}

void CommandTunable::learn_steps() {
  std::vector<Job> jobs;
  if (default_) jobs.push_back({*default_, 0});
  const std::vector<SettingValues> grid = space_.coarse_grid();
  const std::size_t tries = std::min(first_tries, grid.size());
  for (std::size_t i = 0; i < tries; ++i) jobs.push_back({grid[i * grid.size() / tries], 0});
  for (const ProgramOutcome& outcome : outcomes(jobs)) {
    if (!outcome.failure.empty()) {
      count_failure(outcome, options_.first_seed);
    } else if (steps_.empty()) {
      steps_.resize(outcome.row.size());
      std::iota(steps_.begin(), steps_.end(), options_.first_step);
    }
  }
  require(!steps_.empty(), "tune command: none of {} settings printed a row of numbers for seed {}; {}",
          jobs.size(), options_.first_seed, failures_text());
  require(
      steps_.back() >= 1,
      "--first-step: a row of one number, at step 0, has no iterations to make fewer; leave --first-step at 1");
  failures_.clear();  // they are made again
  noted_.clear();
}

std::vector<double> CommandTunable::row_of(ProgramOutcome outcome, Index problem) {
  if (outcome.failure.empty() && outcome.row.size() != steps_.size()) {
    outcome.said = fmt::format("{} numbers, not {}", outcome.row.size(), steps_.size());
    outcome.failure = "another number of columns";
  }
  if (outcome.failure.empty()) return std::move(outcome.row);
  count_failure(outcome, options_.first_seed + problem);
  return std::vector<double>(steps_.size(), infinity);
}

std::vector<std::vector<double>> CommandTunable::times(const std::vector<TuneWork>& works, double tolerance) {
  std::vector<Job> jobs;
  for (const TuneWork& work : works) {
    for (const Index problem : work.problems) jobs.push_back({work.candidate, problem});
  }
  std::vector<ProgramOutcome> ends = outcomes(jobs);
  std::vector<std::vector<double>> all;
  std::size_t next = 0;
  for (const TuneWork& work : works) {
    all.emplace_back();
    for (const Index problem : work.problems) {
      const std::vector<double> row = row_of(std::move(ends[next++]), problem);
      all.back().push_back(settling_step(row.data(), steps_, tolerance));
    }
  }
  return all;
}

TuneTraces CommandTunable::traces(const std::optional<SettingValues>& candidate, Part problems) {
  std::vector<Job> jobs;
  for (Index problem = problems.first; problem < problems.end(); ++problem)
    jobs.push_back({candidate ? *candidate : *default_, problem});
  std::vector<ProgramOutcome> ends = outcomes(jobs);
  TuneTraces traces;
  traces.steps = steps_;
  traces.values.resize(problems.count, static_cast<Index>(steps_.size()));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::vector<double> row = row_of(std::move(ends[i]), jobs[i].problem);
    std::copy(row.begin(), row.end(), traces.values.row(static_cast<Index>(i)).data());
  }
  return traces;
}

std::string CommandTunable::failures_text() const {
  std::vector<std::string> parts;
  for (const auto& [how, failures] : failures_) {
    parts.push_back(fmt::format("{} {} (first of seed {}{}{})", count_label(failures.count), how,
                                failures.first_seed, failures.first.empty() ? "" : ": ", failures.first));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string tune_command_record(const CommandTunable& subject, const CommandTuneOptions& options,
                                const TuneResult& result) {
  TuneCommandJson run{{"command", options.command},
                      {"first_seed", options.first_seed + result.split.certified.first},
                      {"runs", result.split.certified.count},
                      {"time_limit", options.seconds},
                      {"search", TuneCommandJson::parse(search_record(subject, options.tune, result, false))},
                      {"default", options.defaults},
                      {"tuned", to_text(result.winner)}};
  return io::json_dump(run);
}

certify::SampleRange seeds_of_command(const CommandTuneOptions& options, Part problems) {
  ByteWriter words;
  for (const std::string& word : options.command) words.text(word);
  const FamilyKey key{"command", {{"words", io::sha256_hex(words.take())}}};
  return {key.text(), 0, certify::data_set, options.first_seed + problems.first, problems.count};
}

certify::Independence independence_of_rows(const TuneTraces& traces, const std::string& name, bool allow) {
  certify::DependenceCheck check(traces.steps);
  for (Index i = 0; i < traces.values.rows(); ++i) check.add(i, traces.values.row(i).data());
  certify::Independence found = check.result();
  found.require_none(fmt::format("rows of {}", io::printable(name)), allow);
  return found;
}

}  // namespace surefoot::experiments
