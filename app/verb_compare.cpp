#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/compare.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/paired_tables.hpp"
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
  std::vector<std::string> files;
  std::vector<std::string> rank;
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
  std::string group;
  bool scalar = false;
  std::string value;
  std::string rows;
  std::vector<std::string> where;
  std::vector<std::string> failed;
  std::string missing{name(certify::Missing::refuse)};
  bool anytime = false;
  std::filesystem::path record;
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
    require(names.size() == 2,
            "--variants: '{}' is not a variant of the first and one of the second, separated by a comma",
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
  require(!arguments.rank.empty() || arguments.paired || arguments.files.size() == 2,
          "compare: {} file{} given; two are compared, and more are ranked (--rank)", arguments.files.size(),
          arguments.files.size() == 1 ? " is" : "s are");
  require(arguments.rank.empty() || (!arguments.paired && arguments.variants.empty()),
          "--rank: all variants of certificates are ranked; --paired and --variants do not go with it");
  const auto only_paired = [&](bool given, const char* option) {
    require(!given || arguments.paired, "{}: it is for tables of the same problems (--paired)", option);
  };
  only_paired(!arguments.claims.empty(), "--claim");
  only_paired(arguments.allow.has_value(), "--allow");
  only_paired(!arguments.tolerances.empty(), "--tolerances");
  only_paired(!arguments.names.empty(), "--names");
  only_paired(!arguments.junit.empty(), "--junit");
  only_paired(!arguments.markdown.empty(), "--markdown");
  only_paired(!arguments.record.empty(), "--record");
  only_paired(!arguments.group.empty(), "--group");
  only_paired(arguments.scalar, "--scalar");
  only_paired(!arguments.value.empty(), "--value");
  only_paired(!arguments.rows.empty(), "--rows");
  only_paired(!arguments.where.empty(), "--where");
  only_paired(!arguments.failed.empty(), "--failed");
  only_paired(arguments.anytime, "--anytime");
  require(!arguments.paired || arguments.variants.size() < 2,
          "--variants: with --paired it is the column that names the variants of one table");
  require(!arguments.paired || arguments.folder.empty(),
          "--out: it is for certificates; a paired comparison has --record, --json, --markdown and --junit");
  require(!arguments.scalar || arguments.tolerances.empty(),
          "--tolerances: one number per problem has no iterations until it is below them");
  require(!arguments.allow || !arguments.claims.empty(), "--allow: say of which --claim");
  require(arguments.junit.empty() || arguments.allow, "--junit: it is for --allow");
}

/// What is declared; claims and tolerances that are left out depend on the recorded steps alone.
certify::PairedOptions paired_options(const CompareArguments& arguments, bool of_text) {
  certify::PairedOptions options;
  options.delta = arguments.delta;
  options.allow = arguments.allow;
  options.anytime = arguments.anytime;
  for (const std::string& claim : arguments.claims)
    options.claims.push_back(certify::parse_claim(claim, certify::ShareIs::optional));
  if (!arguments.tolerances.empty()) options.tolerances = parse_numbers("--tolerances", arguments.tolerances);
  if (options.claims.empty() && options.tolerances.empty())
    options.tolerances = certify::default_tolerances("");
  options.shares = parse_numbers("--shares", arguments.shares);
  // Whether a table of text has iterations is known once it is open.
  if (!of_text) options.validate();
  return options;
}

experiments::PairedTables paired_tables(const CompareArguments& arguments) {
  experiments::PairedTables tables;
  tables.files = arguments.files;
  tables.names = arguments.names;
  tables.first_step = arguments.first_step;
  tables.group = arguments.group;
  tables.memory_limit = arguments.memory_limit;
  tables.text.scalar = arguments.scalar;
  if (!arguments.value.empty()) tables.text.values = {arguments.value};
  if (!arguments.variants.empty()) tables.text.variants = arguments.variants.front();
  tables.text.rows = arguments.rows;
  tables.text.where = arguments.where;
  tables.text.failed = arguments.failed;
  tables.text.missing = certify::parse_missing(arguments.missing);
  tables.of_text = arguments.scalar || !arguments.value.empty() || !arguments.variants.empty() ||
                   !arguments.rows.empty() || !arguments.where.empty() || !arguments.failed.empty();
  tables.validate();
  return tables;
}

ExitCode run_paired(const CompareArguments& arguments) {
  const experiments::PairedTables tables = paired_tables(arguments);
  const certify::PairedOptions options = paired_options(arguments, tables.of_text);
  begin_work();
  const certify::PairedComparison comparison = experiments::compare_tables(tables, options);
  if (!arguments.record.empty()) io::write_file_atomically(arguments.record, certify::to_json(comparison));
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

ExitCode run_ranking(const CompareArguments& arguments) {
  std::vector<certify::ClaimText> claims;
  for (const std::string& claim : arguments.rank)
    claims.push_back(certify::parse_claim(claim, certify::ShareIs::optional));
  begin_work();
  experiments::require_memory_of_certificates({arguments.files.begin(), arguments.files.end()},
                                              arguments.memory_limit);
  std::vector<report::Compared> certificates;
  for (const std::string& file : arguments.files) {
    report::Compared read = read_certificate(file);
    for (const report::Compared& other : certificates)
      require(other.digest != read.digest, "--rank: {} and {} are one and the same certificate", other.source,
              file);
    certificates.push_back(std::move(read));
  }
  std::vector<certify::ToRank> ranked;
  for (const report::Compared& each : certificates) ranked.push_back({each.source, &each.certificate});
  const std::vector<certify::Ranking> rankings = certify::rank_variants(ranked, claims, arguments.delta);
  if (!arguments.folder.empty()) {
    io::ResultFolder folder(arguments.folder, report::is_file_of_certificate);
    for (const std::string& notice :
         report::write_files(report::ranking_report(certificates, rankings), folder, {}))
      say(notice);
  }
  fmt::print("{}", arguments.json ? report::ranking_json(rankings)
                                  : report::ranking_text(certificates.front().certificate, rankings));
  if (!arguments.json && !arguments.folder.empty())
    fmt::print("\nWritten to {}: report.html, ranking.json and tables for papers\n",
               io::printable(arguments.folder.string()));
  return std::ranges::all_of(rankings, &certify::Ranking::has_best) ? holds : undecided;
}

ExitCode run(const CompareArguments& arguments) {
  require_fitting(arguments);
  if (arguments.paired) return run_paired(arguments);
  if (!arguments.rank.empty()) return run_ranking(arguments);
  const certify::CompareOptions options = options_of(arguments);
  begin_work();
  experiments::require_memory_of_certificates({arguments.files.begin(), arguments.files.end()},
                                              arguments.memory_limit);
  const report::Compared a = read_certificate(arguments.files[0]);
  const report::Compared b = read_certificate(arguments.files[1]);
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
  verb->add_option("files", arguments->files,
                   "two certificates; with --paired two tables; with --rank one or more certificates")
      ->required();
  verb->add_option(
          "--rank", arguments->rank,
          "\"below VALUE after K\" or \"SHARE% below VALUE\": ranks all variants of the certificates by this claim, "
          "with one confidence; ties are reported as ties; may be repeated")
      ->allow_extra_args(false);
  verb->add_flag(
      "--paired", arguments->paired,
      "both are tables of results, and row i of both is the same problem; or one table of text has both "
      "(--value, --variants, --rows)");
  verb->add_option(
          "--claim", arguments->claims,
          "with --paired, \"below|at most VALUE after|within K\" (of scalars without K): a success that is compared; "
          "may be repeated [below each tolerance, at four steps]")
      ->allow_extra_args(false);
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
  verb->add_option(
      "--group", arguments->group,
      "with --paired: column that names the group of each row; pairs are groups of the same name, "
      "and a group is its largest tick");
  verb->add_flag("--scalar", arguments->scalar, "with --paired: one number per problem");
  verb->add_option("--value", arguments->value, "with --paired: column of numbers of a table of text");
  verb->add_option("--rows", arguments->rows,
                   "with --paired: column that names the problems of a table of text");
  verb->add_option("--where", arguments->where,
                   "with --paired: only lines of a table of text with this text in this column")
      ->allow_extra_args(false)
      ->option_text("COLUMN=TEXT");
  verb->add_option("--failed", arguments->failed,
                   "with --paired: a line of a table of text with this text in this column is a failure")
      ->allow_extra_args(false)
      ->option_text("COLUMN=TEXT");
  verb->add_option(
          "--missing", arguments->missing,
          "with --paired: a problem that one of a table of text lacks: refuse, or count it as failed")
      ->capture_default_str();
  verb->add_flag("--anytime", arguments->anytime,
                 "with --paired: verdicts hold at every number of problems, so you may look at any time");
  verb->add_option("--record", arguments->record,
                   "with --paired: write the comparison with its counts, which verify computes again");
  verb->add_option("--junit", arguments->junit,
                   "with --allow: write a JUnit file, a test case for each claim");
  verb->add_option("--markdown", arguments->markdown, "with --paired: write a summary in Markdown");
  verb->add_option(
          "--variants", arguments->variants,
          "a variant of the first and one of the second, e.g. cold,warm; may be repeated [those of the same name, or "
          "the only ones]; with --paired, the column that names variants in a table of text")
      ->allow_extra_args(false);
  verb->add_option(
          "--delta", arguments->delta,
          "price of the bounds from the other side, in total; the confidence of all verdicts "
          "together is one less the deltas of the certificates and this; with --paired, of all that is "
          "said")
      ->capture_default_str();
  verb->add_option("--out", arguments->folder,
                   "write report.html, comparison.json (with --rank ranking.json), figures and tables there");
  verb->add_flag("--json", arguments->json, "print the comparison as JSON");
  add_memory_option(*verb, arguments->memory_limit);
  verb->footer(
      "Example: surefoot compare old/certificate.json new/certificate.json --out comparison\n"
      "         surefoot compare old.csv new.csv --paired --claim \"below 1e-2 after 30\" --allow 0.01\n"
      "         surefoot compare three/certificate.json --rank \"below 1e-2 after 30\"\n"
      "Exit code 0: a difference is proven (with --rank: a best variant); 1: a certificate does not hold; 3: undecided. With "
      "--allow, 0: proven not worse than allowed; 1: proven worse by more; 3: undecided.");
  verb->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}
