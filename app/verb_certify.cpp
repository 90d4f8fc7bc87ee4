#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/files_by_digest.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/file_names.hpp"

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
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;
namespace fs = std::filesystem;

struct CertifyOptions {
  std::vector<std::string> files;
  std::string names;
  std::string append;  // to this certificate
  std::optional<Index> first_step;
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

/// A variant and the tables it is counted from, those counted before first.
struct VariantFiles {
  struct File {
    std::string path;
    std::string source;  // its name in the certificate
  };
  std::string name;
  std::optional<Index> first_step;
  std::vector<File> files;
};

std::string source_name(const std::string& path) {
  return path == "-" ? "standard input" : fs::path(path).filename().string();
}

/// What is counted: a table for each variant.
std::vector<VariantFiles> given_files(const CertifyOptions& options) {
  const std::vector<std::string> names = certify::table_names(options.files, options.names);
  std::vector<VariantFiles> all;
  for (std::size_t i = 0; i < names.size(); ++i)
    all.push_back({names[i], options.first_step, {{options.files[i], source_name(options.files[i])}}});
  return all;
}

/// The certificate that rows are added to: a file, or the folder of a result.
fs::path certificate_file(const std::string& given) {
  std::error_code none;
  const fs::path path = given;
  return fs::is_directory(path, none) ? path / report::file_names::certificate : path;
}

/// The tables of the certificate, found by their digests, and those that are given after them.
std::vector<VariantFiles> appended_files(const CertifyOptions& options,
                                         const certify::Certificate& certificate) {
  const std::size_t variants = certificate.variants.size();
  require(options.files.size() == variants || variants == 1,
          "--append: {} files for {} variants; give one for each, in the order of the certificate",
          options.files.size(), variants);
  std::vector<fs::path> folders{".", certificate_file(options.append).parent_path()};
  for (const std::string& file : options.files)
    if (file != "-") folders.push_back(fs::path(file).parent_path());
  for (fs::path& folder : folders) folder = fs::weakly_canonical(folder.empty() ? "." : folder);
  std::ranges::sort(folders);
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  std::vector<VariantFiles> all;
  for (std::size_t i = 0; i < variants; ++i) {
    const certify::Variant& variant = certificate.variants[i];
    VariantFiles of{variant.name, variant.first_step, {}};
    const auto add_counted = [&](const std::string& source, const std::string& sha256) {
      const std::optional<fs::path> found = file_by_digest(folders, source, sha256);
      require(
          found.has_value(),
          "--append: {}, which the certificate has counted, is not here (SHA-256 {}); put it beside the new "
          "table or the certificate",
          io::excerpt(source), sha256);
      of.files.push_back({found->string(), source});
    };
    add_counted(variant.source, variant.sha256);
    for (const certify::AppendedTable& table : variant.appended) add_counted(table.source, table.sha256);
    const std::size_t first = variants == 1 ? 0 : i;
    for (std::size_t file = first; file < (variants == 1 ? options.files.size() : i + 1); ++file)
      of.files.push_back({options.files[file], source_name(options.files[file])});
    all.push_back(std::move(of));
  }
  return all;
}

certify::Certificate certify_files(const CertifyOptions& options, const std::vector<VariantFiles>& given,
                                   certify::Options claims, certify::CountJournal& journal,
                                   std::unique_ptr<io::ResultFolder>& folder) {
  std::vector<std::vector<std::unique_ptr<certify::RunTable>>> tables;
  std::vector<std::vector<Index>> recorded;
  for (const VariantFiles& variant : given) {
    tables.emplace_back();
    for (const VariantFiles::File& file : variant.files) {
      auto table = std::make_unique<certify::RunTable>(
          file.path, variant.first_step,
          io::TableOptions{.memory_bytes = memory_for_reading(options.memory_limit)});
      if (options.first_step) table->require_first_step(*options.first_step);
      if (!table->notice().empty()) say(fmt::format("{}: {}", file.path, table->notice()));
      tables.back().push_back(std::move(table));
    }
    recorded.push_back(tables.back().front()->steps());
  }
  claims = certify::resolved(claims, recorded);
  MemoryNeeds needs(options.memory_limit);
  for (const auto& of_variant : tables)
    for (const std::unique_ptr<certify::RunTable>& table : of_variant)
      needs.add_table(*table, claims, journal.keeps());
  needs.require_fit();
  // Before the work: a folder that cannot be written must not cost an hour of reading.
  folder = options.output.open();
  std::vector<certify::Counted> variants;
  for (std::size_t i = 0; i < given.size(); ++i) {
    certify::CountedRows counted;
    for (std::size_t t = 0; t < tables[i].size(); ++t) {
      certify::RunTable& table = *tables[i][t];
      Progress progress("reading " + given[i].files[t].source);
      table.follow(counted.rows());
      runs::Tally tally = table.count(
          certify::tally_spec(claims, table.steps()),
          [&](Index done, Index total) {
            progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
          },
          &journal);
      counted.add(std::move(tally), table.check(),
                  {given[i].files[t].source, table.sha256(), 0, table.reading()});
    }
    certify::Variant variant;
    variant.name = given[i].name;
    counted.describe(variant);
    variant.independence->require_none(given[i].files.back().path, options.allow_dependence);
    variants.push_back({variant, counted.take_tally()});
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

/// Everything that is declared stands in the certificate that rows are added to.
void require_no_declarations(const CLI::App& verb) {
  static const std::set<std::string> allowed{
      "files",  "--append",     "--anytime", "--allow-dependence",   "--threads", "--out",
      "--json", "--checkpoint", "--resume",  "--checkpoint-seconds", "--help",    "--memory-limit"};
  for (const CLI::Option* option : verb.get_options())
    require(option->count() == 0 || allowed.contains(option->get_name()),
            "{}: cannot stand beside --append; the certificate has declared all of it", option->get_name());
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
  const bool appends = !options.append.empty();
  if (appends) require_no_declarations(verb);
  std::vector<VariantFiles> files = appends ? std::vector<VariantFiles>{} : given_files(options);
  certify::Options claims = options.claims.options();
  begin_work();
  io::Configuration data;
  std::optional<certify::Certificate> before;
  if (appends) {
    const std::string path = certificate_file(options.append).string();
    before = certify::read_held_certificate(path).certificate;
    claims = certify::options_to_append(*before);
    files = appended_files(options, *before);
    data.emplace_back("--append", io::sha256_of_file(path));
  }
  options.checkpoint.prepare();
  const auto journal = open_journal(options.checkpoint, verb, data);
  std::unique_ptr<io::ResultFolder> folder;
  certify::Certificate certificate = [&] {
    const StopSignals signals(how_to_go_on(options.checkpoint));
    certify::Certificate counted = certify_files(options, files, claims, *journal, folder);
    if (stated) certify::add_worst_case(counted, *stated, StopSignals::check);
    return counted;
  }();
  if (before) certify::require_continues(*before, certificate);
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
  verb->add_option(
      "--append", options->append,
      "add the rows to this certificate, or that of this folder, which was made with --anytime: its tables are found "
      "by their digests and counted with them, under its declarations");
  add_claim_options(*verb, options->claims);
  add_anytime_option(*verb, options->claims);
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
      "Rows must be independent and identically distributed problems: repeated rows, rows that resemble "
      "their neighbours and values that drift are refused. Tolerances and steps must be chosen without "
      "looking at the results; with --anytime their number need not be, and --append adds rows later.");
  verb->callback([options, verb] { run(*verb, *options); });
}
