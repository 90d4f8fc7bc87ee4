#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/report/certificate_figures.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/file_names.hpp"
#include "surefoot/report/gnuplot.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/text_table.hpp"

#include <filesystem>
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

/// Adds what is missing and why, once; an empty text is none.
void add_notice(Report& report, const std::string& text);

/// A figure for a paper: NAME.pdf with its fonts embedded, and NAME.svg with its letters as outlines, so that
/// both look the same everywhere.
void add_figure(Report& report, const Figure& figure, const PlotOptions& options = {});

/// A table for a paper: tables/NAME.md and tables/NAME.tex. A table without rows is left out.
void add_table(Report& report, const std::string& name, const TextTable& table);

/// Everything people read of a certificate, ready to be written; `pictures` follow its own figures in the
/// page, `compared` are tables beside the numbers of others.
Report make_report(const certify::Certificate& certificate, const PlotOptions& options = {},
                   const std::vector<PageFigure>& pictures = {},
                   const std::vector<ResultTable>& compared = {});

/// Whether a name inside an output folder is that of a file that reports are made of: page, curves,
/// comparison, figure or table. A certificate is none: it stands on its own.
bool is_report_file(const std::filesystem::path& name);

/// The same, or the certificate itself, or its traces.
bool is_file_of_certificate(const std::filesystem::path& name);

/// Writes the files of a report and others, under their names inside the folder, as one result; returns the
/// report's notices.
std::vector<std::string> write_files(const Report& report, io::ResultFolder& folder,
                                     std::vector<io::FileContent> others);

/// Writes the certificate as certificate.json, make_report()'s files and others as one result; what is
/// missing and why.
std::vector<std::string> write_report(const certify::Certificate& certificate, io::ResultFolder& folder,
                                      std::vector<io::FileContent> others = {});
std::vector<std::string> write_report(const certify::Certificate& certificate,
                                      const std::filesystem::path& folder);

}  // namespace surefoot::report
