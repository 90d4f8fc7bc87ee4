#include "surefoot/report/curves.hpp"

#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace surefoot::report {
namespace {

constexpr std::string_view header =
    "kind,variant,step,tolerance_or_quantile,empirical,bound,method,samples,failures_or_rank,delta,condition";

void add_line(std::string& csv, std::string_view kind, const std::string& variant, const auto& claim,
              double parameter, double bound, Index count, std::string_view condition,
              const certify::WorstCaseBounds& worst) {
  fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{}", kind, variant, claim.step,
                 full_precision(parameter), full_precision(claim.empirical), full_precision(bound),
                 bounds::name(claim.method), claim.samples, count, full_precision(claim.delta), condition);
  if (worst.present())
    csv += ',' + full_precision(worst.at(claim.step)) + ',' + full_precision(worst.better(claim));
  csv += '\n';
}

}  // namespace

std::string curves_csv(const certify::Certificate& certificate) {
  const certify::WorstCaseBounds worst(certificate);
  std::string csv(header);
  if (worst.present()) csv += worst.estimated() ? ",estimated_worst_case" : ",worst_case";
  csv += worst.present() ? ",with_worst_case\n" : "\n";
  const std::string_view condition = condition_of(certificate);
  const auto name = [&](std::size_t variant) { return csv_quoted(certificate.variants.at(variant).name); };
  for (const auto& claim : certificate.success) {
    add_line(csv, "success", name(claim.variant), claim, claim.tolerance, claim.lower_bound, claim.failures,
             condition, worst);
  }
  for (const auto& claim : certificate.quantile) {
    add_line(csv, "quantile", name(claim.variant), claim, claim.quantile, claim.upper_bound, claim.rank,
             condition, worst);
  }
  return csv;
}

}  // namespace surefoot::report
