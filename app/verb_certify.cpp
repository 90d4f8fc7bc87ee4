#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_long_table.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/text.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "output.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct CertifyOptions {
  std::vector<std::string> files;
  std::string names;
  std::optional<Index> first_step;
  certify::TableChoice table;
  std::string missing{name(certify::Missing::refuse)};
  bool allow_dependence = false;
  std::string worst_case;
  std::optional<double> dist0;
  std::optional<double> estimated_dist0;
  int threads = 0;
  ClaimArguments claims;
  OutputOptions output;
  CheckpointOptions checkpoint;
  LookOptions looks;
  std::uint64_t memory_limit = 0;
};

/// Whether options speak of a table of text, with labelled columns of which some count.
bool is_of_text(const CertifyOptions& options) {
  const certify::TableChoice& table = options.table;
  return options.claims.scalar || !table.values.empty() || !table.variants.empty() || !table.rows.empty() ||
         !table.steps.empty() || !table.where.empty() || !table.failed.empty();
}

std::string source_of(const std::string& file) {
  return file == "-" ? "standard input" : std::filesystem::path(file).filename().string();
}

certify::Certificate certify_text(const CertifyOptions& options, certify::Options claims,
                                  const certify::CountJournal& journal,
                                  std::unique_ptr<io::ResultFolder>& folder) {
  certify::TableChoice choice = options.table;
  choice.missing = certify::parse_missing(options.missing);
  choice.scalar = options.claims.scalar;
  require_memory_of_text(options.files, choice, claims, 1, options.memory_limit);
  folder = options.output.open();
  std::vector<certify::LongTable> tables;
  for (const std::string& file : options.files) {
    Progress progress("reading " + file);
    tables.emplace_back(
        file, choice, io::TableOptions{.memory_bytes = memory_for_reading(options.memory_limit)},
        [&](Index done, Index total) {
          journal.interrupt();
          progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
        });
    for (const std::string& notice : tables.back().notices()) say(fmt::format("{}: {}", file, notice));
  }
  const bool named = std::ranges::any_of(tables, [](const certify::LongTable& table) {
    return table.parts().size() > 1 || !table.parts().front().name.empty();
  });
  require(!named || options.names.empty(), "--names: the table names its variants");
  const std::vector<std::string> names = certify::table_names(options.files, options.names);
  std::vector<const certify::LongTable*> all;
  for (const certify::LongTable& table : tables) all.push_back(&table);
  claims = certify::resolved_for(claims, all);
  std::vector<certify::Counted> variants;
  for (std::size_t i = 0; i < tables.size(); ++i)
    for (certify::Counted& counted :
         certify::count_variants(tables[i], claims, names[i], tables.size() > 1, source_of(options.files[i]),
                                 options.allow_dependence, [&] { journal.interrupt(); }))
      variants.push_back(std::move(counted));
  certify::require_different_names(variants);
  return certify::certify(claims, variants);
}

/// Default quantiles that are not there: their readers may miss them.
void say_left_out(const certify::Options& claims, const certify::Certificate& certificate) {
  if (!claims.quantiles.empty() || (certificate.quantile.empty() && certificate.budget.empty())) return;
  std::vector<double> left_out;
  for (const double quantile : certify::default_quantiles(certificate.scalar))
    if (std::ranges::count(certificate.quantiles, quantile) == 0) left_out.push_back(quantile);
  if (left_out.empty()) return;
  say(fmt::format(
      "so few problems support no claim of the share{} {} at this confidence ('surefoot plan' says how "
      "many are needed)",
      left_out.size() == 1 ? "" : "s", as_list(left_out)));
}

certify::Certificate certify_files(const CertifyOptions& options, const std::vector<std::string>& names,
                                   certify::Options claims, certify::CountJournal& journal,
                                   std::unique_ptr<io::ResultFolder>& folder) {
  std::vector<std::unique_ptr<certify::RunTable>> tables;
  std::vector<std::vector<Index>> recorded;
  for (const std::string& file : options.files) {
    tables.push_back(std::make_unique<certify::RunTable>(
        file, options.first_step,
        io::TableOptions{.memory_bytes = memory_for_reading(options.memory_limit)}));
    if (options.first_step) tables.back()->require_first_step(*options.first_step);
    recorded.push_back(tables.back()->steps());
    if (!tables.back()->notice().empty()) say(fmt::format("{}: {}", file, tables.back()->notice()));
  }
  claims = certify::resolved(claims, recorded);
  MemoryNeeds needs(options.memory_limit);
  for (const std::unique_ptr<certify::RunTable>& table : tables)
    needs.add_table(*table, claims, journal.keeps());
  needs.require_fit();
  // Before the work: a folder that cannot be written must not cost an hour of reading.
  folder = options.output.open();
  std::vector<certify::Counted> variants;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    Progress progress("reading " + names[i]);
    runs::Tally tally = tables[i]->count(
        certify::tally_spec(claims, tables[i]->steps()),
        [&](Index done, Index total) {
          progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
        },
        &journal);
    certify::Variant variant;
    variant.name = names[i];
    variant.source = source_of(options.files[i]);
    variant.sha256 = tables[i]->sha256();
    variant.reading = tables[i]->reading();
    variant.independence = tables[i]->independence();
    variant.independence->require_none(options.files[i], options.allow_dependence);
    variants.push_back({variant, std::move(tally)});
  }
  return certify::certify(claims, variants);
}

/// Writes down that these rows were looked at, if a ledger is kept, and says so in the certificate.
void record_looks(const CLI::App& verb, const CertifyOptions& options, certify::Certificate& certificate) {
  LookBook looks(options.looks, "certify", configuration_of(verb, {}), options.checkpoint.resume);
  if (!looks.kept()) return;
  std::vector<certify::SampleRange> rows;
  for (const certify::Variant& variant : certificate.variants)
    rows.push_back({certify::data_family(variant.sha256), 0, certify::data_set, 0, variant.samples});
  looks.record_in(certificate, rows, certificate.variants.front().source);
}

void run(const CLI::App& verb, const CertifyOptions& options) {
  set_threads(options.threads);
  require(!options.dist0 || !options.worst_case.empty(), "--dist0: it is for --worst-case");
  require(!options.estimated_dist0 || !options.worst_case.empty(),
          "--estimated-dist0: it is for --worst-case");
  std::optional<certify::StatedWorstCase> stated;
  if (!options.worst_case.empty())
    stated = certify::parse_stated_worst_case(options.worst_case, options.dist0, options.estimated_dist0);
  require(std::count(options.files.begin(), options.files.end(), "-") <= 1,
          "standard input can be read only once");
  const std::vector<std::string> names = certify::table_names(options.files, options.names);
  const bool of_text = is_of_text(options);
  if (of_text) {
    certify::parse_missing(options.missing);
    require(!options.first_step, "--first-step: is for tables with a column per step");
    require(!stated, "--worst-case: is for tables with a column per step");
  } else {
    require(options.missing == name(certify::Missing::refuse),
            "--missing: is for tables of text, whose columns --value and --rows name");
  }
  certify::Options claims = options.claims.options();
  if (of_text && verb.count("--metric") == 0) claims.metric = "";  // the label says it
  begin_work();
  options.checkpoint.prepare();
  const auto journal = open_journal(options.checkpoint, verb, {});
  std::unique_ptr<io::ResultFolder> folder;
  certify::Certificate certificate = [&] {
    const StopSignals signals(how_to_go_on(options.checkpoint));
    certify::Certificate counted = of_text ? certify_text(options, claims, *journal, folder)
                                           : certify_files(options, names, claims, *journal, folder);
    if (stated) certify::add_worst_case(counted, *stated, StopSignals::check);
    return counted;
  }();
  say_left_out(claims, certificate);
  record_looks(verb, options, certificate);
  write_certificate(certificate, options.output, *folder);
  journal->close();
}

}  // namespace

namespace {

void add_table_options(CLI::App& verb, CertifyOptions& options) {
  const std::string group = "One number per problem, tables of text";
  certify::TableChoice& table = options.table;
  const auto add = [&](const char* name, auto& value, const char* help) {
    return verb.add_option(name, value, help)->group(group)->option_text("COLUMN");
  };
  verb.add_flag(
          "--scalar", options.claims.scalar,
          "one number per problem (a time, a cost), no steps: success is at most a tolerance; each column is "
          "a variant")
      ->group(group);
  add("--value", table.values,
      "column of the numbers; \"> 4000\" counts as infinite; again for another variant")
      ->allow_extra_args(false);
  add("--variants", table.variants, "column whose texts are the variants");
  add("--rows", table.rows, "column that names the problems ('line': every line is a problem)");
  add("--step-column", table.steps, "column of the steps, of traces [one called step, iteration, iter or k]");
  add("--where", table.where, "only lines with this text in this column; several: with all of them")
      ->allow_extra_args(false)
      ->option_text("COLUMN=TEXT");
  add("--failed", table.failed,
      "a line with this text in this column is a failure; several: with any of them")
      ->allow_extra_args(false)
      ->option_text("COLUMN=TEXT");
  add("--missing", options.missing,
      "a problem that a variant lacks: refuse, or failed (it counts as infinite)")
      ->option_text("TEXT")
      ->capture_default_str();
}

}  // namespace

void add_certify_verb(CLI::App& app) {
  const auto options = std::make_shared<CertifyOptions>();
  CLI::App* verb = app.add_subcommand(
      "certify",
      "Certificate and report from a table of any solver's results: a row per problem, a column per step");
  verb->add_option("files", options->files,
                   "CSV (also gzipped), NumPy .npy, or - for standard input; one per variant")
      ->required();
  verb->add_option("--names", options->names, "names of the variants, separated by commas [the file names]");
  add_claim_options(*verb, options->claims);
  verb->add_option("--metric", options->claims.metric,
                   "name of the metric [metric, or what the column is called]");
  verb->add_option("--unit", options->claims.unit,
                   "its unit; dB makes decibel defaults [of a column \"runtime (ms)\": ms]");
  add_table_options(*verb, *options);
  verb->add_option("--first-step", options->first_step, "step of the first column if the header does not say")
      ->check(whole_number);
  add_dependence_option(*verb, options->allow_dependence);
  verb->add_option(
      "--worst-case", options->worst_case,
      "averaged:ALPHA or contractive:FACTOR, stated by you as a fact: the metric is the residual |z^k - "
      "z^(k-1)| of such an operator; its worst case stands beside the claims, with a proof");
  verb->add_option(
      "--dist0", options->dist0,
      "for --worst-case: |z^0 - z*| is at most this for every problem, in the norm of the metric, as a fact");
  verb->add_option("--estimated-dist0", options->estimated_dist0,
                   "instead of --dist0, if it is not a fact: the worst case is drawn, and no claim uses it");
  verb->add_option("--threads", options->threads, "threads [all cores]")->check(whole_number);
  add_output_options(*verb, options->output);
  add_checkpoint_options(*verb, options->checkpoint);
  add_look_options(*verb, options->looks);
  add_memory_option(*verb, options->memory_limit);
  verb->footer(
      "Example: surefoot certify cold.csv warm.csv --tolerances 1e-3,1e-2 --quantiles 0.9,0.99\n"
      "         surefoot certify times.csv --scalar\n"
      "         surefoot certify results.csv --value runtime --variants solver --rows problem\n"
      "Rows must be independent and identically distributed problems: repeated rows, rows that resemble "
      "their neighbours and values that drift are refused. Tolerances and steps must be chosen without "
      "looking at the results.");
  verb->callback([options, verb] { run(*verb, *options); });
}
