#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/plot.hpp"
#include "surefoot/report/text_table.hpp"

#include <string>
#include <vector>

namespace surefoot::report {

struct ReportFile {
  std::string name;  ///< inside the output folder
  std::string content;
};

struct Report {
  std::vector<ReportFile>
      files;  ///< report.html, curves.csv, tables/, PDF and SVG of each figure where gnuplot runs
  std::vector<std::string> notices;  ///< what is missing and why; empty if nothing is
};

/// A figure for a paper: NAME.pdf with its fonts embedded, and NAME.svg with its letters as outlines, so that
/// both look the same everywhere.
void add_figure(Report& report, const Figure& figure, const PlotOptions& options = {});

/// A table for a paper: tables/NAME.md and tables/NAME.tex. A table without rows is left out.
void add_table(Report& report, const std::string& name, const TextTable& table);

/// Everything people read of a certificate, ready to be written; `pictures` follow its own figures in the
/// page.
Report make_report(const certify::Certificate& certificate, const PlotOptions& options = {},
                   const std::vector<PageFigure>& pictures = {});

}  // namespace surefoot::report
