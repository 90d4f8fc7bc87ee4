#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "progress.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace surefoot;

constexpr std::size_t largest_certificate = std::size_t{256} << 20;
constexpr std::size_t findings_shown = 20;

struct VerifyOptions {
  std::string certificate;
  std::vector<std::string> data;
};

void recount(const VerifyOptions& options, const certify::Certificate& certificate,
             certify::Verification& verification) {
  require(options.data.size() == certificate.variants.size(),
          "--data: {} files for {} variants; give one for each, in the order of the certificate",
          options.data.size(), certificate.variants.size());
  for (std::size_t i = 0; i < options.data.size(); ++i) {
    certify::RunTable table(options.data[i], certificate.variants[i].first_step);
    Progress progress("recounting " + options.data[i]);
    const runs::TallySpec spec = certify::recount_spec(certificate, table.steps());
    const runs::Tally tally = table.count(spec, [&](Index done, Index total) {
      progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
    });
    certify::compare_recount(certificate, i, tally, table.sha256(), verification);
  }
}

int run(const VerifyOptions& options) {
  const certify::ParsedCertificate parsed =
      certify::parse_certificate(io::read_file(options.certificate, largest_certificate));
  certify::Verification verification = certify::verify(parsed);
  if (!options.data.empty()) recount(options, parsed.certificate, verification);
  for (std::size_t i = 0; i < std::min(findings_shown, verification.findings.size()); ++i) {
    fmt::print("DIFFERS  {}\n", verification.findings[i]);
  }
  if (verification.findings.size() > findings_shown) {
    fmt::print("         and {} more\n", verification.findings.size() - findings_shown);
  }
  fmt::print("{} of {} claims hold as recomputed from their counts{}\n", verification.claims_that_hold,
             verification.claims,
             options.data.empty() ? "; the counts themselves were not checked (--data)"
                                  : (verification.holds() ? ", and the data give the same counts" : ""));
  fmt::print("{}\n", verification.holds() ? "VERIFIED" : "NOT VERIFIED");
  return verification.holds() ? 0 : 1;
}

}  // namespace

void add_verify_verb(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* verb = app.add_subcommand(
      "verify", "Recompute every claim of a certificate from its counts, or from the data");
  verb->add_option("certificate", options->certificate, "certificate.json")->required();
  verb->add_option("--data", options->data, "the tables it was made from, one per variant: count them again");
  verb->footer("Example: surefoot verify surefoot-report/certificate.json --data results.csv");
  verb->callback([options, &exit_code] { exit_code = run(*options); });
}
