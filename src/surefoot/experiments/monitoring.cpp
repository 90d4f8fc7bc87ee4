#include "surefoot/experiments/monitoring.hpp"

#include "surefoot/certify/claim_text.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/verifying.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/table_reader.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/monitoring/words.hpp"
#include "surefoot/report/watch_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

namespace surefoot::experiments {
namespace {

using io::LiveLines;
using monitoring::Alarm;
using monitoring::LineKind;
using monitoring::Watch;
using monitoring::WatchOptions;

constexpr std::size_t largest_state = std::size_t{16} << 20U;

WatchOptions watch_options_of(const WatchChoice& choice) {
  require_memory_of_certificates({choice.certificate}, choice.memory_limit);
  WatchOptions options = monitoring::watch_of(certify::read_held_certificate(choice.certificate.string()),
                                              choice.claims, choice.variant);
  options.rule = choice.rule;
  return options;
}

/// The column of the reference that is the metric of the stream.
std::size_t column_of(const io::TableReader& table, const MonitorOptions& options,
                      const WatchOptions& watch) {
  const std::string name = io::printable(options.reference.string());
  if (table.columns() == 1 && !options.reference_step) return 0;
  const certify::ColumnSteps columns =
      certify::steps_of_columns(table.header(), table.columns(), std::nullopt);
  const Index step = options.reference_step
                         ? *options.reference_step
                         : certify::parse_claim(watch.claims.back().text, certify::ShareIs::optional).step;
  const auto found = std::ranges::find(columns.steps, step);
  require(found != columns.steps.end(), "{}: has no column of step {}; --reference-step says which it is",
          name, step);
  return columns.skipped + static_cast<std::size_t>(found - columns.steps.begin());
}

std::vector<double> reference_of(const MonitorOptions& options, const WatchOptions& watch) {
  if (options.reference.empty()) return {};
  const std::unique_ptr<io::TableReader> table = io::TableReader::open(options.reference.string());
  const std::size_t column = column_of(*table, options, watch);
  const auto columns = static_cast<std::size_t>(table->columns());
  std::vector<double> values;
  io::RowBlock block;
  while (table->next(block)) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(block.rows); ++i)
      values.push_back(block.values[i * columns + column]);
    host().check();
  }
  return values;
}

/// A page in the folder of the certificate would replace it.
bool has_certificate(const MonitorOptions& options) {
  const std::filesystem::path folder = options.watch.certificate.parent_path();
  std::error_code none;
  return std::filesystem::equivalent(options.page, folder.empty() ? "." : folder, none);
}

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A watch, the files it keeps, and what it says.
class Session {
 public:
  Session(const MonitorOptions& options, WatchOptions watch,
          const std::function<void(const std::string&)>& print)
      : options_(options), watch_(std::move(watch)), print_(print) {
    if (!options_.state.empty() && std::filesystem::exists(options_.state))
      watch_.restore(io::read_file(options_.state, largest_state), io::printable(options_.state.string()));
    if (options_.replay) to_skip_ = watch_.lines();
  }

  [[nodiscard]] const Watch& watch() const { return watch_; }
  void say_what_is_watched() {
    keep();  // files that cannot be written are found before anything is said
    print_(options_.json ? monitoring::opening_json(watch_) : monitoring::opening_text(watch_));
  }
  /// True: it is to end here.
  bool line(std::string_view text) {
    if (to_skip_ > 0) {
      --to_skip_;
      return false;
    }
    if (watch_.kind_of(text) == LineKind::unreadable) about_unreadable(text);
    const Watch::Read read = watch_.read_line(text);
    kept_ = false;
    if (read.alarm) {
      print_(options_.json ? monitoring::alarm_json(watch_, watch_.last_alarm())
                           : monitoring::alarm_text(watch_, watch_.last_alarm()));
      keep();
      alarmed_ = true;
    }
    if (options_.every > 0 && read.kind != LineKind::gap && watch_.solves() % options_.every == 0)
      print_(options_.json ? monitoring::status_json(watch_, "status")
                           : fmt::format("solve {}: evidence {}\n", count_label(watch_.solves()),
                                         observed_value(watch_.evidence())));
    return read.alarm && !options_.keep_going;
  }
  void from_time_to_time() {
    if (!kept_ && now_in_seconds() - last_kept_ >= options_.seconds) keep();
  }
  void keep() {
    if (!options_.state.empty()) io::write_file_atomically(options_.state, watch_.saved());
    if (!options_.metrics.empty())
      io::write_file_atomically(options_.metrics, monitoring::prometheus_text(watch_));
    kept_ = true;
    last_kept_ = now_in_seconds();
  }
  void end_of_stream() {
    require(to_skip_ == 0, "standard input: ends {} lines before the place of {}", to_skip_,
            io::printable(options_.state.string()));
    keep();
    print_(options_.json ? monitoring::status_json(watch_, "end") : monitoring::end_text(watch_));
  }
  [[nodiscard]] bool alarmed() const { return alarmed_ || watch_.decided(); }

 private:
  void about_unreadable(std::string_view text) {
    const std::string what =
        fmt::format("standard input, line {}: '{}' is {}", watch_.lines() + 1, io::excerpt(text),
                    options_.outcomes ? "not 0 or 1" : "not a number");
    if (options_.refuse_unreadable) {
      keep();
      throw InputError(what);
    }
    if (!warned_)
      host().say(what + "; it counts as failed, as do others like it, whose number is given at the end");
    warned_ = true;
  }

  const MonitorOptions& options_;
  Watch watch_;
  const std::function<void(const std::string&)>& print_;
  Index to_skip_ = 0;
  bool kept_ = false;
  bool alarmed_ = false;
  bool warned_ = false;
  double last_kept_ = 0;
};

void watch_lines(Session& session, LiveLines& lines) {
  std::string_view line;
  for (Index count = 1;; ++count) {
    const LiveLines::Next next = lines.next(line);
    if (next == LiveLines::Next::end) return session.end_of_stream();
    if (next == LiveLines::Next::line && session.line(line)) return;
    constexpr Index lines_at_a_time = 256;
    if (next == LiveLines::Next::line && count % lines_at_a_time != 0) continue;
    session.from_time_to_time();
    if (!host().stopped()) continue;
    session.keep();
    host().check();
  }
}

}  // namespace

void WatchChoice::validate() const {
  rule.validate();
  for (const std::string& claim : claims) certify::parse_claim(claim, certify::ShareIs::optional);
  require(claims.size() <= SUREFOOT_MONITOR_CLAIMS, "{} claims are too many: a monitor has room for {}",
          claims.size(), SUREFOOT_MONITOR_CLAIMS);
}

void MonitorOptions::validate() const {
  watch.validate();
  require(!outcomes || watch.claims.size() == 1,
          "--outcomes: say with --claim which claim 0 and 1 are about");
  require(!outcomes || reference.empty(), "--reference: is of values of the metric, not of --outcomes");
  require(!reference_step || !reference.empty(), "--reference-step: needs --reference");
  require(!replay || !state.empty(), "--replay: needs --state, which says what was seen before");
  require(every >= 0, "--every: {} is below 0", every);
  require(seconds >= 0, "--state-seconds: {} is below 0", seconds);
}

bool monitor_stream(const MonitorOptions& options, LiveLines& lines,
                    const std::function<void(const std::string&)>& print) {
  options.validate();
  WatchOptions watch = watch_options_of(options.watch);
  watch.outcomes = options.outcomes;
  watch.reference = reference_of(options, watch);
  watch.seed = options.seed;
  std::unique_ptr<io::ResultFolder> folder;
  if (!options.page.empty()) {
    require(!has_certificate(options), "--out: {} is the folder of the certificate; say another one",
            io::printable(options.page.string()));
    folder = std::make_unique<io::ResultFolder>(options.page, report::is_file_of_watch);
  }
  Session session(options, std::move(watch), print);
  session.say_what_is_watched();
  if (session.watch().decided() && !options.keep_going) {
    const Alarm& alarm = session.watch().last_alarm();
    print(options.json ? monitoring::alarm_json(session.watch(), alarm)
                       : monitoring::alarm_text(session.watch(), alarm));
  } else {
    watch_lines(session, lines);
  }
  if (folder) {
    for (const std::string& notice : report::write_files(report::watch_report(session.watch()), *folder, {}))
      host().say(notice);
  }
  return session.alarmed();
}

void ExportOptions::validate() const {
  watch.validate();
  require(!c_file.empty(), "--c: say which file is to be written");
}

std::string export_monitor(const ExportOptions& options) {
  options.validate();
  const Watch watch(watch_options_of(options.watch));
  std::vector<monitoring::WatchedRate> rates;
  for (const monitoring::WatchedClaim& claim : watch.options().claims) rates.push_back(claim.rate);
  const monitoring::MonitorConstants constants(rates, watch.options().rule);
  std::vector<std::string> about{fmt::format("Certificate {}, variant {}, {}.", watch.options().certificate,
                                             watch.options().variant, watch.options().metric)};
  for (const monitoring::WatchedClaim& claim : watch.options().claims)
    about.push_back(monitoring::claim_words(claim));
  for (const std::string& sentence : monitoring::promise_of(watch)) about.push_back(sentence);
  io::write_file_atomically(options.c_file, monitoring::c_header(constants, options.name, about));
  std::string text = fmt::format("Written to {}: the constants {} for surefoot/monitor.h\n",
                                 io::printable(options.c_file.string()), options.name);
  for (const monitoring::WatchedClaim& claim : watch.options().claims)
    text += fmt::format("  - {}\n", monitoring::claim_words(claim));
  return text;
}

}  // namespace surefoot::experiments
