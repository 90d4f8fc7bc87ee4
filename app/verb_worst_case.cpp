#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/gnuplot.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/worst_case/optimize_steps.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include "claims.hpp"
#include "exit_codes.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct WorstCaseOptions {
  worst_case::Question question;
  std::string steps;
  std::string step;
  std::optional<double> momentum;
  std::optional<double> dist0;
  std::optional<double> gap0;
  std::string out;
  std::string optimize;
  int threads = 0;
  bool quiet = false;
  CheckpointOptions checkpoint;
  std::uint64_t memory_limit = 0;
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

void write(const worst_case::ProofFile& proof, io::ResultFolder& folder) {
  const std::string text = worst_case::to_json(proof);
  std::vector<io::FileContent> files{{"proof.json", text}};
  report::Image svg;
  report::Image pdf;
  if (proof.bounds.size() > 1) {
    const report::Figure figure = figure_of(proof);
    pdf = report::render(figure, report::ImageFormat::pdf);
    svg = report::outlined(pdf, figure.name);
    if (pdf.content) files.push_back({"worst_case.pdf", *pdf.content});
    if (svg.content) files.push_back({"worst_case.svg", *svg.content});
    for (const report::Image* image : {&pdf, &svg}) {
      if (!image->notice.empty()) say(image->notice);
    }
  }
  folder.finish(files);
}

/// What is done, as a checkpoint keeps it: the steps without a proof, and the proof of the others.
class Kept {
 public:
  explicit Kept(worst_case::ProofFile empty) : proof_(std::move(empty)) {}

  void restore(const std::string& state) {
    ByteReader from(state, "worst cases of a checkpoint");
    for (const Index step : from.list<Index>()) without_.insert(step);
    const std::string text = from.text();
    from.finish();
    proof_.bounds = worst_case::parse_proof(text).proof.bounds;
    // Bytes of a disk are no proof.
    for (const worst_case::ProvenBound& bound : proof_.bounds) {
      const worst_case::Method method = proof_.method(bound);
      require(worst_case::what_is_wrong(method, bound.multipliers).empty() &&
                  bound.bound == worst_case::proven_bound(method, bound.multipliers, proof_.start),
              "worst cases of a checkpoint: the proof for step {} is none", bound.steps);
    }
  }
  [[nodiscard]] std::string state() const {
    ByteWriter to;
    to.list(std::vector<Index>(without_.begin(), without_.end()));
    to.text(worst_case::to_json(proof_));
    return to.take();
  }
  void add(Index step, const std::optional<worst_case::ProvenBound>& found) {
    if (found) {
      proof_.bounds.push_back(*found);
    } else {
      without_.insert(step);
    }
  }
  [[nodiscard]] std::vector<Index> left_of(const std::vector<Index>& steps) const {
    std::vector<Index> left;
    for (const Index step : steps) {
      const bool proven = std::any_of(proof_.bounds.begin(), proof_.bounds.end(),
                                      [&](const worst_case::ProvenBound& one) { return one.steps == step; });
      if (!proven && without_.count(step) == 0) left.push_back(step);
    }
    return left;
  }
  /// Everything, in the order of the steps.
  [[nodiscard]] worst_case::ProofFile proof() const {
    worst_case::ProofFile sorted = proof_;
    std::sort(
        sorted.bounds.begin(), sorted.bounds.end(),
        [](const worst_case::ProvenBound& a, const worst_case::ProvenBound& b) { return a.steps < b.steps; });
    return sorted;
  }

 private:
  worst_case::ProofFile proof_;
  std::set<Index> without_;
};

void require_memory(const WorstCaseOptions& options, const std::vector<Index>& steps) {
  MemoryNeeds needs(options.memory_limit);
  // Of the longest proofs at once: the Schur complement of about five conditions a step, and its factor.
  const auto largest = static_cast<double>(steps.back());
  const auto at_once =
      static_cast<double>(std::min<std::size_t>(steps.size(), static_cast<std::size_t>(threads())));
  needs.add("interior point", at_once * 2 * 25 * largest * largest);
  needs.require_fit();
}

worst_case::ProofFile prove(const WorstCaseOptions& options, const std::vector<Index>& steps, double start,
                            certify::CountJournal& journal) {
  worst_case::ProofFile empty;
  empty.question = options.question;
  empty.start = start;
  empty.version = version;
  for (const Index step : steps) {
    empty.question.steps = step;
    empty.question = worst_case::resolved(empty.question);
  }
  Kept kept(std::move(empty));
  if (const std::optional<std::string> earlier = journal.begin()) kept.restore(*earlier);
  const std::vector<Index> left = kept.left_of(steps);
  if (!left.empty()) {
    const StopSignals signals(how_to_go_on(options.checkpoint));
    Progress progress("proving");
    std::size_t done = steps.size() - left.size();
    worst_case::ProveOptions how;
    how.interrupt = StopSignals::check;
    try {
      worst_case::prove_steps(options.question, left, start, how,
                              [&](Index step, const std::optional<worst_case::ProvenBound>& found) {
                                kept.add(step, found);
                                progress.update(static_cast<double>(++done),
                                                static_cast<double>(steps.size()), "numbers of steps");
                                if (journal.due()) journal.keep(kept.state());
                              });
    } catch (const Interrupted&) {
      if (journal.keeps()) journal.keep(kept.state());
      throw;
    }
  }
  return kept.proof();
}

void print_quiet(const worst_case::ProofFile& proof, const std::vector<Index>& steps) {
  auto bound = proof.bounds.begin();
  for (const Index step : steps) {
    const bool proven = bound != proof.bounds.end() && bound->steps == step;
    fmt::print("{}\n", proven ? fmt::format("{:.17g}", bound->bound) : std::string(nothing));
    if (proven) ++bound;
  }
}

void optimize(WorstCaseOptions& options, const std::vector<Index>& steps) {
  require(options.optimize == "steps", "--optimize: '{}' is not steps, the only choice", options.optimize);
  require(steps.size() == 1, "--optimize: it needs one number of --steps, not {}", steps.size());
  const StopSignals signals("nothing is kept: a search for steps begins anew");
  worst_case::ProveOptions how;
  how.interrupt = StopSignals::check;
  options.question.steps = steps.front();
  const worst_case::OptimizedSteps found = worst_case::optimize_steps(options.question, how);
  options.question = found.question;
  if (options.quiet) return;
  std::vector<std::string> sizes;
  for (const double size : found.question.parameters.step) sizes.push_back(exact_label(size));
  fmt::print("Steps that a search over {} proven bounds found (others may be better): --step {}{}\n\n",
             found.evaluations, fmt::join(sizes, ","),
             found.question.parameters.momentum
                 ? " --momentum " + exact_label(*found.question.parameters.momentum)
                 : std::string());
}

int run(const CLI::App& verb, WorstCaseOptions options) {
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
  options.checkpoint.prepare();
  std::optional<io::ResultFolder> folder;
  if (!options.out.empty()) {
    folder.emplace(options.out, [](const std::filesystem::path& name) {
      return name == "proof.json" || name.stem() == "worst_case";
    });
  }
  require_memory(options, steps);
  if (!options.optimize.empty()) optimize(options, steps);
  const auto journal = open_journal(options.checkpoint, verb, {});
  const worst_case::ProofFile proof = prove(options, steps, start, *journal);
  if (!proof.bounds.empty()) {
    if (folder) write(proof, *folder);
    if (!options.quiet) {
      print(proof);
      if (!options.out.empty()) {
        fmt::print("\nCheck it:  surefoot verify {}\n",
                   report::shell_path((std::filesystem::path(options.out) / "proof.json").string()));
      }
    }
  }
  journal->close();
  if (options.quiet && (steps.size() > 1 || !proof.bounds.empty())) print_quiet(proof, steps);
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
  sub->add_flag(
      "--quiet", options->quiet,
      "print the numbers alone, a line for each of --steps, 17 digits, rounded up; - without a proof");
  if (has(method, "step"))
    sub->add_option(
        "--optimize", options->optimize,
        "steps: search step sizes (and momentum, if given) with a small worst case, up to 8 steps");
  add_checkpoint_options(*sub, options->checkpoint);
  add_memory_option(*sub, options->memory_limit);
  sub->callback([options, sub, &exit_code] { exit_code = run(*sub, *options); });
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
