#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/evidence.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/certify/verify_learned.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_setting.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include "exit_codes.hpp"
#include "rerun.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

constexpr std::size_t largest_certificate = std::size_t{256} << 20;
constexpr std::size_t largest_weights = std::size_t{4} << 30;
constexpr std::size_t findings_shown = 20;

struct VerifyOptions {
  std::string certificate;
  std::vector<std::string> data;
  std::vector<std::string> weights;
  std::string rerun;  ///< folder
};

// Whether every table says the steps of its columns.
bool recount(const VerifyOptions& options, const certify::Certificate& certificate,
             certify::Verification& verification) {
  require(options.data.size() == certificate.variants.size(),
          "--data: {} files for {} variants; give one for each, in the order of the certificate",
          options.data.size(), certificate.variants.size());
  bool steps = true;
  for (std::size_t i = 0; i < options.data.size(); ++i) {
    certify::RunTable table(options.data[i], certificate.variants[i].first_step);
    Progress progress("recounting " + options.data[i]);
    const runs::TallySpec spec = certify::recount_spec(certificate, table.steps());
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

// A proof of a worst case: nothing is taken on trust but that the problems are of its class and the start as
// near as it says.
int run_proof(const std::string& text) {
  const worst_case::ParsedProof parsed = worst_case::parse_proof(text);
  const worst_case::Replay result = worst_case::replay(parsed);
  for (const std::string& finding : result.findings) fmt::print("DIFFERS  {}\n", io::printable(finding));
  for (const std::string& sentence : worst_case::sentences(parsed.proof))
    fmt::print("{}  {}\n", result.holds() ? "proven" : "stated", sentence);
  fmt::print("{} of {} bounds are proven by their multipliers\n{}\n", result.proven, result.bounds,
             result.holds() ? "VERIFIED" : "NOT VERIFIED");
  return result.holds() ? holds : refuted;
}

int run(const VerifyOptions& options) {
  const std::string text = io::read_file(options.certificate, largest_certificate);
  if (worst_case::is_proof(text)) return run_proof(text);
  const certify::ParsedCertificate parsed = certify::parse_certificate(text);
  certify::Verification verification = certify::verify(parsed);
  const bool steps_said = !options.data.empty() && recount(options, parsed.certificate, verification);
  if (!options.weights.empty()) reweigh(options, parsed.certificate, verification);
  if (!options.rerun.empty()) rerun_and_compare(parsed.certificate, options.rerun, verification);
  for (std::size_t i = 0; i < std::min(findings_shown, verification.findings.size()); ++i) {
    fmt::print("DIFFERS  {}\n", io::printable(verification.findings[i]));
  }
  if (verification.findings.size() > findings_shown) {
    fmt::print("         and {} more\n", verification.findings.size() - findings_shown);
  }
  fmt::print("{} of {} claims hold as recomputed from their counts\n", verification.claims_that_hold,
             verification.claims);
  print_extent(options, parsed.certificate, steps_said);
  fmt::print("{}\n", verification.holds() ? "VERIFIED" : "NOT VERIFIED");
  return verification.holds() ? holds : refuted;
}

}  // namespace

void add_verify_verb(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* verb = app.add_subcommand(
      "verify", "Recompute every claim of a certificate from its counts, or from the data");
  verb->add_option("certificate", options->certificate, "certificate.json, or the proof.json of a worst case")
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
  verb->footer(
      "Example: surefoot verify surefoot-report/certificate.json --data results.csv\n"
      "         surefoot verify surefoot-report/certificate.json --rerun examples/mpc\n"
      "Exit code 0: it holds; 1: it does not; 2: it cannot be checked.");
  verb->callback([options, &exit_code] { exit_code = run(*options); });
}
