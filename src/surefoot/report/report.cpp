#include "surefoot/report/report.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/report/curves.hpp"
#include "surefoot/report/html.hpp"

#include <algorithm>
#include <utility>

namespace surefoot::report {

Report make_report(const certify::Certificate& certificate, const PlotOptions& options,
                   const std::vector<PageFigure>& pictures) {
  Report report;
  const auto notice = [&](const std::string& text) {
    if (!text.empty() && std::ranges::count(report.notices, text) == 0) report.notices.push_back(text);
  };
  std::vector<PageFigure> figures;
  for (const Figure& figure : {success_figure(certificate), quantile_figure(certificate)}) {
    if (!has_curves(figure)) continue;
    notice(figures.emplace_back(page_figure(figure, options)).notice);
    Image pdf = render(figure, ImageFormat::pdf, options);
    notice(pdf.notice);
    if (pdf.content) report.files.push_back({figure.name + ".pdf", std::move(*pdf.content)});
  }
  figures.insert(figures.end(), pictures.begin(), pictures.end());
  report.files.push_back({"curves.csv", curves_csv(certificate)});
  report.files.push_back({"report.html", report_html(certificate, figures)});
  return report;
}

std::vector<std::string> write_report(const certify::Certificate& certificate,
                                      const std::filesystem::path& folder) {
  const std::string json = certify::to_json(certificate);
  Report report = make_report(certificate);
  std::vector<io::FileContent> files;
  for (const ReportFile& file : report.files) files.push_back({folder / file.name, file.content});
  files.push_back({folder / "certificate.json", json});
  io::write_files_atomically(files);
  return std::move(report.notices);
}

}  // namespace surefoot::report
