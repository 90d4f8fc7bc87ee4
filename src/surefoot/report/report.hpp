#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/plot.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace surefoot::report {

struct ReportFile {
  std::string name;  ///< inside the output folder
  std::string content;
};

struct Report {
  std::vector<ReportFile> files;     ///< report.html, curves.csv, and a PDF per figure where gnuplot runs
  std::vector<std::string> notices;  ///< what is missing and why; empty if nothing is
};

/// Everything people read of a certificate, ready to be written; `pictures` follow its own figures in the
/// page.
Report make_report(const certify::Certificate& certificate, const PlotOptions& options = {},
                   const std::vector<PageFigure>& pictures = {});

/// Writes the certificate as certificate.json and make_report()'s files into the folder, all or none; what is
/// missing and why.
std::vector<std::string> write_report(const certify::Certificate& certificate,
                                      const std::filesystem::path& folder);

}  // namespace surefoot::report
