#include "surefoot/report/curves.hpp"

#include "surefoot/certify/kinds/claim_kind.hpp"
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

void add_line(std::string& csv, std::string_view kind, const std::string& variant,
              const certify::CurveRow& row, std::string_view condition,
              const certify::WorstCaseBounds& worst) {
  fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{}", kind, variant, row.step,
                 full_precision(row.parameter), full_precision(row.empirical), full_precision(row.bound),
                 row.method, row.samples, row.count, full_precision(row.delta), condition);
  if (worst.present())
    csv += ',' + full_precision(worst.at(row.step)) + ',' + full_precision(row.with_worst_case);
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
  for (const certify::ClaimKind* kind : certify::claim_kinds()) {
    for (const certify::CurveRow& row : kind->curve(certificate, worst))
      add_line(csv, kind->name(), name(row.variant), row, condition, worst);
  }
  return csv;
}

}  // namespace surefoot::report
