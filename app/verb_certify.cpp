#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
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
  bool allow_dependence = false;
  bool sequence = false;
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

/// Arrays with three dimensions say by themselves that their rows belong to groups.
void take_groups(const CertifyOptions& options, const std::vector<std::unique_ptr<certify::RunTable>>& tables,
                 certify::Options& claims) {
  const auto grouped = [](const auto& table) { return table->grouped(); };
  const auto first = std::ranges::find_if(tables, grouped);
  if (first == tables.end()) return;
  const auto other = std::ranges::find_if_not(tables, grouped);
  require(other == tables.end(), "{}: has no third dimension, which says the groups of {}",
          other == tables.end() ? "" : (*other)->path(), (*first)->path());
  require(!options.sequence,
          "{}: --sequence is of one log, and this array has three dimensions (groups, ticks, steps)",
          (*first)->path());
  claims.sampling = certify::Sampling::groups;
  claims.kinds = options.claims.kinds(claims.sampling);
}

certify::Certificate certify_files(const CertifyOptions& options, const std::vector<std::string>& names,
                                   certify::Options claims, certify::CountJournal& journal,
                                   std::unique_ptr<io::ResultFolder>& folder) {
  std::vector<std::unique_ptr<certify::RunTable>> tables;
  std::vector<std::vector<Index>> recorded;
  for (const std::string& file : options.files) {
    tables.push_back(std::make_unique<certify::RunTable>(
        file, options.first_step, io::TableOptions{.memory_bytes = memory_for_reading(options.memory_limit)},
        options.claims.group));
    if (options.first_step) tables.back()->require_first_step(*options.first_step);
    recorded.push_back(tables.back()->steps());
  }
  take_groups(options, tables, claims);
  for (const std::unique_ptr<certify::RunTable>& table : tables)
    if (!table->notice().empty()) say(fmt::format("{}: {}", table->path(), table->notice()));
  claims = certify::resolved(claims, recorded);
  MemoryNeeds needs(options.memory_limit);
  for (const std::unique_ptr<certify::RunTable>& table : tables)
    needs.add_table(*table, claims, journal.keeps());
  needs.require_fit();
  // Before the work: a folder that cannot be written must not cost an hour of reading.
  folder = options.output.open();
  std::vector<certify::Counted> variants;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i]->grouped()) require_memory_of_table(*tables[i], claims, options.memory_limit);
    Progress progress("reading " + names[i]);
    runs::Tally tally = tables[i]->count(
        certify::tally_spec(claims, tables[i]->steps()),
        [&](Index done, Index total) {
          progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
        },
        &journal);
    certify::Variant variant;
    variant.name = names[i];
    variant.source = options.files[i] == "-" ? "standard input"
                                             : std::filesystem::path(options.files[i]).filename().string();
    variant.sha256 = tables[i]->sha256();
    variant.reading = tables[i]->reading();
    if (!options.sequence) {
      variant.independence = tables[i]->independence();
      variant.independence->require_none(options.files[i], options.allow_dependence);
    }
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
    rows.push_back(
        {certify::data_family(variant.sha256), 0, certify::data_set, 0, certify::rows_of(variant)});
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
  require(!options.sequence || options.claims.group.empty(),
          "--sequence: it is of one log, and --group of many; certify one of them");
  require(!options.sequence || !options.allow_dependence,
          "--allow-dependence: it is not needed with --sequence, whose rows may depend on each other");
  require(!options.sequence || options.worst_case.empty(),
          "--worst-case: it speaks of new problems, and --sequence of the past of one log");
  ClaimArguments arguments = options.claims;
  if (options.sequence) arguments.sampling = certify::Sampling::sequence;
  if (!arguments.group.empty()) arguments.sampling = certify::Sampling::groups;
  const certify::Options claims = arguments.options();
  begin_work();
  options.checkpoint.prepare();
  const auto journal = open_journal(options.checkpoint, verb, {});
  std::unique_ptr<io::ResultFolder> folder;
  certify::Certificate certificate = [&] {
    const StopSignals signals(how_to_go_on(options.checkpoint));
    certify::Certificate counted = certify_files(options, names, claims, *journal, folder);
    if (stated) certify::add_worst_case(counted, *stated, StopSignals::check);
    return counted;
  }();
  record_looks(verb, options, certificate);
  write_certificate(certificate, options.output, *folder);
  journal->close();
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
  using certify::Sampling;
  add_claim_options(*verb, options->claims, {Sampling::problems, Sampling::groups, Sampling::sequence});
  verb->add_option(
      "--group", options->claims.group,
      "column that names the group of each row (ticks of a flight, runs of a day): groups are the independent "
      "samples, and claims are of every tick of a group and of the average tick; a .npy array has groups as "
      "its first of three dimensions");
  verb->add_flag(
      "--sequence", options->sequence,
      "rows are consecutive ticks of one log, which may depend on each other: claims are of the past of this log");
  verb->add_option("--average-method", options->claims.average_method, "of averages of groups: betting or kl")
      ->capture_default_str();
  verb->add_option("--metric", options->claims.metric, "name of the metric")->capture_default_str();
  verb->add_option("--unit", options->claims.unit, "its unit; dB makes decibel defaults");
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
      "Rows must be independent and identically distributed problems, or belong to groups that are (--group): repeated rows, rows that resemble "
      "their neighbours and values that drift are refused. Tolerances and steps must be chosen without "
      "looking at the results.");
  verb->callback([options, verb] { run(*verb, *options); });
}
