#include "surefoot/experiments/verifying.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/count_long_table.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/evidence.hpp"
#include "surefoot/certify/paired_record.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/certify/verify_learned.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/paired_tables.hpp"
#include "surefoot/experiments/rerun.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/json_size.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace surefoot::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_weights = std::size_t{4} << 30;
constexpr std::size_t largest_page = std::size_t{1} << 30;
constexpr std::size_t findings_shown = 20;

/// Lines for the terminal.
class Lines {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] VerifiedResult ending(bool holds) {
    add("{}\n", holds ? "VERIFIED" : "NOT VERIFIED");
    return {holds, std::move(text_)};
  }

 private:
  std::string text_;
};

// Tables of text, each with the variants that were read from it. They say their steps, if there are any.
void recount_text(const VerifyOptions& options, const certify::Certificate& certificate,
                  const std::vector<std::vector<std::size_t>>& tables, certify::Verification& verification) {
  require(options.data.size() == tables.size(),
          "--data: {} files for {} tables; give one for each, in the order of the certificate",
          options.data.size(), tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::vector<certify::Selection> selections;
    for (const std::size_t variant : tables[i])
      selections.push_back(*certificate.variants[variant].selection);
    require_memory_of_text({options.data[i]}, certify::TableChoice::of(selections),
                           certify::options_of(certificate), tables[i].size(), options.memory_limit);
    Progress progress("recounting " + options.data[i]);
    certify::recount_table(
        certificate, tables[i], options.data[i], {.memory_bytes = memory_for_reading(options.memory_limit)},
        [&](Index done, Index total) {
          progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
        },
        verification);
  }
}

// Whether every table says the steps of its columns.
bool recount(const VerifyOptions& options, const certify::Certificate& certificate,
             certify::Verification& verification) {
  if (const auto tables = certify::variants_by_table(certificate); !tables.empty()) {
    recount_text(options, certificate, tables, verification);
    return true;
  }
  std::size_t tables = 0;
  for (const certify::Variant& variant : certificate.variants) tables += certify::table_count(variant);
  const std::size_t variants = certificate.variants.size();
  require(tables > variants || options.data.size() == variants,
          "--data: {} files for {} variants; give one for each, in the order of the certificate",
          options.data.size(), variants);
  require(
      options.data.size() == tables,
      "--data: {} files, the certificate was counted from {} tables; give all of them, each variant's in the "
      "order in which they were added",
      options.data.size(), tables);
  bool steps = true;
  std::size_t next = 0;
  for (std::size_t i = 0; i < variants; ++i) {
    certify::CountedRows counted(certify::counted_apart(certificate.variants[i]));
    for (std::size_t of = 0; of < certify::table_count(certificate.variants[i]); ++of) {
      const std::string& file = options.data[next++];
      const certify::Variant& variant = certificate.variants[i];
      certify::RunTable table(file, variant.first_step,
                              {.memory_bytes = memory_for_reading(options.memory_limit)},
                              variant.groups ? variant.groups->name : "");
      certify::require_same_sampling(certificate, table);
      Progress progress("recounting " + file);
      const runs::TallySpec spec = certify::recount_spec(certificate, table.steps());
      require_memory_of_table(table, certify::options_of(certificate), options.memory_limit);
      table.follow(counted.next_row());
      runs::Tally tally = table.count(spec, [&](Index done, Index total) {
        progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
      });
      counted.add(std::move(tally), table.check(), {file, table.sha256(), 0, table.reading()});
      steps = steps && table.says_steps();
    }
    certify::compare_counted(certificate, i, counted, verification);
  }
  return steps;
}

void reweigh(const VerifyOptions& options, const certify::Certificate& certificate,
             certify::Verification& verification) {
  require(options.weights.size() == certificate.variants.size(),
          "--weights: {} files for {} variants; give one for each, in the order of the certificate",
          options.weights.size(), certificate.variants.size());
  for (std::size_t i = 0; i < options.weights.size(); ++i) {
    std::string bytes = io::read_file(options.weights[i], largest_weights);
    const std::string digest = io::sha256_hex(bytes);
    const auto source = io::memory_bytes(options.weights[i], std::move(bytes));
    const learning::Posterior posterior = learning::load_posterior(*source);
    note_missing_digest(posterior, options.weights[i]);
    certify::compare_weights(certificate, i, posterior, digest, verification);
  }
}

// What the check rests on, what it could not look at, and what the format does not say.
void add_extent(const VerifyOptions& options, const certify::Certificate& certificate, bool steps_said,
                Lines& lines) {
  std::string levels = "arithmetic";
  if (!options.data.empty()) levels += ", counts recounted from the data";
  if (!options.weights.empty()) levels += ", weights read again";
  if (!options.rerun.empty()) levels += ", runs repeated";
  const bool alone = levels == "arithmetic";
  lines.add("Checked:    {}{}\n", levels, alone ? " only: that the claims follow from the counts" : "");
  const auto add = [&](const char* heading, const std::vector<std::string>& items) {
    if (!items.empty())
      lines.add("{}",
                report::wrapped(fmt::format("{}", fmt::join(items, ", ")), 100, heading, "            "));
  };
  add("On trust:   ",
      certify::taken_on_trust(certificate, {!options.data.empty(), steps_said, !options.weights.empty(),
                                            !options.rerun.empty()}));
  for (const std::string& deviation : certify::stated_deviations(certificate))
    add("Deviates:   ", {deviation});
  add("Format 1 does not record: ", certify::missing_in_format(certificate));
}

/// What is wrong with the folder of a certificate: files that its manifest lists, a page of another one.
std::vector<std::string> findings_of_folder(const fs::path& certificate, const std::string& text,
                                            Lines& lines) {
  std::vector<std::string> findings;
  if (const std::optional<fs::path> folder = io::result_folder_of(certificate)) {
    const io::FolderCheck check = io::check_result_folder(*folder);
    findings = check.findings;
    if (findings.empty())
      lines.add("Folder:     {} file{} as listed in {}\n", check.files, check.files == 1 ? "" : "s",
                io::manifest_name);
    for (const std::string& other : check.others) lines.add("Not of it:  {}\n", other);
  }
  const fs::path page = certificate.parent_path() / report::file_names::page;
  std::error_code error;
  const fs::file_status status = fs::status(page, error);
  if (status.type() == fs::file_type::none)
    throw std::system_error(error, page.string() + ": cannot be read");
  if (!fs::is_regular_file(status)) return findings;
  const std::string named = report::certificate_of_page(io::read_file(page, largest_page));
  if (!named.empty() && named != io::sha256_hex(text))
    findings.push_back(
        fmt::format("{}: is of another certificate, with SHA-256 {}", page.filename().string(), named));
  return findings;
}

void add_findings(const std::vector<std::string>& findings, Lines& lines) {
  for (std::size_t i = 0; i < std::min(findings_shown, findings.size()); ++i)
    lines.add("DIFFERS  {}\n", io::printable(findings[i]));
  if (findings.size() > findings_shown) lines.add("         and {} more\n", findings.size() - findings_shown);
}

// A proof of a worst case: nothing is taken on trust but that the problems are of its class and the start as
// near as it says.
VerifiedResult verify_proof(const std::string& file, const std::string& text) {
  Lines lines;
  const worst_case::ParsedProof parsed = worst_case::parse_proof(text);
  worst_case::Replay result = worst_case::replay(parsed);
  for (std::string& finding : findings_of_folder(file, text, lines))
    result.findings.push_back(std::move(finding));
  add_findings(result.findings, lines);
  for (const std::string& sentence : worst_case::sentences(parsed.proof))
    lines.add("{}  {}\n", result.holds() ? "proven" : "stated", sentence);
  lines.add("{} of {} bounds are proven by their multipliers\n", result.proven, result.bounds);
  return lines.ending(result.holds());
}

/// The same comparison of the tables that are given, as `stated` says it was declared.
certify::PairedComparison recompared(const certify::PairedComparison& stated, PairedTables tables) {
  tables.names = fmt::format("{},{}", stated.a, stated.b);
  certify::PairedOptions declared;
  declared.delta = stated.delta;
  declared.allow = stated.allow;
  declared.anytime = stated.anytime;
  declared.shares = stated.shares;
  for (const certify::PairedSuccess& cell : stated.success) declared.claims.push_back(cell.claim);
  for (const certify::PairedTimes& times : stated.times) declared.tolerances.push_back(*times.tolerance);
  return compare_tables(tables, declared);
}

/// A record of a paired comparison: everything again from its counts; with its tables, the counts too.
VerifiedResult verify_paired(const VerifyOptions& options, const std::string& text) {
  require(options.weights.empty() && options.rerun.empty(),
          "--weights and --rerun are for certificates, not for a paired record");
  Lines lines;
  certify::CheckedRecord checked = certify::check_paired_record(text);
  if (!options.data.empty() && checked.findings.empty()) {
    const certify::PairedComparison& stated = checked.comparison;
    require(!stated.scalar,
            "--data: tables of one number per problem are compared again by compare --paired");
    PairedTables tables;
    tables.files = options.data;
    tables.memory_limit = options.memory_limit;
    for (std::string& finding : certify::differences(stated, recompared(stated, std::move(tables))))
      checked.findings.push_back(std::move(finding));
  }
  add_findings(checked.findings, lines);
  for (const std::string& sentence : certify::paired_sentences(checked.comparison))
    lines.add("{}\n", sentence);
  lines.add("Taken on trust: that row i of both tables is the same problem{}\n",
            options.data.empty() ? ", and the counts (check them with --data)" : "");
  return lines.ending(checked.findings.empty());
}

VerifiedResult verify_file(const VerifyOptions& options, Lines lines = {}, bool others_hold = true) {
  require_memory_of_certificates({options.certificate}, options.memory_limit);
  const std::string text = io::read_file(options.certificate, certify::largest_certificate);
  if (worst_case::is_proof(text)) return verify_proof(options.certificate, text);
  if (certify::is_paired_record(text)) return verify_paired(options, text);
  const certify::ParsedCertificate parsed = certify::parse_certificate(text);
  certify::Verification verification = certify::verify(parsed);
  const bool steps_said = !options.data.empty() && recount(options, parsed.certificate, verification);
  if (!options.weights.empty()) reweigh(options, parsed.certificate, verification);
  std::string other_kernels;
  if (!options.rerun.empty())
    other_kernels = rerun_and_compare(parsed.certificate, options.rerun, verification, options.kernels);
  for (std::string& finding : findings_of_folder(options.certificate, text, lines))
    verification.findings.push_back(std::move(finding));
  add_findings(verification.findings, lines);
  lines.add("{} of {} claims hold as recomputed from their counts\n", verification.claims_that_hold,
            verification.claims);
  if (!other_kernels.empty())
    lines.add("{}", report::wrapped(other_kernels, 100, "Kernels:    ", "            "));
  add_extent(options, parsed.certificate, steps_said, lines);
  return lines.ending(verification.holds() && others_hold);
}

/// Whether what a file of a result says holds by itself; its folder is checked elsewhere.
bool file_holds(const fs::path& path, Lines& lines) {
  const std::string text = io::read_file(path, certify::largest_certificate);
  std::vector<std::string> findings;
  if (worst_case::is_proof(text)) {
    findings = worst_case::replay(worst_case::parse_proof(text)).findings;
  } else if (certify::is_paired_record(text)) {
    findings = certify::check_paired_record(text).findings;
  } else {
    findings = certify::verify(certify::parse_certificate(text)).findings;
  }
  add_findings(findings, lines);
  return findings.empty();
}

bool is_to_be_verified(const std::string& name) {
  const fs::path file = fs::path(name).filename();
  return file == report::file_names::certificate || file == "proof.json";
}

/// The records of paired comparisons beside a certificate. With the tables of its variants, those of each
/// record are compared again; tables of text are by `compare --paired`.
bool records_hold(const VerifyOptions& options, const fs::path& folder,
                  const std::vector<std::string>& records, Lines& lines) {
  bool all = true;
  for (const std::string& name : records) {
    require_memory_of_certificates({folder / name}, options.memory_limit);
    certify::CheckedRecord checked =
        certify::check_paired_record(io::read_file(folder / name, certify::largest_certificate));
    const certify::PairedComparison& stated = checked.comparison;
    const std::vector<certify::Variant> variants =
        certify::read_held_certificate(options.certificate).certificate.variants;
    const auto data_of = [&](const std::string& variant) -> std::string {
      for (std::size_t i = 0; i < variants.size() && options.data.size() == variants.size(); ++i)
        if (variants[i].name == variant && !variants[i].selection) return options.data[i];
      return "";
    };
    const bool recounted = checked.findings.empty() && !stated.scalar && !data_of(stated.a).empty() &&
                           !data_of(stated.b).empty();
    if (recounted) {
      PairedTables tables;
      tables.files = {data_of(stated.a), data_of(stated.b)};
      tables.memory_limit = options.memory_limit;
      if (variants.front().groups) tables.group = variants.front().groups->name;
      tables.first_step = variants.front().first_step;
      for (std::string& finding : certify::differences(stated, recompared(stated, std::move(tables))))
        checked.findings.push_back(std::move(finding));
    }
    add_findings(checked.findings, lines);
    const bool holds = checked.findings.empty();
    lines.add("{}: {} and {} on the same {} problems: {}\n", io::printable(name), io::printable(stated.a),
              io::printable(stated.b), stated.pairs,
              !holds      ? "does not hold"
              : recounted ? "holds as recounted from the data"
                          : "holds as recomputed from its counts");
    all = all && holds;
  }
  return all;
}

}  // namespace

void require_memory_of_certificates(const std::vector<std::filesystem::path>& files, std::uint64_t limit) {
  // One after the other is taken apart into values of JSON, and written again to compare its digest. What is
  // kept of it is smaller.
  constexpr double texts = 8;
  constexpr double kept = 3;
  constexpr double longest = 300e6;  // those are not read
  double all = 0;
  double largest = 0;
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    const auto size = static_cast<double>(std::filesystem::file_size(file, error));
    if (error || size > longest) continue;
    all += kept * size;
    largest = std::max(largest, texts * size + io::json_tree_bytes(*io::open_raw_bytes(file.string())));
  }
  MemoryNeeds needs(limit);
  needs.add_bytes(files.size() == 1 ? "the certificate" : "the certificates",
                  largest + (files.size() == 1 ? 0 : all));
  needs.require_fit();
}

VerifiedResult verify_result(VerifyOptions options) {
  const fs::path folder = options.certificate;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return verify_file(options);
  require(fs::exists(folder / io::manifest_name, error), "{}: has no {}; name a certificate in it",
          io::printable(folder.string()), io::manifest_name);
  const io::FolderCheck check = io::check_result_folder(folder);
  std::vector<std::string> files;
  std::vector<std::string> records;
  for (const std::string& name : io::files_of_result(folder)) {
    // What is missing is a finding already; only then a certificate may be left out.
    const bool there = check.findings.empty() || fs::exists(folder / name, error);
    if (is_to_be_verified(name) && there) files.push_back(name);
    if (report::file_names::is_paired(fs::path(name).filename().string()) && there) records.push_back(name);
  }
  if (files.size() == 1) {
    const fs::path only = folder / files.front();
    const std::optional<fs::path> own = io::result_folder_of(only);
    if (own && fs::equivalent(*own, folder)) {
      options.certificate = only.string();
      Lines lines;
      const bool hold = records_hold(options, folder, records, lines);
      return verify_file(options, std::move(lines), hold);
    }
  }
  require(options.data.empty() && options.weights.empty() && options.rerun.empty(),
          "--data, --weights and --rerun are for one certificate, not for a folder with {} of them",
          files.size());
  Lines lines;
  add_findings(check.findings, lines);
  bool all = check.findings.empty();
  const std::size_t certificates = files.size();
  files.insert(files.end(), records.begin(), records.end());
  for (const std::string& name : files) {
    require_memory_of_certificates({folder / name}, options.memory_limit);
    const bool good = file_holds(folder / name, lines);
    all = all && good;
    lines.add("{}: {}\n", io::printable(name),
              good ? "holds as recomputed from its counts" : "does not hold");
  }
  for (const std::string& other : check.others) lines.add("Not of it:  {}\n", other);
  lines.add("{} files as listed, {} certificates\n", check.files, certificates);
  return lines.ending(all);
}

}  // namespace surefoot::experiments
