#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/plot.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include "claims.hpp"
#include "exit_codes.hpp"
#include "say.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace surefoot;

struct WorstCaseOptions {
  worst_case::Question question;
  std::string steps;
  std::string step;
  std::optional<double> momentum;
  std::optional<double> dist0;
  std::optional<double> gap0;
  std::string out;
  int threads = 0;
  bool quiet = false;
};

Index whole(const std::string& text) {
  Index value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && rest == text.data() + text.size() && value >= 0,
          "--steps: '{}' is not a whole number, a list of them, or a range like 1..200", text);
  return value;
}

// "70", "1,2,5" or "1..200", or parts of these.
std::vector<Index> rows_asked_for(const std::string& text) {
  std::vector<Index> steps;
  for (const std::string& part : io::split_list("--steps", text)) {
    const std::size_t dots = part.find("..");
    const Index first = whole(part.substr(0, dots));
    const Index last = dots == std::string::npos ? first : whole(part.substr(dots + 2));
    require(first <= last && last <= 100000, "--steps: '{}' is empty or too long", part);
    for (Index k = first; k <= last; ++k) steps.push_back(k);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

// A formula holds per unit of the start; a gap grows with the square of a distance.
std::optional<double> formula(const worst_case::ProofFile& proof, Index steps) {
  worst_case::Question question = proof.question;
  question.steps = steps;
  const std::optional<double> unit = worst_case::closed_form(question);
  if (!unit) return std::nullopt;
  const bool gap = question.metric == "gap";
  if (question.initial == worst_case::Initial::gap)
    return *unit * (gap ? proof.start : std::sqrt(proof.start));
  return *unit * (gap ? proof.start * proof.start : proof.start);
}

report::Figure figure_of(const worst_case::ProofFile& proof) {
  report::Figure figure;
  figure.name = "worst_case";
  figure.title = "Worst case of " + proof.question.method;
  figure.styles = {"", "proven", "formula"};
  report::Curve proven{"proven", 0, 1, {}};
  report::Curve known{"formula", 1, 2, {}};
  for (const worst_case::ProvenBound& bound : proof.bounds) {
    const auto x = static_cast<double>(bound.steps);
    proven.points.push_back({x, bound.bound});
    if (const std::optional<double> exact = formula(proof, bound.steps)) known.points.push_back({x, *exact});
  }
  figure.panels.push_back({"", {proven}});
  if (!known.points.empty()) figure.panels[0].curves.push_back(known);
  double low = infinity;
  double high = 0;
  for (const report::Curve::Point& point : proven.points) {
    if (point.y > 0.0) low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  figure.x = {"step", false, false, static_cast<double>(proof.bounds.front().steps),
              static_cast<double>(proof.bounds.back().steps)};
  figure.y = {proof.question.metric, true, false, 0.8 * std::min(low, high), 1.25 * high};
  return figure;
}

void print(const worst_case::ProofFile& proof) {
  const worst_case::Question& question = proof.question;
  const bool distance = question.initial == worst_case::Initial::distance;
  fmt::print("{}: {}\nFor {} with {} <= {}:\n\n", question.method,
             worst_case::named_method(question.method).what, worst_case::class_in_words(question),
             distance ? "|z^0 - z*|" : "f(z^0) - f*", exact_label(proof.start));
  fmt::print("{:>6}  {:>24}  {:>24}\n", "step", question.metric + " <=", "formula");
  for (const worst_case::ProvenBound& bound : proof.bounds) {
    const std::optional<double> exact = formula(proof, bound.steps);
    fmt::print("{:>6}  {:>24}  {:>24}\n", bound.steps, full_precision(bound.bound),
               exact ? full_precision(*exact) : std::string(nothing));
  }
}

void write(const worst_case::ProofFile& proof, const std::string& folder) {
  const std::filesystem::path out(folder);
  const std::string text = worst_case::to_json(proof);
  std::vector<io::FileContent> files{{out / "proof.json", text}};
  report::Image svg;
  report::Image pdf;
  if (proof.bounds.size() > 1) {
    const report::Figure figure = figure_of(proof);
    pdf = report::render(figure, report::ImageFormat::pdf);
    svg = report::outlined(pdf, figure.name);
    if (pdf.content) files.push_back({out / "worst_case.pdf", *pdf.content});
    if (svg.content) files.push_back({out / "worst_case.svg", *svg.content});
    for (const report::Image* image : {&pdf, &svg}) {
      if (!image->notice.empty()) say(image->notice);
    }
  }
  io::write_files_atomically(files);
}

int run(WorstCaseOptions options) {
  set_threads(options.threads);
  const bool gap = options.gap0.has_value();
  require(!gap || !options.dist0, "--gap0: either the distance or the gap at the start is given, not both");
  options.question.initial = gap ? worst_case::Initial::gap : worst_case::Initial::distance;
  options.question.parameters.momentum = options.momentum;
  if (!options.step.empty()) options.question.parameters.step = parse_numbers("--step", options.step);
  const double start = gap ? *options.gap0 : options.dist0.value_or(1.0);
  require(start >= 0.0 && start < infinity, "{}: {} is negative or not finite", gap ? "--gap0" : "--dist0",
          start);
  const std::vector<Index> steps = rows_asked_for(options.steps);
  if (!options.out.empty()) io::prepare_output_folder(options.out);
  const worst_case::ProofFile proof = worst_case::prove_steps(options.question, steps, start);
  if (!proof.bounds.empty()) {
    if (!options.out.empty()) write(proof, options.out);
    if (options.quiet) {
      for (const worst_case::ProvenBound& bound : proof.bounds) fmt::print("{:.17g}\n", bound.bound);
    } else {
      print(proof);
      if (!options.out.empty()) {
        fmt::print("\nCheck it:  surefoot verify {}\n",
                   report::shell_path((std::filesystem::path(options.out) / "proof.json").string()));
      }
    }
  }
  if (proof.bounds.size() == steps.size()) return holds;
  say(fmt::format("no proof was found for {} of {} numbers of steps, and no bound is printed for them",
                  steps.size() - proof.bounds.size(), steps.size()));
  return undecided;
}

bool has(const worst_case::NamedMethod& method, std::string_view parameter) {
  return std::find(method.parameters.begin(), method.parameters.end(), parameter) != method.parameters.end();
}

void add_method(CLI::App& verb, const worst_case::NamedMethod& method, int& exit_code) {
  const auto options = std::make_shared<WorstCaseOptions>();
  worst_case::Question& question = options->question;
  question.method = method.name;
  CLI::App* sub = verb.add_subcommand(std::string(method.name), std::string(method.what));
  sub->add_option("--steps", options->steps, "row of a trace: 70, 1,2,5 or 1..200")->required();
  if (has(method, "alpha")) {
    sub->add_option("--alpha", question.parameters.alpha, "T = (1 - alpha) I + alpha N, in (0, 1]")
        ->capture_default_str();
  }
  if (has(method, "factor"))
    sub->add_option("--factor", question.parameters.factor, "Lipschitz constant")->capture_default_str();
  if (has(method, "L")) sub->add_option("--L", question.parameters.L, "smoothness")->capture_default_str();
  if (has(method, "mu"))
    sub->add_option("--mu", question.parameters.mu, "strong convexity")->capture_default_str();
  if (has(method, "step")) {
    sub->add_option(
        "--step", options->step,
        has(method, "L") ? "step sizes, the last is repeated [1/L]" : "step sizes, the last is repeated [1]");
  }
  if (has(method, "momentum"))
    sub->add_option("--momentum", options->momentum, "[the usual choice for L and mu]");
  sub->add_option("--metric", question.metric, fmt::format("{}", fmt::join(method.metrics, ", ")))
      ->default_str(std::string(method.metrics.front()));
  sub->add_option("--dist0", options->dist0, "bound on |z^0 - z*|")->default_str("1");
  if (has(method, "L")) sub->add_option("--gap0", options->gap0, "bound on f(z^0) - f* instead");
  sub->add_option("--out", options->out, "folder for proof.json and a figure");
  sub->add_option("--threads", options->threads, "threads [all cores]")->check(whole_number);
  sub->add_flag("--quiet", options->quiet, "print the numbers alone, 17 digits, rounded up");
  sub->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace

void add_worst_case_verb(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand(
      "worst-case", "What no problem of a class can exceed after k steps of a method, with a proof");
  verb->require_subcommand(1);
  for (const worst_case::NamedMethod& method : worst_case::named_methods())
    add_method(*verb, method, exit_code);
  verb->footer(
      "Example: surefoot worst-case averaged --alpha 0.5 --steps 70\n"
      "         surefoot worst-case gradient --L 1 --mu 0.01 --steps 1..50 --metric gap --out worst\n"
      "Exit code 0: proven; 2: bad input; 3: no proof was found.");
}
