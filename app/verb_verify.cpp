#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/evidence.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/certify/verify_learned.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/rerun.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include "begin_work.hpp"
#include "exit_codes.hpp"
#include "verbs.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;
namespace fs = std::filesystem;

constexpr std::size_t largest_certificate = std::size_t{256} << 20;
constexpr std::size_t largest_weights = std::size_t{4} << 30;
constexpr std::size_t largest_page = std::size_t{1} << 30;
constexpr std::size_t findings_shown = 20;

struct VerifyOptions {
  std::string certificate;
  std::vector<std::string> data;
  std::vector<std::string> weights;
  std::string rerun;  ///< folder
  std::uint64_t memory_limit = 0;
};

// Whether every table says the steps of its columns.
bool recount(const VerifyOptions& options, const certify::Certificate& certificate,
             certify::Verification& verification) {
  require(options.data.size() == certificate.variants.size(),
          "--data: {} files for {} variants; give one for each, in the order of the certificate",
          options.data.size(), certificate.variants.size());
  bool steps = true;
  for (std::size_t i = 0; i < options.data.size(); ++i) {
    certify::RunTable table(options.data[i], certificate.variants[i].first_step,
                            {.memory_bytes = memory_for_reading(options.memory_limit)});
    Progress progress("recounting " + options.data[i]);
    const runs::TallySpec spec = certify::recount_spec(certificate, table.steps());
    require_memory_of_table(table, certify::options_of(certificate), options.memory_limit);
    const runs::Tally tally = table.count(spec, [&](Index done, Index total) {
      progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
    });
    certify::compare_recount(certificate, i, tally, table.sha256(), verification);
    certify::compare_rows(certificate, i, table.reading(), table.independence(), verification);
    steps = steps && table.says_steps();
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
void print_extent(const VerifyOptions& options, const certify::Certificate& certificate, bool steps_said) {
  std::string levels = "arithmetic";
  if (!options.data.empty()) levels += ", counts recounted from the data";
  if (!options.weights.empty()) levels += ", weights read again";
  if (!options.rerun.empty()) levels += ", runs repeated";
  const bool alone = levels == "arithmetic";
  fmt::print("Checked:    {}{}\n", levels, alone ? " only: that the claims follow from the counts" : "");
  const auto print = [](const char* heading, const std::vector<std::string>& items) {
    if (!items.empty())
      fmt::print("{}",
                 report::wrapped(fmt::format("{}", fmt::join(items, ", ")), 100, heading, "            "));
  };
  print("On trust:   ",
        certify::taken_on_trust(certificate, {!options.data.empty(), steps_said, !options.weights.empty(),
                                              !options.rerun.empty()}));
  for (const std::string& deviation : certify::stated_deviations(certificate))
    print("Deviates:   ", {deviation});
  print("Format 1 does not record: ", certify::missing_in_format(certificate));
}

/// What is wrong with the folder of a certificate: files that its manifest lists, a page of another one.
std::vector<std::string> findings_of_folder(const fs::path& certificate, const std::string& text) {
  std::vector<std::string> findings;
  if (const std::optional<fs::path> folder = io::result_folder_of(certificate)) {
    const io::FolderCheck check = io::check_result_folder(*folder);
    findings = check.findings;
    if (findings.empty())
      fmt::print("Folder:     {} file{} as listed in {}\n", check.files, check.files == 1 ? "" : "s",
                 io::manifest_name);
    for (const std::string& other : check.others) fmt::print("Not of it:  {}\n", other);
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

void print_findings(const std::vector<std::string>& findings) {
  for (std::size_t i = 0; i < std::min(findings_shown, findings.size()); ++i)
    fmt::print("DIFFERS  {}\n", io::printable(findings[i]));
  if (findings.size() > findings_shown)
    fmt::print("         and {} more\n", findings.size() - findings_shown);
}

// A proof of a worst case: nothing is taken on trust but that the problems are of its class and the start as
// near as it says.
int run_proof(const std::string& file, const std::string& text) {
  const worst_case::ParsedProof parsed = worst_case::parse_proof(text);
  worst_case::Replay result = worst_case::replay(parsed);
  for (std::string& finding : findings_of_folder(file, text)) result.findings.push_back(std::move(finding));
  print_findings(result.findings);
  for (const std::string& sentence : worst_case::sentences(parsed.proof))
    fmt::print("{}  {}\n", result.holds() ? "proven" : "stated", sentence);
  fmt::print("{} of {} bounds are proven by their multipliers\n{}\n", result.proven, result.bounds,
             result.holds() ? "VERIFIED" : "NOT VERIFIED");
  return result.holds() ? holds : refuted;
}

int run_file(const VerifyOptions& options) {
  require_memory_of_certificates({options.certificate}, options.memory_limit);
  const std::string text = io::read_file(options.certificate, largest_certificate);
  if (worst_case::is_proof(text)) return run_proof(options.certificate, text);
  const certify::ParsedCertificate parsed = certify::parse_certificate(text);
  certify::Verification verification = certify::verify(parsed);
  const bool steps_said = !options.data.empty() && recount(options, parsed.certificate, verification);
  if (!options.weights.empty()) reweigh(options, parsed.certificate, verification);
  if (!options.rerun.empty()) rerun_and_compare(parsed.certificate, options.rerun, verification);
  for (std::string& finding : findings_of_folder(options.certificate, text))
    verification.findings.push_back(std::move(finding));
  print_findings(verification.findings);
  fmt::print("{} of {} claims hold as recomputed from their counts\n", verification.claims_that_hold,
             verification.claims);
  print_extent(options, parsed.certificate, steps_said);
  fmt::print("{}\n", verification.holds() ? "VERIFIED" : "NOT VERIFIED");
  return verification.holds() ? holds : refuted;
}

/// Whether what a file of a result says holds by itself; its folder is checked elsewhere.
bool file_holds(const fs::path& path) {
  const std::string text = io::read_file(path, largest_certificate);
  std::vector<std::string> findings;
  if (worst_case::is_proof(text)) {
    findings = worst_case::replay(worst_case::parse_proof(text)).findings;
  } else {
    findings = certify::verify(certify::parse_certificate(text)).findings;
  }
  print_findings(findings);
  return findings.empty();
}

bool is_to_be_verified(const std::string& name) {
  const fs::path file = fs::path(name).filename();
  return file == report::file_names::certificate || file == "proof.json";
}

/// A folder with one certificate is that certificate; of more, each is verified from its counts.
int run(VerifyOptions options) {
  begin_work();
  const fs::path folder = options.certificate;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return run_file(options);
  require(fs::exists(folder / io::manifest_name, error), "{}: has no {}; name a certificate in it",
          io::printable(folder.string()), io::manifest_name);
  const io::FolderCheck check = io::check_result_folder(folder);
  std::vector<std::string> files;
  for (const std::string& name : io::files_of_result(folder)) {
    // What is missing is a finding already; only then a certificate may be left out.
    const bool there = check.findings.empty() || fs::exists(folder / name, error);
    if (is_to_be_verified(name) && there) files.push_back(name);
  }
  if (files.size() == 1) {
    const fs::path only = folder / files.front();
    const std::optional<fs::path> own = io::result_folder_of(only);
    if (own && fs::equivalent(*own, folder)) {
      options.certificate = only.string();
      return run_file(options);
    }
  }
  require(options.data.empty() && options.weights.empty() && options.rerun.empty(),
          "--data, --weights and --rerun are for one certificate, not for a folder with {} of them",
          files.size());
  print_findings(check.findings);
  bool all = check.findings.empty();
  for (const std::string& name : files) {
    require_memory_of_certificates({folder / name}, options.memory_limit);
    const bool good = file_holds(folder / name);
    all = all && good;
    fmt::print("{}: {}\n", io::printable(name),
               good ? "holds as recomputed from its counts" : "does not hold");
  }
  for (const std::string& other : check.others) fmt::print("Not of it:  {}\n", other);
  fmt::print("{} files as listed, {} certificates\n{}\n", check.files, files.size(),
             all ? "VERIFIED" : "NOT VERIFIED");
  return all ? holds : refuted;
}

}  // namespace

void add_verify_verb(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* verb = app.add_subcommand(
      "verify", "Recompute every claim of a certificate from its counts, or from the data");
  verb->add_option("certificate", options->certificate,
                   "certificate.json, the proof.json of a worst case, or the folder of a result")
      ->required();
  verb->add_option("--data", options->data, "the tables it was made from, one per variant: count them again");
  verb->add_option("--weights", options->weights,
                   "learned optimizers: their weights, one per variant; KL and B are computed again");
  verb->add_option(
          "--rerun", options->rerun,
          "make the runs again with the command that the certificate records, and compare all of it; its "
          "files are looked for in this folder, by their digests [.]")
      ->expected(0, 1)
      ->default_str(".");
  add_memory_option(*verb, options->memory_limit);
  verb->footer(
      "Example: surefoot verify surefoot-report/certificate.json --data results.csv\n"
      "         surefoot verify surefoot-report/certificate.json --rerun examples/mpc\n"
      "Exit code 0: it holds; 1: it does not; 2: it cannot be checked.");
  verb->callback([options, &exit_code] { exit_code = run(*options); });
}
