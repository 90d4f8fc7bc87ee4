#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/compare.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/verifying.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/comparison.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "exit_codes.hpp"
#include "say.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;

struct CompareArguments {
  std::string a;
  std::string b;
  std::vector<std::string> variants;
  double delta = 0.01;
  std::filesystem::path folder;  ///< empty: no files
  bool json = false;
  bool paired = false;
  std::vector<std::string> claims;
  std::optional<double> allow;
  std::string tolerances;
  std::string shares = as_list(certify::PairedOptions().shares);
  std::string names;
  std::optional<Index> first_step;
  std::filesystem::path junit;
  std::filesystem::path markdown;
  std::uint64_t memory_limit = 0;
};

report::Compared read_certificate(const std::string& path) {
  certify::ParsedCertificate parsed = certify::read_held_certificate(path);
  return {path, parsed.computed_digest, std::move(parsed.certificate)};
}

certify::CompareOptions options_of(const CompareArguments& arguments) {
  certify::CompareOptions options;
  options.delta = arguments.delta;
  for (const std::string& text : arguments.variants) {
    const std::vector<std::string> names = io::split_list("--variants", text);
    require(names.size() == 2, "--variants: '{}' is not a variant of A and one of B, separated by a comma",
            text);
    options.variants.emplace_back(names[0], names[1]);
  }
  return options;
}

/// Whether anything is provably better on either side.
bool shows_something(const certify::Comparison& comparison) {
  const auto shown = [](const auto& verdicts) {
    return std::ranges::any_of(verdicts,
                               [](const auto& each) { return each.verdict != certify::Verdict::not_shown; });
  };
  return std::ranges::any_of(comparison.pairs, [&](const certify::VariantComparison& pair) {
    return shown(pair.success) || shown(pair.quantile) || shown(pair.budget);
  });
}

void require_fitting(const CompareArguments& arguments) {
  const auto only_paired = [&](bool given, const char* option) {
    require(!given || arguments.paired, "{}: it is for tables of the same problems (--paired)", option);
  };
  only_paired(!arguments.claims.empty(), "--claim");
  only_paired(arguments.allow.has_value(), "--allow");
  only_paired(!arguments.tolerances.empty(), "--tolerances");
  only_paired(!arguments.names.empty(), "--names");
  only_paired(!arguments.junit.empty(), "--junit");
  only_paired(!arguments.markdown.empty(), "--markdown");
  require(!arguments.paired || arguments.variants.empty(), "--variants: it is for certificates");
  require(!arguments.paired || arguments.folder.empty(),
          "--out: it is for certificates; a paired comparison has --json, --markdown and --junit");
  require(!arguments.allow || !arguments.claims.empty(), "--allow: say of which --claim");
  require(arguments.junit.empty() || arguments.allow, "--junit: it is for --allow");
}

/// What is declared; claims and tolerances that are left out depend on the recorded steps alone.
certify::PairedOptions paired_options(const CompareArguments& arguments) {
  certify::PairedOptions options;
  options.delta = arguments.delta;
  options.allow = arguments.allow;
  for (const std::string& claim : arguments.claims)
    options.claims.push_back(certify::parse_claim(claim, certify::ShareIs::optional));
  if (!arguments.tolerances.empty()) options.tolerances = parse_numbers("--tolerances", arguments.tolerances);
  if (options.claims.empty() && options.tolerances.empty())
    options.tolerances = certify::default_tolerances("");
  options.shares = parse_numbers("--shares", arguments.shares);
  options.validate();
  return options;
}

certify::PairedRuns read_runs(const std::string& name, certify::RunTable& table,
                              const certify::PairedOptions& options) {
  if (!table.notice().empty()) say(fmt::format("{}: {}", table.path(), table.notice()));
  certify::PairedRuns runs(name, table.steps(), options);
  table.listen([&](Index, const double* values) { runs.add_run(values); });
  runs::TallySpec nothing_counted;
  nothing_counted.steps = table.steps();
  nothing_counted.keep_values = false;
  table.count(nothing_counted, nullptr);
  certify::Independence found = table.independence();
  found.require_none(table.path(), false);
  return runs;
}

ExitCode run_paired(const CompareArguments& arguments) {
  const std::vector<std::string> files{arguments.a, arguments.b};
  const std::vector<std::string> names = certify::table_names(files, arguments.names);
  certify::PairedOptions options = paired_options(arguments);
  begin_work();
  certify::RunTable first(files[0], arguments.first_step);
  certify::RunTable second(files[1], arguments.first_step);
  if (options.claims.empty())
    options.claims = certify::default_paired_claims(options.tolerances, first.steps());
  const certify::PairedRuns a = read_runs(names[0], first, options);
  const certify::PairedRuns b = read_runs(names[1], second, options);
  const certify::PairedComparison comparison = certify::compare_paired(a, b, options);
  if (!arguments.markdown.empty())
    io::write_file_atomically(arguments.markdown, certify::markdown_text(comparison));
  if (!arguments.junit.empty()) io::write_file_atomically(arguments.junit, certify::junit_text(comparison));
  fmt::print("{}", arguments.json ? certify::to_json(comparison) : certify::to_text(comparison));
  if (!arguments.allow) return certify::paired_sentences(comparison).empty() ? undecided : holds;
  switch (certify::decision_of_all(comparison)) {
    case certify::Decision::not_worse:
      return holds;
    case certify::Decision::worse:
      return refuted;
    case certify::Decision::undecided:
      break;
  }
  return undecided;
}

ExitCode run(const CompareArguments& arguments) {
  require_fitting(arguments);
  if (arguments.paired) return run_paired(arguments);
  const certify::CompareOptions options = options_of(arguments);
  begin_work();
  experiments::require_memory_of_certificates({arguments.a, arguments.b}, arguments.memory_limit);
  const report::Compared a = read_certificate(arguments.a);
  const report::Compared b = read_certificate(arguments.b);
  const certify::Comparison comparison =
      certify::compare(a.certificate, b.certificate, options, a.digest == b.digest);
  if (!arguments.folder.empty()) {
    io::ResultFolder folder(arguments.folder, report::is_file_of_certificate);
    for (const std::string& notice :
         report::write_files(report::comparison_report(a, b, comparison), folder, {}))
      say(notice);
  }
  const ExitCode exit_code = shows_something(comparison) ? holds : undecided;
  if (arguments.json) {
    fmt::print("{}", report::comparison_json(a, b, comparison));
    return exit_code;
  }
  fmt::print("{}", report::terminal_text(a, b, comparison));
  if (!arguments.folder.empty()) {
    fmt::print("\nWritten to {}: report.html, comparison.json, figures and tables for papers\n",
               io::printable(arguments.folder.string()));
  }
  return exit_code;
}

}  // namespace

void add_compare_verb(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* verb = app.add_subcommand(
      "compare", "Two certificates, or two tables of the same problems: what is provably better");
  verb->add_option("a", arguments->a, "certificate.json, called A; with --paired a table")->required();
  verb->add_option("b", arguments->b, "the other, called B")->required();
  verb->add_flag("--paired", arguments->paired,
                 "both are tables of results, and row i of both is the same problem");
  verb->add_option(
      "--claim", arguments->claims,
      "with --paired, \"below|at most VALUE after|within K\": a success that is compared; may be "
      "repeated [below each tolerance, at four steps]");
  verb->add_option(
      "--allow", arguments->allow,
      "with --claim: how much lower the success rate of the second may be, e.g. 0.01: whether it is "
      "proven not to be worse by more");
  verb->add_option(
      "--tolerances", arguments->tolerances,
      "with --paired: where settling times are compared [1e-4,1e-3,1e-2,1e-1; with --claim none]");
  verb->add_option("--shares", arguments->shares, "with --paired: of problems, for ratios of settling times")
      ->capture_default_str();
  verb->add_option("--names", arguments->names, "with --paired: names of the two [the file names]");
  verb->add_option("--first-step", arguments->first_step,
                   "with --paired: step of the first column if the header does not say")
      ->check(whole_number);
  verb->add_option("--junit", arguments->junit,
                   "with --allow: write a JUnit file, a test case for each claim");
  verb->add_option("--markdown", arguments->markdown, "with --paired: write a summary in Markdown");
  verb->add_option("--variants", arguments->variants,
                   "a variant of A and one of B, e.g. cold,warm; may be repeated [those of the same name, or "
                   "the only ones]");
  verb->add_option("--delta", arguments->delta,
                   "price of the bounds from the other side, in total; the confidence of all verdicts "
                   "together is one less the deltas of A, of B and this; with --paired, of all that is said")
      ->capture_default_str();
  verb->add_option("--out", arguments->folder,
                   "write report.html, comparison.json, figures and tables there");
  verb->add_flag("--json", arguments->json, "print the comparison as JSON");
  add_memory_option(*verb, arguments->memory_limit);
  verb->footer(
      "Example: surefoot compare old/certificate.json new/certificate.json --out comparison\n"
      "         surefoot compare old.csv new.csv --paired --claim \"below 1e-2 after 30\" --allow 0.01\n"
      "Exit code 0: something is shown; 1: a certificate does not hold; 3: nothing is shown either way. With "
      "--allow, 0: proven not worse than allowed; 1: proven worse by more; 3: undecided.");
  verb->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}
