#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/report/report.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <vector>

/// Where certificates and reports go, the same for every verb that makes one.
struct OutputOptions {
  std::filesystem::path folder = "surefoot-report";
  bool json = false;

  /// Creates the folder; InputError if files cannot be written there.
  void prepare() const;
};

void add_output_options(CLI::App& verb, OutputOptions& options);

/// Writes the files of a report, and others with them, all or none; notices go to standard error.
void write_report_files(const surefoot::report::Report& report, const std::filesystem::path& folder,
                        std::vector<surefoot::io::FileContent> others);

/// Writes certificate.json, curves.csv, report.html, figures and tables.
void write_report(const surefoot::certify::Certificate& certificate, const OutputOptions& options);

/// The same, and prints the table (or the JSON) on
/// standard output.
void write_certificate(const surefoot::certify::Certificate& certificate, const OutputOptions& options);
