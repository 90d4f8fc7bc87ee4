#include "surefoot/core/error.hpp"

#include "begin_work.hpp"
#include "exit_codes.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "watch_options.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

namespace {

using namespace surefoot;

/// At once: whoever reads it waits for it.
void print_now(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw ResourceError("cannot write to standard output");
}

ExitCode monitor(const experiments::MonitorOptions& options) {
  options.validate();
  begin_work();
  const StopSignals stops(options.state.empty()
                              ? "nothing is kept: --state keeps the evidence"
                              : "the same command continues with the next line of the stream");
  io::LiveLines lines(STDIN_FILENO, "standard input");
  return experiments::monitor_stream(options, lines, print_now) ? refuted : holds;
}

}  // namespace

void add_monitor_verb(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<experiments::MonitorOptions>();
  CLI::App* verb = app.add_subcommand(
      "monitor", "Watch solves in service, on standard input, and say when a certificate no longer holds");
  add_watch_options(*verb, options->watch);
  verb->add_flag("--outcomes", options->outcomes,
                 "lines are 0 and 1, which is a failure of the one claim [the metric of each solve]");
  verb->add_flag("--keep-going", options->keep_going, "continue after an alarm, with new evidence");
  verb->add_flag("--refuse-unreadable", options->refuse_unreadable,
                 "end with exit code 2 at a line that is no number [it counts as failed]");
  verb->add_option(
      "--reference", options->reference,
      "table with values of the metric from when all was well: any change of its distribution is "
      "watched too");
  verb->add_option("--reference-step", options->reference_step,
                   "the step of its column [the step of the last claim]")
      ->check(whole_number);
  verb->add_option("--seed", options->seed, "of the order of equal values, with --reference")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--state", options->state,
                   "file that keeps the evidence; if it exists, monitoring resumes from it");
  verb->add_flag("--replay", options->replay,
                 "the stream begins again: skip the lines that the state has seen");
  verb->add_option("--state-seconds", options->seconds, "between two writes of --state and --metrics")
      ->check(finite_nonnegative)
      ->capture_default_str();
  verb->add_option("--metrics", options->metrics, "file for Prometheus, replaced from time to time");
  verb->add_flag("--json", options->json, "JSON lines on standard output: start, alarm, status, end");
  verb->add_option("--every", options->every, "say the evidence every so many solves [only at the end]")
      ->check(at_least_one);
  verb->add_option("--out", options->page, "at the end, a page with the evidence over time in this folder");
  verb->footer(
      "Example: tail -n +1 -F residuals.log | surefoot monitor surefoot-report/certificate.json --claim \"99% "
      "below 1e-3 after 20\" --state monitor.state\n"
      "A line is the metric of one solve. NaN and what is no number count as failed; blank lines are no "
      "solves. All are counted and reported.\n"
      "Exit code 0: the stream ended without an alarm; 1: there was one.");
  verb->callback([options, &exit_code] { exit_code = monitor(*options); });
}
