#include "surefoot/report/report.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/report/curves.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::report {
namespace {

constexpr std::size_t rows_in_paper = 12;

void add_notice(Report& report, const std::string& text) {
  if (!text.empty() && std::ranges::count(report.notices, text) == 0) report.notices.push_back(text);
}

void add_claim_tables(Report& report, const certify::Certificate& certificate) {
  add_table(report, "iterations", budget_table(certificate));
  const std::vector<Index> steps = telling_steps(certificate, rows_in_paper);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const std::string suffix = certificate.variants.size() > 1 ? fmt::format("_{}", v + 1) : "";
    if (!certificate.success.empty())
      add_table(report, "success" + suffix, success_table(certificate, v, steps));
    if (!certificate.quantile.empty())
      add_table(report, "quantiles" + suffix, quantile_table(certificate, v, steps));
  }
  if (!certificate.shares.empty()) add_table(report, "confidence", share_table(certificate));
}

}  // namespace

void add_figure(Report& report, const Figure& figure, const PlotOptions& options) {
  for (const ImageFormat format : {ImageFormat::pdf, ImageFormat::outlined_svg}) {
    Image image = render(figure, format, options);
    add_notice(report, image.notice);
    if (image.content)
      report.files.push_back(
          {figure.name + (format == ImageFormat::pdf ? ".pdf" : ".svg"), std::move(*image.content)});
  }
}

void add_table(Report& report, const std::string& name, const TextTable& table) {
  if (table.rows.empty()) return;
  report.files.push_back({"tables/" + name + ".md", to_markdown(table)});
  report.files.push_back({"tables/" + name + ".tex", to_latex(table)});
}

Report make_report(const certify::Certificate& certificate, const PlotOptions& options,
                   const std::vector<PageFigure>& pictures) {
  Report report;
  std::vector<PageFigure> figures;
  for (const Figure& figure : {success_figure(certificate), quantile_figure(certificate)}) {
    if (!has_curves(figure)) continue;
    add_notice(report, figures.emplace_back(page_figure(figure, options)).notice);
    add_figure(report, figure, options);
  }
  figures.insert(figures.end(), pictures.begin(), pictures.end());
  add_claim_tables(report, certificate);
  report.files.push_back({"curves.csv", curves_csv(certificate)});
  report.files.push_back({"report.html", report_html(certificate, figures)});
  return report;
}

std::vector<std::string> write_files(const Report& report, const std::filesystem::path& folder,
                                     std::vector<io::FileContent> others) {
  if (!ranks().first()) return {};
  for (const ReportFile& file : report.files) {
    std::filesystem::create_directories((folder / file.name).parent_path());
    others.push_back({folder / file.name, file.content});
  }
  io::write_files_atomically(others);
  return report.notices;
}

std::vector<std::string> write_report(const certify::Certificate& certificate,
                                      const std::filesystem::path& folder) {
  const std::string json = certify::to_json(certificate);
  return write_files(make_report(certificate), folder, {{folder / "certificate.json", json}});
}

}  // namespace surefoot::report
