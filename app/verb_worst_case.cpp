#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/proving.hpp"
#include "surefoot/report/text.hpp"

#include "begin_work.hpp"
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
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

/// What the options ask for.
ProofRequest request_of(const WorstCaseOptions& options) {
  const bool gap = options.gap0.has_value();
  require(!gap || !options.dist0, "--gap0: either the distance or the gap at the start is given, not both");
  ProofRequest request;
  request.question = options.question;
  request.question.initial = gap ? worst_case::Initial::gap : worst_case::Initial::distance;
  request.question.parameters.momentum = options.momentum;
  if (!options.step.empty()) request.question.parameters.step = parse_numbers("--step", options.step);
  request.start = gap ? *options.gap0 : options.dist0.value_or(request.start);
  request.steps = parse_step_list(options.steps);
  request.validate();
  return request;
}

/// Takes the steps that a search finds.
void optimize(ProofRequest& request, const WorstCaseOptions& options) {
  require(options.optimize == "steps", "--optimize: '{}' is not steps, the only choice", options.optimize);
  require(request.steps.size() == 1, "--optimize: it needs one number of --steps, not {}",
          request.steps.size());
  const StopSignals signals("nothing is kept: a search for steps begins anew");
  worst_case::ProveOptions how;
  how.interrupt = StopSignals::check;
  request.question.steps = request.steps.front();
  const worst_case::OptimizedSteps found = worst_case::optimize_steps(request.question, how);
  request.question = found.question;
  if (!options.quiet) fmt::print("{}\n\n", optimized_text(found));
}

int run(const CLI::App& verb, const WorstCaseOptions& options) {
  set_threads(options.threads);
  ProofRequest request = request_of(options);
  begin_work();
  options.checkpoint.prepare();
  std::optional<io::ResultFolder> folder;
  if (!options.out.empty()) folder.emplace(options.out, is_file_of_proof);
  request.require_memory(options.memory_limit);
  if (!options.optimize.empty()) optimize(request, options);
  const auto journal = open_journal(options.checkpoint, verb, {});
  const worst_case::ProofFile proof = [&] {
    const StopSignals signals(how_to_go_on(options.checkpoint));
    return prove(request, *journal);
  }();
  if (!proof.bounds.empty()) {
    if (folder) write_proof(proof, *folder);
    if (!options.quiet) fmt::print("{}", proof_text(proof));
    if (!options.quiet && folder)
      fmt::print("\nCheck it:  surefoot verify {}\n",
                 report::shell_path((std::filesystem::path(options.out) / "proof.json").string()));
  }
  journal->close();
  if (options.quiet && (request.steps.size() > 1 || !proof.bounds.empty()))
    fmt::print("{}", proof_numbers(proof, request.steps));
  if (proof.bounds.size() == request.steps.size()) return holds;
  say(fmt::format("no proof was found for {} of {} numbers of steps, and no bound is printed for them",
                  request.steps.size() - proof.bounds.size(), request.steps.size()));
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
