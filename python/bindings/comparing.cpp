#include "surefoot/certify/compare.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/certify/paired_record.hpp"
#include "surefoot/certify/paired_rows.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/report/comparison.hpp"

#include "held_certificate.hpp"
#include "rooms.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace surefoot::python {

namespace {

/// A certificate and what it is called; only one that holds can be compared.
using NamedCertificate = std::pair<const HeldCertificate*, std::string>;

report::Compared compared_of(const NamedCertificate& given) {
  certify::ParsedCertificate parsed = certify::parse_certificate(given.first->text());
  const certify::Verification verification = certify::verify(parsed);
  require(verification.holds(), "{}: this certificate does not hold as recomputed from its counts: {}",
          given.second, verification.findings.empty() ? "" : verification.findings.front());
  return {given.second, parsed.computed_digest, std::move(parsed.certificate)};
}

py::tuple compare_certificates(const NamedCertificate& first, const NamedCertificate& second, double delta,
                               const std::vector<std::pair<std::string, std::string>>& variants) {
  certify::CompareOptions options;
  options.delta = delta;
  options.variants = variants;
  const report::Compared a = compared_of(first);
  const report::Compared b = compared_of(second);
  const certify::Comparison comparison =
      certify::compare(a.certificate, b.certificate, options, a.digest == b.digest);
  std::vector<std::string> sentences;
  for (const certify::VariantComparison& pair : comparison.pairs)
    for (std::string& sentence : report::verdict_sentences(a, b, pair, comparison.together))
      sentences.push_back(std::move(sentence));
  return py::make_tuple(report::comparison_json(a, b, comparison), report::terminal_text(a, b, comparison),
                        sentences);
}

py::tuple rank_certificates(const std::vector<NamedCertificate>& given,
                            const std::vector<std::string>& claims, double delta) {
  std::vector<certify::ClaimText> parsed;
  for (const std::string& claim : claims)
    parsed.push_back(certify::parse_claim(claim, certify::ShareIs::optional));
  std::vector<report::Compared> certificates;
  for (const NamedCertificate& each : given) {
    report::Compared read = compared_of(each);
    for (const report::Compared& other : certificates)
      require(other.digest != read.digest, "{} and {} are one and the same certificate", other.source,
              read.source);
    certificates.push_back(std::move(read));
  }
  std::vector<certify::ToRank> ranked;
  for (const report::Compared& each : certificates) ranked.push_back({each.source, &each.certificate});
  const std::vector<certify::Ranking> rankings = certify::rank_variants(ranked, parsed, delta);
  return py::make_tuple(report::ranking_json(rankings),
                        report::ranking_text(certificates.front().certificate, rankings));
}

/// Names as the program takes them: "old,new", or empty.
py::tuple compare_files(const std::vector<std::string>& files, const std::string& names,
                        const std::string& group, const certify::PairedOptions& options) {
  require(files.size() == 2, "compare_paired: {} files are given; pairs are of two tables", files.size());
  options.validate();
  const certify::PairedComparison comparison = [&] {
    const py::gil_scoped_release unlocked;
    certify::RunTable first(files[0], std::nullopt, io::TableOptions{}, group);
    certify::RunTable second(files[1], std::nullopt, io::TableOptions{}, group);
    return certify::compare_run_tables(certify::table_names(files, names), {&first, &second}, options);
  }();
  return paired_result(comparison);
}

py::tuple compare_texts(const std::vector<std::string>& files, const std::string& names,
                        const certify::TableChoice& choice, const certify::PairedOptions& options) {
  const certify::PairedComparison comparison = [&] {
    const py::gil_scoped_release unlocked;
    std::vector<certify::LongTable> read;
    for (const std::string& file : files) read.emplace_back(file, choice, io::TableOptions{});
    return certify::compare_long_tables(files, names, read, options);
  }();
  return paired_result(comparison);
}

}  // namespace

py::tuple paired_result(const certify::PairedComparison& comparison) {
  return py::make_tuple(certify::to_json(comparison), certify::to_text(comparison),
                        certify::markdown_text(comparison),
                        comparison.allow ? certify::junit_text(comparison) : std::string());
}

void add_comparing(py::module_& module) {
  module.def("compare_certificates", &compare_certificates);
  module.def("rank_certificates", &rank_certificates);
  module.def("compare_files", &compare_files);
  module.def("compare_texts", &compare_texts);
  module.def("check_paired_record",
             [](const std::string& text) { return certify::check_paired_record(text).findings; });
}

}  // namespace surefoot::python
