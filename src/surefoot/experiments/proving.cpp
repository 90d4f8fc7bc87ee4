#include "surefoot/experiments/proving.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/gnuplot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace surefoot::experiments {

namespace {

Index whole_step(const std::string& text) {
  Index value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && rest == text.data() + text.size() && value >= 0,
          "--steps: '{}' is not a whole number, a list of them, or a range like 1..200", text);
  return value;
}

/// What is done, as a checkpoint keeps it: the steps without a proof, and the proof of the others.
class KeptProofs {
 public:
  explicit KeptProofs(worst_case::ProofFile empty) : proof_(std::move(empty)) {}

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

}  // namespace

std::vector<Index> parse_step_list(const std::string& text) {
  constexpr Index most = 100000;
  std::vector<bool> asked(most + 1);  // a list may name the same ones again and again
  for (const std::string& part : io::split_list("--steps", text)) {
    const std::size_t dots = part.find("..");
    const Index first = whole_step(part.substr(0, dots));
    const Index last = dots == std::string::npos ? first : whole_step(part.substr(dots + 2));
    require(first <= last && last <= most, "--steps: '{}' is empty or too long", part);
    std::fill(asked.begin() + first, asked.begin() + last + 1, true);
  }
  std::vector<Index> steps;
  for (Index k = 0; k <= most; ++k) {
    if (asked[static_cast<std::size_t>(k)]) steps.push_back(k);
  }
  return steps;
}

void ProofRequest::validate() const {
  require(!steps.empty(), "steps: there are none");
  const bool gap = question.initial == worst_case::Initial::gap;
  require(start >= 0.0 && start < infinity, "{}: {} is negative or not finite", gap ? "--gap0" : "--dist0",
          start);
}

void ProofRequest::require_memory(std::uint64_t limit) const {
  MemoryNeeds needs(limit);
  // Of the longest proofs at once: the Schur complement of about five conditions a step, and its factor.
  const auto largest = static_cast<double>(steps.back());
  const auto at_once =
      static_cast<double>(std::min<std::size_t>(steps.size(), static_cast<std::size_t>(threads())));
  needs.add("interior point", at_once * 2 * 25 * largest * largest);
  needs.require_fit();
}

worst_case::ProofFile prove(const ProofRequest& request, certify::CountJournal& journal) {
  request.validate();
  worst_case::ProofFile empty;
  empty.question = request.question;
  empty.start = request.start;
  empty.version = version;
  for (const Index step : request.steps) {
    empty.question.steps = step;
    empty.question = worst_case::resolved(empty.question);
  }
  KeptProofs kept(std::move(empty));
  if (const std::optional<std::string> earlier = journal.begin()) kept.restore(*earlier);
  const std::vector<Index> left = kept.left_of(request.steps);
  if (left.empty()) return kept.proof();
  Progress progress("proving");
  std::size_t done = request.steps.size() - left.size();
  worst_case::ProveOptions how;
  how.interrupt = host().check;
  try {
    worst_case::prove_steps(request.question, left, request.start, how,
                            [&](Index step, const std::optional<worst_case::ProvenBound>& found) {
                              kept.add(step, found);
                              progress.update(static_cast<double>(++done),
                                              static_cast<double>(request.steps.size()), "numbers of steps");
                              if (journal.due()) journal.keep(kept.state());
                            });
  } catch (const Interrupted&) {
    if (journal.keeps()) journal.keep(kept.state());
    throw;
  }
  return kept.proof();
}

// A formula holds per unit of the start; a gap grows with the square of a distance.
std::optional<double> formula_of(const worst_case::ProofFile& proof, Index steps) {
  worst_case::Question question = proof.question;
  question.steps = steps;
  const std::optional<double> unit = worst_case::closed_form(question);
  if (!unit) return std::nullopt;
  const bool gap = question.metric == "gap";
  if (question.initial == worst_case::Initial::gap)
    return *unit * (gap ? proof.start : std::sqrt(proof.start));
  return *unit * (gap ? proof.start * proof.start : proof.start);
}

std::string proof_text(const worst_case::ProofFile& proof) {
  const worst_case::Question& question = proof.question;
  const bool distance = question.initial == worst_case::Initial::distance;
  std::string text =
      fmt::format("{}: {}\nFor {} with {} <= {}:\n\n", question.method,
                  worst_case::named_method(question.method).what, worst_case::class_in_words(question),
                  distance ? "|z^0 - z*|" : "f(z^0) - f*", exact_label(proof.start));
  text += fmt::format("{:>6}  {:>24}  {:>24}\n", "step", question.metric + " <=", "formula");
  for (const worst_case::ProvenBound& bound : proof.bounds) {
    const std::optional<double> exact = formula_of(proof, bound.steps);
    text += fmt::format("{:>6}  {:>24}  {:>24}\n", bound.steps, full_precision(bound.bound),
                        exact ? full_precision(*exact) : std::string(nothing));
  }
  return text;
}

std::string proof_numbers(const worst_case::ProofFile& proof, const std::vector<Index>& steps) {
  std::string text;
  auto bound = proof.bounds.begin();
  for (const Index step : steps) {
    const bool proven = bound != proof.bounds.end() && bound->steps == step;
    text += fmt::format("{}\n", proven ? fmt::format("{:.17g}", bound->bound) : std::string(nothing));
    if (proven) ++bound;
  }
  return text;
}

std::string optimized_text(const worst_case::OptimizedSteps& found) {
  std::vector<std::string> sizes;
  for (const double size : found.question.parameters.step) sizes.push_back(exact_label(size));
  return fmt::format("Steps that a search over {} proven bounds found (others may be better): --step {}{}",
                     found.evaluations, fmt::join(sizes, ","),
                     found.question.parameters.momentum
                         ? " --momentum " + exact_label(*found.question.parameters.momentum)
                         : std::string());
}

report::Figure proof_figure(const worst_case::ProofFile& proof) {
  report::Figure figure;
  figure.name = "worst_case";
  figure.title = "Worst case of " + proof.question.method;
  figure.styles = {"", "proven", "formula"};
  report::Curve proven{"proven", 0, 1, {}};
  report::Curve known{"formula", 1, 2, {}};
  for (const worst_case::ProvenBound& bound : proof.bounds) {
    const auto x = static_cast<double>(bound.steps);
    proven.points.push_back({x, bound.bound});
    if (const std::optional<double> exact = formula_of(proof, bound.steps))
      known.points.push_back({x, *exact});
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

bool is_file_of_proof(const std::filesystem::path& name) {
  return name == "proof.json" || name.stem() == "worst_case";
}

void write_proof(const worst_case::ProofFile& proof, io::ResultFolder& folder) {
  const std::string text = worst_case::to_json(proof);
  std::vector<io::FileContent> files{{"proof.json", text}};
  report::Image svg;
  report::Image pdf;
  if (proof.bounds.size() > 1) {
    const report::Figure figure = proof_figure(proof);
    pdf = report::render(figure, report::ImageFormat::pdf);
    svg = report::outlined(pdf, figure.name);
    if (pdf.content) files.push_back({"worst_case.pdf", *pdf.content});
    if (svg.content) files.push_back({"worst_case.svg", *svg.content});
    for (const report::Image* image : {&pdf, &svg}) {
      if (!image->notice.empty()) host().say(image->notice);
    }
  }
  folder.finish(files);
}

}  // namespace surefoot::experiments
