#include "surefoot/report/report.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/report/curves.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace surefoot::report {
namespace {

constexpr std::size_t rows_in_paper = 12;

constexpr const char* table_folder = "tables";
constexpr const char* markdown_ending = ".md";
constexpr const char* latex_ending = ".tex";
constexpr const char* pdf_ending = ".pdf";
constexpr const char* svg_ending = ".svg";

/// "success" of "success_12".
std::string without_number(const std::string& stem) {
  const std::size_t end = stem.find_last_not_of("0123456789");
  const bool numbered = end != std::string::npos && end + 1 < stem.size() && stem[end] == '_';
  return numbered ? stem.substr(0, end) : stem;
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::count(all, text) > 0;
}

void add_claim_tables(Report& report, const certify::Certificate& certificate) {
  const std::vector<Index> steps = telling_steps(certificate, rows_in_paper);
  for (const certify::ClaimKind* kind : certify::claim_kinds_to_show()) {
    if (kind->size(certificate) == 0) continue;
    const std::string id(kind->section_id());
    const bool each = kind->table_per_variant(certificate);
    if (!each) add_table(report, id, kind->table(certificate, 0, steps));
    for (std::size_t v = 0; each && v < certificate.variants.size(); ++v) {
      const std::string suffix = certificate.variants.size() > 1 ? fmt::format("_{}", v + 1) : "";
      add_table(report, id + suffix, kind->table(certificate, v, steps));
    }
  }
  if (!certificate.shares.empty()) add_table(report, file_names::confidence, share_table(certificate));
}

/// Whether a kind of claims has tables of this name.
bool is_table_of_claims(const std::string& stem) {
  return std::ranges::any_of(certify::claim_kinds(),
                             [&](const certify::ClaimKind* kind) { return kind->section_id() == stem; });
}

}  // namespace

void add_notice(Report& report, const std::string& text) {
  if (!text.empty() && std::ranges::count(report.notices, text) == 0) report.notices.push_back(text);
}

void add_figure(Report& report, const Figure& figure, const PlotOptions& options) {
  const auto add = [&](const Image& image, const char* ending) {
    add_notice(report, image.notice);
    if (image.content) report.files.push_back({figure.name + ending, *image.content});
  };
  const Image pdf = render(figure, ImageFormat::pdf, options);
  add(pdf, pdf_ending);
  add(outlined(pdf, figure.name, options), svg_ending);
}

void add_table(Report& report, const std::string& name, const TextTable& table) {
  if (table.rows.empty()) return;
  const std::string path = std::string(table_folder) + '/' + name;
  report.files.push_back({path + markdown_ending, to_markdown(table)});
  report.files.push_back({path + latex_ending, to_latex(table)});
}

Report make_report(const certify::Certificate& certificate, const PlotOptions& options,
                   const std::vector<PageFigure>& pictures, const std::vector<ResultTable>& compared) {
  Report report;
  std::vector<PageFigure> figures;
  for (const Figure& figure : figures_of(certificate)) {
    if (!has_curves(figure)) continue;
    PageFigure& page = figures.emplace_back(page_figure(figure, options));
    if (certificate.scalar) page.chart = "";
    add_notice(report, page.notice);
    add_figure(report, figure, options);
  }
  figures.insert(figures.end(), pictures.begin(), pictures.end());
  add_claim_tables(report, certificate);
  report.files.push_back({file_names::curves, curves_csv(certificate)});
  report.files.push_back({file_names::page, report_html(certificate, figures, compared)});
  return report;
}

bool is_report_file(const std::filesystem::path& name) {
  const std::string ending = name.extension().string();
  const std::string stem = without_number(name.stem().string());
  if (name.parent_path() == table_folder) {
    return is_one_of(ending, {markdown_ending, latex_ending}) &&
           (is_table_of_claims(stem) ||
            is_one_of(stem, {file_names::confidence, file_names::ranking, file_names::compared_iterations,
                             file_names::compared_success, file_names::compared_quantiles}));
  }
  if (name.has_parent_path()) return false;
  return is_one_of(name.string(), {file_names::page, file_names::curves, file_names::comparison,
                                   file_names::ranking_record}) ||
         (is_one_of(ending, {pdf_ending, svg_ending}) &&
          is_one_of(stem, {file_names::success, file_names::quantiles, file_names::distribution}));
}

bool is_file_of_certificate(const std::filesystem::path& name) {
  return name == file_names::certificate || name == file_names::traces || name == file_names::terminations ||
         name == file_names::paired_summary || file_names::is_paired(name.string()) || is_report_file(name);
}

std::string file_names::paired(std::size_t number, std::size_t count) {
  return count == 1 ? std::string("paired.json") : fmt::format("paired_{}.json", number);
}

bool file_names::is_paired(std::string_view name) {
  constexpr std::string_view begin = "paired";
  constexpr std::string_view end = ".json";
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + end.size())
    return false;
  const std::string_view number = name.substr(begin.size(), name.size() - begin.size() - end.size());
  return number.empty() || (number.size() > 1 && number.front() == '_' &&
                            number.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

std::vector<std::string> write_files(const Report& report, io::ResultFolder& folder,
                                     std::vector<io::FileContent> others) {
  for (const ReportFile& file : report.files) others.push_back({file.name, file.content});
  folder.finish(others);
  return report.notices;
}

std::vector<std::string> write_report(const certify::Certificate& certificate, io::ResultFolder& folder,
                                      std::vector<io::FileContent> others) {
  const std::string json = certify::to_json(certificate);
  others.push_back({file_names::certificate, json});
  return write_files(make_report(certificate), folder, std::move(others));
}

std::vector<std::string> write_report(const certify::Certificate& certificate,
                                      const std::filesystem::path& folder) {
  io::ResultFolder result(folder, is_file_of_certificate);
  return write_report(certificate, result);
}

}  // namespace surefoot::report
