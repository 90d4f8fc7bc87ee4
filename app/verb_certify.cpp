#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_long_table.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/certify/part_tally.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/files_by_digest.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/paired_tables.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "output.hpp"
#include "say.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <span>
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
  std::string tally;   // counts go there, instead of a certificate
  certify::RowSource source;
  Index first_row = 0;
  std::optional<Index> first_step;
  certify::TableChoice table;
  std::string missing{name(certify::Missing::refuse)};
  bool allow_dependence = false;
  bool sequence = false;
  bool paired = false;
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

std::string source_name(const std::string& path) {
  return path == "-" ? "standard input" : fs::path(path).filename().string();
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
    for (certify::Counted& counted : certify::count_variants(
             tables[i], claims, names[i], tables.size() > 1, source_name(options.files[i]),
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
  say(
      fmt::format("so few {} support no claim of the share{} {} at this confidence ('surefoot plan' says how "
                  "many are needed)",
                  certify::things(certificate), left_out.size() == 1 ? "" : "s", as_list(left_out)));
}

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

/// The files that are given for a variant of the certificate that is appended to.
std::span<const std::string> new_files(const CertifyOptions& options, std::size_t variants, std::size_t i) {
  const std::span<const std::string> files = options.files;
  return variants == 1 ? files : files.subspan(i, 1);
}

/// A process that was killed while it wrote may have left the new certificate in a folder that is not
/// complete; the same command then does it again.
void take_back_unfinished(const CertifyOptions& options, certify::Certificate& certificate) {
  const fs::path folder = certificate_file(options.append).parent_path();
  const std::optional<io::Manifest> manifest = io::read_manifest(folder.empty() ? "." : folder);
  if (!manifest || manifest->complete || std::ranges::count(options.files, "-") > 0) return;
  std::vector<std::vector<std::string>> digests(certificate.variants.size());
  for (std::size_t i = 0; i < digests.size(); ++i)
    for (const std::string& file : new_files(options, digests.size(), i))
      digests[i].push_back(io::sha256_of_file(file));
  certify::take_back_appended(certificate, digests);
}

/// The tables of the certificate, found by their digests, and those that are given after them.
std::vector<VariantFiles> appended_files(const CertifyOptions& options,
                                         const certify::Certificate& certificate) {
  const std::size_t variants = certificate.variants.size();
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
    for (const std::string& file : new_files(options, variants, i))
      of.files.push_back({file, source_name(file)});
    all.push_back(std::move(of));
  }
  return all;
}

/// Arrays with three dimensions say by themselves that their rows belong to groups.
void take_groups(const CertifyOptions& options, const std::vector<const certify::RunTable*>& tables,
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
  claims.kinds = options.claims.kinds(claims.sampling, claims.anytime());
}

/// The tables of each variant, open, and what is declared of them.
struct OpenTables {
  std::vector<std::vector<std::unique_ptr<certify::RunTable>>> tables;
  certify::Options claims;
};

OpenTables open_tables(const CertifyOptions& options, const std::vector<VariantFiles>& given,
                       certify::Options claims, const certify::CountJournal& journal) {
  OpenTables open;
  std::vector<std::vector<Index>> recorded;
  for (const VariantFiles& variant : given) {
    open.tables.emplace_back();
    for (const VariantFiles::File& file : variant.files) {
      auto table = std::make_unique<certify::RunTable>(
          file.path, variant.first_step,
          io::TableOptions{.memory_bytes = memory_for_reading(options.memory_limit)}, options.claims.group);
      if (options.first_step) table->require_first_step(*options.first_step);
      open.tables.back().push_back(std::move(table));
    }
    recorded.push_back(open.tables.back().front()->steps());
  }
  std::vector<const certify::RunTable*> all;
  for (const auto& of_variant : open.tables)
    for (const std::unique_ptr<certify::RunTable>& table : of_variant) all.push_back(table.get());
  take_groups(options, all, claims);
  for (const certify::RunTable* table : all)
    if (!table->notice().empty()) say(fmt::format("{}: {}", table->path(), table->notice()));
  open.claims = certify::resolved(claims, recorded);
  MemoryNeeds needs(options.memory_limit);
  // A tally is put together as bytes, as a checkpoint is.
  const bool kept = journal.keeps() || !options.tally.empty();
  for (const certify::RunTable* table : all) needs.add_table(*table, open.claims, kept);
  needs.require_fit();
  return open;
}

/// Its rows are numbered from `first_row` on.
runs::Tally count_table(certify::RunTable& table, const std::string& source, Index first_row,
                        const CertifyOptions& options, const certify::Options& claims,
                        certify::CountJournal& journal) {
  if (table.grouped()) require_memory_of_table(table, claims, options.memory_limit);
  Progress progress("reading " + source);
  table.follow(first_row);
  return table.count(
      certify::tally_spec(claims, table.steps()),
      [&](Index done, Index total) {
        progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
      },
      &journal);
}

certify::Certificate certify_files(const CertifyOptions& options, const std::vector<VariantFiles>& given,
                                   const certify::Options& claims, certify::CountJournal& journal,
                                   std::unique_ptr<io::ResultFolder>& folder) {
  OpenTables open = open_tables(options, given, claims, journal);
  // Before the work: a folder that cannot be written must not cost an hour of reading.
  folder = options.output.open();
  std::vector<certify::Counted> variants;
  for (std::size_t i = 0; i < given.size(); ++i) {
    certify::CountedRows counted;
    for (std::size_t t = 0; t < open.tables[i].size(); ++t) {
      certify::RunTable& table = *open.tables[i][t];
      const std::string& source = given[i].files[t].source;
      runs::Tally tally = count_table(table, source, counted.next_row(), options, open.claims, journal);
      counted.add(std::move(tally), table.check(), {source, table.sha256(), 0, table.reading()});
      open.tables[i][t].reset();  // its buffers
    }
    certify::Variant variant;
    variant.name = given[i].name;
    counted.describe(variant);
    if (options.sequence)
      variant.independence.reset();
    else
      variant.independence->require_none(given[i].files.back().path, options.allow_dependence);
    variants.push_back({variant, counted.take_tally()});
  }
  return certify::certify(open.claims, variants);
}

/// The tables that are certified, for comparing them problem by problem.
PairedTables tables_to_pair(const CertifyOptions& options) {
  PairedTables tables;
  tables.files = options.files;
  tables.first_step = options.first_step;
  tables.group = options.claims.group;
  tables.text = options.table;
  tables.text.scalar = options.claims.scalar;
  tables.text.missing = certify::parse_missing(options.missing);
  tables.of_text = is_of_text(options);
  tables.memory_limit = options.memory_limit;
  return tables;
}

/// The command that compares the first two variants problem by problem; empty where their rows cannot be the
/// same problems, or compare cannot read them.
std::string command_of_pairs(const CertifyOptions& options, const certify::Certificate& certificate) {
  const std::vector<certify::Variant>& variants = certificate.variants;
  const bool readable = options.append.empty() && !options.sequence && options.table.steps.empty() &&
                        options.table.values.size() < 2 && std::ranges::count(options.files, "-") == 0;
  if (variants.size() < 2 || !readable) return "";
  const certify::Variant& first = variants[0];
  const certify::Variant& second = variants[1];
  const bool same_shape = first.samples == second.samples && first.first_step == second.first_step &&
                          first.last_step == second.last_step && first.columns == second.columns;
  const bool of_one = options.files.size() == 1;
  const bool named = !options.table.rows.empty();
  if (!same_shape || (of_one ? !options.table.variants.empty() && !named : named)) return "";
  std::string command = "surefoot compare " + report::shell_path(options.files[0]);
  if (!of_one) command += ' ' + report::shell_path(options.files[1]);
  command += " --paired";
  const auto add = [&](const char* option, const std::string& text) {
    if (!text.empty()) command += fmt::format(" {} {}", option, report::shell_quoted(text));
  };
  add("--names", first.name + ',' + second.name);
  add("--group", options.claims.group);
  if (options.first_step) add("--first-step", fmt::format("{}", *options.first_step));
  if (options.claims.scalar) command += " --scalar";
  if (!options.table.values.empty()) add("--value", options.table.values.front());
  add("--variants", options.table.variants);
  add("--rows", options.table.rows);
  for (const std::string& where : options.table.where) add("--where", where);
  for (const std::string& failed : options.table.failed) add("--failed", failed);
  if (is_of_text(options) && options.missing != name(certify::Missing::refuse))
    add("--missing", options.missing);
  if (!certificate.scalar) add("--tolerances", as_list(certificate.tolerances));
  return command;
}

constexpr std::size_t largest_tally = std::size_t{16} << 30U;

/// What is not a regular file is not looked into: a pipe gives its bytes once.
bool is_tally_file(const std::string& path) {
  std::error_code none;
  if (path == "-" || !fs::is_regular_file(path, none)) return false;
  std::string beginning(32, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return certify::PartTally::is_tally(beginning);
}

/// Whether what is given are tallies; InputError if some are and some are not.
bool of_tallies(const std::vector<std::string>& files) {
  const auto first = std::ranges::find_if(files, is_tally_file);
  if (first == files.end()) return false;
  for (const std::string& file : files)
    require(is_tally_file(file), "{}: is no tally, and {} is one", io::printable(file),
            io::printable(*first));
  return true;
}

/// --tally: counts, and leaves the certificate to whoever has all parts.
void count_part(const CertifyOptions& options, const certify::Options& claims,
                certify::CountJournal& journal) {
  std::error_code none;
  require(!fs::exists(options.tally, none) || is_tally_file(options.tally),
          "--tally: {} is there and is no tally; it is not written over", io::printable(options.tally));
  std::vector<VariantFiles> given = given_files(options);
  // Parts must agree on it, and their files are called differently.
  if (options.names.empty())
    given.front().name = options.source.name.empty() ? "traces" : certify::table_name(options.source.name);
  OpenTables open = open_tables(options, given, claims, journal);
  require(open.claims.sampling == certify::Sampling::problems,
          "--tally: is of tables whose rows are problems; a group could be in two parts");
  certify::PartTally part(open.claims);
  for (std::size_t i = 0; i < given.size(); ++i) {
    certify::RunTable& table = *open.tables[i].front();
    const std::string& file = given[i].files.front().source;
    runs::Tally tally = count_table(table, file, options.first_row, options, open.claims, journal);
    certify::RowSource source = options.source;
    source.reading = table.reading();
    if (source.name.empty()) {
      source.name = file;
      source.sha256 = table.sha256();
      source.known = options.files[i] != "-";
    }
    part.add(given[i].name, std::move(tally), table.check(), options.first_row, std::move(source));
    open.tables[i].clear();
  }
  io::write_file_atomically(options.tally, part.bytes());
  fmt::print("Counted {} into {}\nCertify all parts together:  surefoot certify {} ...\n",
             fmt::join(part.rows(), ", "), io::printable(options.tally), report::shell_path(options.tally));
}

certify::Certificate certify_tallies(const CertifyOptions& options,
                                     std::unique_ptr<io::ResultFolder>& folder) {
  const auto read = [](const std::string& file) {
    return certify::PartTally::from_bytes(io::read_file(file, largest_tally), io::printable(file));
  };
  require_memory_of_tallies(options.files, options.memory_limit);
  certify::PartTally all = read(options.files.front());
  for (std::size_t i = 1; i < options.files.size(); ++i) {
    StopSignals::check();
    all.merge(read(options.files[i]), io::printable(options.files[i]));
  }
  certify::Certificate certificate = all.certificate(options.allow_dependence);
  folder = options.output.open();
  return certificate;
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

/// All but these options: what they say is said already, or is for something else.
void require_only(const CLI::App& verb, const std::set<std::string>& allowed, const std::string& why) {
  for (const CLI::Option* option : verb.get_options())
    require(option->count() == 0 || allowed.contains(option->get_name()), "{}: cannot stand beside {}",
            option->get_name(), why);
}

void require_no_declarations(const CLI::App& verb) {
  require_only(verb,
               {"files", "--append", "--anytime", "--allow-dependence", "--threads", "--out", "--json",
                "--checkpoint", "--resume", "--checkpoint-seconds", "--help", "--memory-limit"},
               "--append; the certificate has declared all of it");
}

void require_tally_options(const CLI::App& verb, const CertifyOptions& options) {
  for (const char* other : {"--append", "--sequence", "--group", "--worst-case", "--ledger", "--out",
                            "--json", "--allow-dependence"})
    require(verb.count(other) == 0, "{}: cannot stand beside --tally, which only counts", other);
  require(!is_of_text(options), "--tally: is of tables with a column per step");
  require(verb.count("--first-row") == 0 || !options.source.name.empty(),
          "--first-row: is a row of --source, which is not given");
  require(options.first_row >= 0 && options.first_row <= most_counted, "--first-row: {} is outside 0 .. {}",
          options.first_row, most_counted);
  require(options.source.sha256.empty() || !options.source.name.empty(),
          "--source-sha256: is of --source, which is not given");
  require(options.source.sha256.empty() || io::is_sha256_hex(options.source.sha256),
          "--source-sha256: '{}' is not 64 hexadecimal digits in lower case",
          io::excerpt(options.source.sha256));
  require(options.source.name.empty() || options.files.size() == 1,
          "--source: {} files; count each into a tally of its own", options.files.size());
  require(options.files.size() == 1 || !options.names.empty(),
          "--names: say what the {} files are; parts must agree on it", options.files.size());
}

constexpr const char* range_of_worst_case = "worst-case";

/// "0,R" of the worst case at the first step that is certified; a proof at an early step is quick, and its
/// bound holds later too.
std::string proven_range(const ClaimArguments& claims,
                         const std::optional<certify::StatedWorstCase>& stated) {
  require(stated && !stated->estimated, "--range: {} needs --worst-case with --dist0", range_of_worst_case);
  ClaimArguments without = claims;
  without.range.clear();
  without.thresholds.clear();
  without.cvar.clear();
  constexpr Index latest = 20;
  const std::vector<Index> steps = without.options().steps;
  const Index step = std::clamp<Index>(steps.empty() ? 1 : steps.front(), 1, latest);
  const worst_case::ProofFile proof = worst_case::prove_steps(stated->question, {step}, stated->dist0, {});
  require(!proof.bounds.empty(), "--range: no worst case was proven at step {}", step);
  constexpr double margin = 1 + 1e-9;  // proofs of several steps differ by rounding
  return fmt::format("0,{}", proof.bounds.front().bound * margin);
}

void certify_parts(const CertifyOptions& options) {
  std::unique_ptr<io::ResultFolder> folder;
  const certify::Certificate certificate = [&] {
    const StopSignals signals("");
    return certify_tallies(options, folder);
  }();
  write_certificate(certificate, options.output, *folder);
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
  if (!options.tally.empty()) require_tally_options(verb, options);
  for (const char* of_source : {"--source", "--source-sha256", "--first-row"})
    require(verb.count(of_source) == 0 || !options.tally.empty(), "{}: is for --tally", of_source);
  const bool of_text = is_of_text(options);
  const bool appends = !options.append.empty();
  if (of_text) {
    certify::parse_missing(options.missing);
    require(!options.first_step, "--first-step: is for tables with a column per step");
    require(!stated, "--worst-case: is for tables with a column per step");
    require(options.claims.group.empty() && !options.sequence,
            "{}: is for tables with a column per step, not for --scalar and tables of text",
            options.sequence ? "--sequence" : "--group");
  } else {
    require(options.missing == name(certify::Missing::refuse),
            "--missing: is for tables of text, whose columns --value and --rows name");
  }
  if (appends) require_no_declarations(verb);
  if (options.paired) {
    require(std::ranges::count(options.files, "-") == 0,
            "--paired: reads the tables twice, and standard input can be read only once");
    require(options.tally.empty() && !options.sequence && !options.allow_dependence,
            "--paired: cannot stand beside {}",
            !options.tally.empty() ? "--tally"
            : options.sequence     ? "--sequence"
                                   : "--allow-dependence");
    require(ranks().count() == 1, "--paired: pairs are counted in one process; use threads");
    require(options.files.size() > 1 || of_text, "--paired: there is one variant, and pairs are of two");
  }
  std::vector<VariantFiles> files = appends ? std::vector<VariantFiles>{} : given_files(options);
  require(!options.sequence || options.claims.group.empty(),
          "--sequence: it is of one log, and --group of many; certify one of them");
  require(!options.sequence || !options.allow_dependence,
          "--allow-dependence: it is not needed with --sequence, whose rows may depend on each other");
  require(!options.sequence || options.worst_case.empty(),
          "--worst-case: it is about new problems, and --sequence about the past of one log");
  ClaimArguments arguments = options.claims;
  if (options.sequence) arguments.sampling = certify::Sampling::sequence;
  if (!arguments.group.empty()) arguments.sampling = certify::Sampling::groups;
  const bool range_to_prove = arguments.range == range_of_worst_case;
  if (range_to_prove) arguments.range = proven_range(arguments, stated);
  certify::Options claims = arguments.options();
  if (of_text && verb.count("--metric") == 0) claims.metric = "";  // the label says it
  begin_work();
  if (of_tallies(options.files)) {
    require_only(verb,
                 {"files", "--allow-dependence", "--threads", "--out", "--json", "--help", "--memory-limit"},
                 "tallies, which have declared all of it");
    return certify_parts(options);
  }
  io::Configuration data;
  std::optional<certify::Certificate> before;
  if (appends) {
    const std::string path = certificate_file(options.append).string();
    before = certify::read_held_certificate(path).certificate;
    claims = certify::options_to_append(*before);
    const std::size_t variants = before->variants.size();
    require(options.files.size() == variants || variants == 1,
            "--append: {} files for {} variants; give one for each, in the order of the certificate",
            options.files.size(), variants);
    take_back_unfinished(options, *before);
    files = appended_files(options, *before);
    data.emplace_back("--append", io::sha256_of_file(path));
  }
  options.checkpoint.prepare();
  const auto journal = open_journal(options.checkpoint, verb, data);
  if (!options.tally.empty()) {
    const StopSignals signals(how_to_go_on(options.checkpoint));
    count_part(options, claims, *journal);
    journal->close();
    return;
  }
  std::unique_ptr<io::ResultFolder> folder;
  certify::Certificate certificate = [&] {
    const StopSignals signals(how_to_go_on(options.checkpoint));
    certify::Certificate counted = of_text ? certify_text(options, claims, *journal, folder)
                                           : certify_files(options, files, claims, *journal, folder);
    if (stated) certify::add_worst_case(counted, *stated, StopSignals::check);
    require(!range_to_prove || certify::range_is_proven(counted),
            "--range: the worst case does not prove the range at every step; certify steps from 1 on");
    return counted;
  }();
  say_left_out(claims, certificate);
  if (before) certify::require_continues(*before, certificate);
  std::optional<PairedVariants> paired;
  std::vector<std::string> texts;
  std::vector<io::FileContent> others;  // views of the texts
  if (options.paired) {
    const StopSignals signals("");
    paired = compare_variants(tables_to_pair(options), certificate);
    const std::size_t count = paired->comparisons.size();
    for (const certify::PairedComparison& comparison : paired->comparisons)
      texts.push_back(certify::to_json(comparison));
    texts.push_back(paired->markdown());
    for (std::size_t i = 0; i < count; ++i)
      others.push_back({report::file_names::paired(i + 1, count), texts[i]});
    others.push_back({report::file_names::paired_summary, texts.back()});
  }
  record_looks(verb, options, certificate);
  write_certificate(certificate, options.output, *folder, std::move(others));
  if (paired && !options.output.json) fmt::print("\n{}", paired->text());
  if (!paired && !options.output.json) {
    if (const std::string command = command_of_pairs(options, certificate); !command.empty())
      fmt::print("The same problems in both?  {}\n", command);
  }
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
  verb->add_option(
      "--append", options->append,
      "add the rows to this certificate, or that of this folder, which was made with --anytime: its tables are found "
      "by their digests and counted with them, under its declarations");
  const std::string parts = "Counting in parts";
  verb->add_option("--tally", options->tally,
                   "count only, into this file; 'surefoot certify *.tally' then certifies all parts together")
      ->group(parts);
  verb->add_option("--source", options->source.name,
                   "for --tally: what the rows are a part of, in words [the file, known by its digest]")
      ->group(parts);
  verb->add_option("--source-sha256", options->source.sha256,
                   "for --source: SHA-256 of the whole table, as 'verify --data' will find it")
      ->group(parts);
  verb->add_option("--first-row", options->first_row, "for --source: the number of the first row there")
      ->group(parts)
      ->check(whole_number)
      ->capture_default_str();
  using certify::Sampling;
  add_claim_options(*verb, options->claims, {Sampling::problems, Sampling::groups, Sampling::sequence});
  add_anytime_option(*verb, options->claims);
  verb->add_option(
      "--group", options->claims.group,
      "column that names the group of each row (ticks of a flight, runs of a day): groups are the independent "
      "samples, and claims are of every tick of a group and of the average tick; a .npy array has groups as "
      "its first of three dimensions");
  verb->add_flag(
      "--sequence", options->sequence,
      "rows are consecutive ticks of one log, which may depend on each other: claims are of the past of this log");
  verb->add_flag(
      "--paired", options->paired,
      "the variants ran on the same problems (row i of every table, or rows of one name): compares each with the "
      "first problem by problem too, with a confidence of its own, into paired.json and paired.md");
  verb->add_option("--average-method", options->claims.average_method, "of averages of groups: betting or kl")
      ->capture_default_str();
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
      "Rows must be independent and identically distributed problems, or belong to groups that are (--group): "
      "repeated rows, rows that resemble "
      "their neighbours and values that drift are refused. Tolerances and steps must be chosen without "
      "looking at the results; with --anytime their number need not be, and --append adds rows later.");
  verb->callback([options, verb] { run(*verb, *options); });
}
