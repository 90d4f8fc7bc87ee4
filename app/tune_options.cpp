#include "tune_options.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/tune_files.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/picture.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text.hpp"

#include "say.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

using namespace surefoot;
using namespace surefoot::experiments;

namespace {

/// "60s", "5min", "2h" or a number of seconds.
double parse_seconds(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("0123456789.eE+-");
  const std::string unit = digits == std::string::npos ? "s" : text.substr(digits);
  double value = 0;
  require(io::parse_number(text.substr(0, digits), value) && value > 0 && value < 1e9 &&
              (unit == "s" || unit == "min" || unit == "h"),
          "--time: '{}' is not a time, as 60s, 5min or 2h", io::excerpt(text));
  return value * (unit == "s" ? 1 : unit == "min" ? 60 : 3600);
}

}  // namespace

void TuneSearchArguments::check(TuneOptions& options) const {
  options.delta = bounds::delta_of_confidence(confidence);
  options.seconds = time.empty() ? 0 : parse_seconds(time);
}

RerunOptions TuneSearchArguments::effective(const TuneResult& result) const {
  if (time.empty()) return {};
  return {{"--runs", fmt::to_string(result.race.runs)}, {"--time", ""}};
}

void add_tune_options(CLI::App& verb, TuneOptions& options, TuneSearchArguments& arguments) {
  verb.add_option("--target", options.target,
                  "what is to be reached in as few iterations as possible, as \"90% below 1e-4\"");
  verb.add_option(
          "--runs", options.runs,
          fmt::format("runs of the search, a setting on a problem each; the same settings are found again "
                      "[{} for each problem of the search]",
                      usual_runs_by_problem))
      ->check(whole_number);
  verb.add_option(
      "--time", arguments.time,
      "instead: begin no rung of the search later, as 60s, 5min or 2h; says which --runs repeat it");
  verb.add_option("--grid", options.grid,
                  "instead of a race: a grid of at most so many settings, each on all problems of the search")
      ->check(whole_number);
  verb.add_flag(
      "--learn-then-test", options.learn_then_test,
      "also by Learn-then-Test: the first grid on all problems, each setting covered by the confidence level");
  verb.add_option(
          "--search-share", options.search_share,
          "share of the problems, from the first on, that settings are chosen by; the rest is certified")
      ->capture_default_str();
  verb.add_option("--confidence", arguments.confidence, "of all that is claimed together")
      ->capture_default_str();
  verb.add_option("--seed", options.seed, "of the order in which the search takes its problems")
      ->check(whole_number)
      ->capture_default_str();
}

void add_cone_options(CLI::App& verb, problems::Cones& cones) {
  verb.add_option("--zero", cones.zero, "rows of the zero cone, first")->check(whole_number);
  verb.add_option("--nonnegative", cones.nonnegative, "rows of the nonnegative cone, next")
      ->check(whole_number);
  verb.add_option("--second-order", cones.second_order, "dimensions of second-order cones")->delimiter(',');
  verb.add_option("--semidefinite", cones.semidefinite, "orders of positive semidefinite cones")
      ->delimiter(',');
  verb.add_option("--exponential", cones.exponential, "exponential cones, of three rows")
      ->check(whole_number);
  verb.add_option("--dual-exponential", cones.dual_exponential, "dual exponential cones")
      ->check(whole_number);
  verb.add_option("--power", cones.power, "exponents of power cones; below 0: of dual ones")->delimiter(',');
}

void write_tuning(const Tunable& subject, const TuneOptions& options, const TuneResult& result,
                  const OutputOptions& output, io::ResultFolder& folder,
                  std::vector<report::ReportFile> others) {
  std::vector<std::string> written;
  for (const report::ReportFile& file : others) written.push_back(file.name);
  written.emplace_back(tune_names::search);
  others.push_back({tune_names::search, search_record(subject, options, result, true) + "\n"});
  if (result.paired) others.push_back({tune_names::paired, certify::to_json(*result.paired)});
  const report::Image svg =
      report::render_script(search_script(subject, options, result, report::ImageFormat::svg),
                            report::ImageFormat::svg, tune_names::picture);
  const report::Image pdf =
      report::render_script(search_script(subject, options, result, report::ImageFormat::pdf),
                            report::ImageFormat::pdf, tune_names::picture);
  const report::PageFigure picture =
      report::page_figure(svg, tune_names::picture, search_caption(subject, result));
  report::Report report = report::make_report(result.certificate, {}, {picture});
  report::add_notice(report, svg.notice);
  if (const report::Image outlined = report::outlined(pdf, tune_names::picture); outlined.content)
    others.push_back({std::string(tune_names::picture) + ".svg", *outlined.content});
  if (pdf.content) others.push_back({std::string(tune_names::picture) + ".pdf", *pdf.content});
  others.push_back({report::file_names::certificate, certify::to_json(result.certificate)});
  for (report::ReportFile& file : others) report.files.push_back(std::move(file));
  for (const std::string& notice : report::write_files(report, folder, {})) say(notice);
  if (output.json) {
    fmt::print("{}", certify::to_json(result.certificate));
    return;
  }
  fmt::print("{}", tune_text(options, result));
  if (options.seconds > 0) fmt::print("The same search again: --runs {}\n", result.race.runs);
  fmt::print("\nWritten to {}: report.html, certificate.json, {}\n", io::printable(output.folder.string()),
             fmt::join(written, ", "));
  fmt::print("Check it:  surefoot verify {}\n",
             report::shell_path((output.folder / report::file_names::certificate).string()));
}
