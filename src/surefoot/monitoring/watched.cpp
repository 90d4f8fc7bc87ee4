#include "surefoot/monitoring/watched.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/certify/ask.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace surefoot::monitoring {
namespace {

using certify::Answer;
using certify::Certificate;
using certify::ClaimText;

const certify::Variant& only_variant(const Certificate& certificate, const std::string& name) {
  std::vector<std::string> names;
  for (const certify::Variant& variant : certificate.variants) {
    if (variant.name == name) return variant;
    names.push_back(variant.name);
  }
  require(name.empty(), "there is no variant '{}'; the certificate has {}", io::printable(name),
          fmt::join(names, ", "));
  require(certificate.variants.size() == 1, "variant: say which one is in service: {}",
          fmt::join(names, ", "));
  return certificate.variants.front();
}

/// The probability of a failure, if a share succeeds.
double rate_of(double share) {
  const double rate = 1 - share;
  return rate == 0 || 1 - rate == share ? rate : bounds::up(rate);
}

WatchedClaim watched(const Answer& answer, bool share_is_given) {
  ClaimText shown = answer.claim;
  if (!share_is_given) shown.share.reset();
  return {to_text(shown), {answer.claim.value, answer.claim.strict, rate_of(answer.claim.share.value_or(0))}};
}

std::vector<WatchedClaim> said(const Certificate& certificate, const std::vector<std::string>& claims,
                               const std::string& variant) {
  std::vector<WatchedClaim> result;
  for (const std::string& text : claims) {
    const Answer answer = certify::ask(certificate, text, variant).front();
    require(answer.holds, "the claim '{}' is not certified{}", text,
            answer.but.empty() ? "" : fmt::format("; certified is: {}", fmt::join(answer.but, "; ")));
    result.push_back(
        watched(answer, certify::parse_claim(text, certify::ShareIs::optional).share.has_value()));
  }
  return result;
}

std::vector<WatchedClaim> usual(const Certificate& certificate, const certify::Variant& variant) {
  std::vector<WatchedClaim> result;
  for (const double tolerance : certificate.tolerances) {
    const ClaimText claim{.share = {},
                          .strict = !certificate.scalar,
                          .value = tolerance,
                          .when = certificate.scalar ? ClaimText::When::unsaid : ClaimText::When::after,
                          .step = certificate.scalar ? 0 : variant.last_step};
    const Answer answer = certify::ask(certificate, to_text(claim), variant.name).front();
    if (answer.holds) result.push_back(watched(answer, false));
  }
  require(!result.empty(), "the certificate has no success rate at its last step; say --claim");
  require(result.size() <= SUREFOOT_MONITOR_CLAIMS,
          "the certificate has {} tolerances, a monitor has room for {}; say --claim", result.size(),
          SUREFOOT_MONITOR_CLAIMS);
  return result;
}

}  // namespace

WatchOptions watch_of(const certify::ParsedCertificate& parsed, const std::vector<std::string>& claims,
                      const std::string& variant) {
  const Certificate& certificate = parsed.certificate;
  const certify::Variant& of = only_variant(certificate, variant);
  require(certificate.simultaneous == certify::Simultaneity::all,
          "each claim of this certificate holds alone; certify with simultaneous 'all' to monitor it");
  WatchOptions options;
  options.claims = claims.empty() ? usual(certificate, of) : said(certificate, claims, of.name);
  options.certificate = parsed.computed_digest;
  options.variant = of.name;
  options.metric = certificate.metric;
  options.delta = certificate.delta;
  return options;
}

}  // namespace surefoot::monitoring
