#include "surefoot/experiments/run_command.hpp"

#include "surefoot/certify/count_table.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/problems/matrix.hpp"
#include "surefoot/report/file_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

namespace surefoot::experiments {
namespace {

using CommandJson = nlohmann::ordered_json;

constexpr std::string_view seed_mark = "{seed}";
/// A program of which so many runs from the first on give no row is not what was meant.
constexpr Index runs_without_row = 20;
/// Rows are looked at for dependence after so many runs, and in the end: who must stop should hear it early.
constexpr Index first_dependence_look = 1024;

/// The last line that says something, for an error message.
std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  const std::size_t begin = text.rfind('\n');
  return io::excerpt(begin == std::string_view::npos ? text : text.substr(begin + 1), 120);
}

}  // namespace

std::string program_name(const std::vector<std::string>& command) {
  return std::filesystem::path(command.front()).filename().string();
}

std::vector<std::string> filled_in(std::vector<std::string> words,
                                   const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    const std::string mark = "{" + name + "}";
    for (std::string& word : words) {
      for (std::size_t at = word.find(mark); at != std::string::npos; at = word.find(mark, at + value.size()))
        word.replace(at, mark.size(), value);
    }
  }
  return words;
}

void CommandRunOptions::validate() const {
  require(!command.empty() && !command.front().empty(),
          "run command: there is no command; write it after --, as in: -- ./my-solver {{seed}}");
  require(
      std::ranges::any_of(command, [](const std::string& word) { return word.find(seed_mark) != word.npos; }),
      "run command: the command has no {{seed}}, so that every run would be of the same problem");
  require(!until || samples == 0, "--samples: it is for a fixed number of runs; with --until say --max-runs");
  require(until || samples >= 1,
          "run command: say how many runs, --samples N, or what for, --until \"99% below 1e-3\"");
  require(max_runs >= 1 && max_runs <= most_counted, "--max-runs: {} is outside 1 .. {}", max_runs,
          most_counted);
  require(samples <= most_counted, "--samples: {} is more than {}", samples, most_counted);
  require(first_seed >= 0 && first_seed <= most_counted, "--first-seed: {} is outside 0 .. {}", first_seed,
          most_counted);
  require(seconds > 0, "--time-limit: {} is not above 0", seconds);
  require(at_once >= 1 && at_once <= 1000, "--jobs: {} is outside 1 .. 1000", at_once);
  require(first_step >= 0 && first_step <= most_counted, "--first-step: {} is outside 0 .. {}", first_step,
          most_counted);
}

std::vector<std::string> CommandRunOptions::command_of(Index seed) const {
  return filled_in(command, {{"seed", fmt::to_string(seed)}});
}

std::optional<std::vector<double>> parse_row(std::string_view output) {
  const auto is_end = [](char c) { return c == '\n' || c == '\r'; };
  const auto is_gap = [](char c) { return c == ' ' || c == '\t'; };
  while (!output.empty() && (is_end(output.back()) || is_gap(output.back()))) output.remove_suffix(1);
  while (!output.empty() && (is_end(output.front()) || is_gap(output.front()))) output.remove_prefix(1);
  if (output.empty() || std::ranges::any_of(output, is_end)) return std::nullopt;
  std::vector<double> row;
  std::size_t at = 0;
  while (true) {
    std::size_t end = at;
    while (end < output.size() && output[end] != ',' && output[end] != ';' && !is_gap(output[end])) ++end;
    double value = 0;
    if (!io::parse_number(output.substr(at, end - at), value)) return std::nullopt;
    row.push_back(value);
    if (end == output.size()) return row;
    // One comma or semicolon with gaps around it, or a gap alone.
    while (end < output.size() && is_gap(output[end])) ++end;
    if (output[end] == ',' || output[end] == ';') ++end;
    while (end < output.size() && is_gap(output[end])) ++end;
    at = end;
  }
}

CommandRun::CommandRun(CommandRunOptions options, certify::Options claims)
    : options_(std::move(options)), given_(std::move(claims)) {
  options_.validate();
  given_.validate();
  require(!options_.until || given_.anytime(),
          "--until: what is waited for must hold at every number of runs (anytime)");
}

ProgramOutcome outcome_of(const ChildEnd& end) {
  using How = ChildEnd::How;
  const auto failed = [&](std::string how) {
    return ProgramOutcome{{}, std::move(how), last_line(end.errors)};
  };
  if (end.how == How::out_of_time) return failed("out of time");
  if (end.how == How::too_much_output) return failed("too much output");
  if (end.how == How::signalled) return failed(fmt::format("signal {}", end.code));
  if (end.code != 0) return failed(fmt::format("exit code {}", end.code));
  std::optional<std::vector<double>> row = parse_row(end.output);
  if (!row) return {{}, "no row of numbers", last_line(end.output.empty() ? end.errors : end.output)};
  return {std::move(*row), "", ""};
}

void CommandRun::know_columns(Index columns) {
  columns_ = columns;
  steps_.resize(static_cast<std::size_t>(columns));
  std::iota(steps_.begin(), steps_.end(), options_.first_step);
  if (options_.until) options_.until->require_recorded(steps_);
  claims_ = certify::resolved(given_, {steps_});
  MemoryNeeds needs(options_.memory_limit);
  needs.add_counts(CountedSizes::of(claims_, columns), options_.most_runs(), 1, false);
  // Most runs are often not made; what is made grows, is written once, and kept: as a piece of the journal,
  // and as its file is put together.
  const double copies = options_.checkpoints ? 5 : 3;
  needs.add("rows", copies * static_cast<double>(columns) *
                        static_cast<double>(options_.until ? runs_ + 1 : options_.samples));
  needs.require_fit();
  const runs::TallySpec spec = certify::tally_spec(claims_, steps_);
  tally_.emplace(spec);
  check_.emplace(steps_);
  if (options_.until)
    looks_.emplace(options_.until->share(), certify::delta_of_claims(claims_, spec, options_.until->kind()));
}

// A row of the tally, the check and the looks, in the order of the seeds.
void CommandRun::add_row(const double* row) {
  tally_->add_run(row, tally_->samples());
  check_->add(tally_->samples() - 1, row);
  if (looks_) looks_->add(options_.until->fails(steps_, row));
}

void CommandRun::add(ProgramOutcome outcome) {
  const bool first_row = outcome.failure.empty() && columns_ == 0;
  if (outcome.failure.empty() && columns_ > 0 && static_cast<Index>(outcome.row.size()) != columns_) {
    outcome.said = fmt::format("{} numbers, not {}", outcome.row.size(), columns_);
    outcome.failure = "another number of columns";
  }
  if (!outcome.failure.empty()) {
    Failures& failures = failures_[outcome.failure];
    if (failures.count++ == 0) {
      failures.first_seed = options_.first_seed + runs_;
      failures.first = outcome.said;
    }
  }
  if (first_row) {
    know_columns(static_cast<Index>(outcome.row.size()));
    values_.assign(static_cast<std::size_t>(runs_ * columns_), infinity);
    for (Index i = 0; i < runs_; ++i) add_row(values_.data() + i * columns_);
  }
  ++runs_;
  if (columns_ == 0) {
    require(runs_ < std::min(runs_without_row, options_.most_runs()),
            "run command: none of the first {} runs printed a row of numbers; {}", runs_, failures_text());
    return;
  }
  if (!outcome.failure.empty()) outcome.row.assign(static_cast<std::size_t>(columns_), infinity);
  values_.insert(values_.end(), outcome.row.begin(), outcome.row.end());
  add_row(outcome.row.data());
}

bool CommandRun::finished() const {
  return holds_ || runs_ >= options_.most_runs();
}

void CommandRun::look_for_dependence(bool allow) const {
  certify::Independence found = check_->result();
  found.require_none(fmt::format("rows of {}", io::printable(program_name(options_.command))), allow);
}

certify::Certificate CommandRun::certificate() const {
  certify::Variant variant;
  variant.name = program_name(options_.command);
  variant.source = "surefoot run command";
  return certify::certify(claims_, {{variant, *tally_}});
}

void CommandRun::make_runs(certify::CountJournal& journal) {
  ChildPrograms programs({.seconds = options_.seconds});
  std::map<Index, ProgramOutcome> waiting;  // ended before those with smaller numbers
  Index begun = runs_;
  const std::string name = program_name(options_.command);
  const WholeProgress standing([&] {
    if (!looks_) return std::string();
    return fmt::format("{} failed; {} is certified, {} wanted", count_label(looks_->failures()),
                       lower_bound_percent(looks_->certified()), percent_label(options_.until->share()));
  });
  Progress progress("running " + io::printable(name));
  Index next_look = looks_ ? looks_->next_look() : 0;
  const auto look = [&] {
    if (runs_ == first_dependence_look && columns_ > 0) look_for_dependence(options_.allow_dependence);
    if (!looks_) return;
    // Of the failures before this run; with it they can only be more, and then it is too early.
    if (runs_ >= next_look && looks_->certified() > 0) holds_ = options_.until->holds(certificate());
    next_look = looks_->next_look();
  };
  while (!finished()) {
    while (programs.running() < static_cast<std::size_t>(options_.at_once) && begun < options_.most_runs()) {
      programs.begin(begun, options_.command_of(options_.first_seed + begun));
      ++begun;
    }
    for (const ChildEnd& end : programs.wait([&] { journal.interrupt(); }))
      waiting.emplace(end.number, outcome_of(end));
    for (auto next = waiting.find(runs_); next != waiting.end() && !finished(); next = waiting.find(runs_)) {
      ProgramOutcome outcome = std::move(next->second);
      waiting.erase(next);
      const bool knew = looks_.has_value();
      add(std::move(outcome));
      if (!knew && looks_) next_look = std::min(runs_, looks_->next_look());
      look();
    }
    progress.update(
        static_cast<double>(runs_),
        static_cast<double>(looks_ ? std::min(next_look, options_.most_runs()) : options_.most_runs()),
        "runs");
    if (journal.keeps() && journal.due()) journal.keep(state());
  }
}

CommandResult CommandRun::count(certify::CountJournal& journal) {
  if (const std::optional<std::string> left = journal.begin()) restore(*left);
  try {
    make_runs(journal);
  } catch (const Interrupted&) {
    if (journal.keeps()) journal.keep(state());
    throw;
  }
  if (journal.keeps()) journal.keep(state());
  CommandResult result;
  result.decided = !options_.until || holds_;
  result.certificate = certificate();
  certify::Variant& variant = result.certificate.variants.front();
  variant.independence = check_->result();
  variant.independence->require_none(fmt::format("rows of {}", io::printable(variant.name)),
                                     options_.allow_dependence);
  using Rows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  result.traces = io::npy_bytes(Rows(values_.data(), runs_, columns_));
  variant.source = report::file_names::traces;
  variant.sha256 = io::sha256_hex(result.traces);
  variant.reading = {certify::unlabelled_columns({steps_.front(), steps_.back()})};
  result.certificate.run = record();
  if (!failures_.empty()) result.failures_line = "Counted as failed: " + failures_text();
  if (options_.until) result.until_line = certify::standing_of(*options_.until, *looks_, holds_);
  return result;
}

std::string CommandRun::failures_text() const {
  std::vector<std::string> parts;
  for (const auto& [how, failures] : failures_) {
    parts.push_back(fmt::format("{} {} (first of seed {}{}{})", count_label(failures.count), how,
                                failures.first_seed, failures.first.empty() ? "" : ": ", failures.first));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string CommandRun::record() const {
  CommandJson run{
      {"command", options_.command},
      {"first_seed", options_.first_seed},
      {"runs", runs_},
      {"time_limit", options_.seconds < infinity ? CommandJson(options_.seconds) : CommandJson(nullptr)},
      {"failed", CommandJson::object()}};
  for (const auto& [how, failures] : failures_)
    run["failed"][how] = {{"runs", failures.count}, {"first_seed", failures.first_seed}};
  if (options_.until) {
    run["until"] = options_.until->text();
    run["max_runs"] = options_.max_runs;
    run["holds"] = holds_;
  }
  return io::json_dump(run);
}

std::string CommandRun::state() const {
  ByteWriter to;
  to.number(runs_);
  to.number(columns_);
  to.list(values_);
  to.number(static_cast<Index>(failures_.size()));
  for (const auto& [how, failures] : failures_) {
    to.text(how);
    to.number(failures.count);
    to.number(failures.first_seed);
    to.text(failures.first);
  }
  return to.take();
}

void CommandRun::restore(const std::string& state) {
  ByteReader from(state, "runs of a checkpoint");
  const auto runs = from.number<Index>();
  const auto columns = from.number<Index>();
  std::vector<double> values = from.list<double>();
  const auto kinds = from.number<Index>();
  for (Index i = 0; i < kinds; ++i) {
    const std::string how = from.text();
    Failures& failures = failures_[how];
    failures.count = from.number<Index>();
    failures.first_seed = from.number<Index>();
    failures.first = from.text();
  }
  from.finish();
  require(runs >= 0 && columns >= 0 &&
              static_cast<Index>(values.size()) == checked_product("runs", runs, columns),
          "runs of a checkpoint: {} numbers for {} runs of {}", values.size(), runs, columns);
  runs_ = runs;
  if (columns > 0) know_columns(columns);
  values_ = std::move(values);
  // They were looked at one after the other; none was enough, but for the last.
  for (Index i = 0; i < runs_ && columns_ > 0; ++i) add_row(values_.data() + i * columns_);
  if (looks_ && looks_->certified() > 0) holds_ = options_.until->holds(certificate());
}

}  // namespace surefoot::experiments
