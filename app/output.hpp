#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/report/report.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <vector>

/// Where certificates and reports go, the same for every verb that makes one.
struct OutputOptions {
  std::filesystem::path folder = "surefoot-report";
  bool json = false;

  /// Creates and locks the folder; InputError if files cannot be written there.
  [[nodiscard]] std::unique_ptr<surefoot::io::ResultFolder> open() const;
};

void add_output_options(CLI::App& verb, OutputOptions& options);

/// Writes certificate.json, curves.csv, report.html, figures, tables and others into a folder that is open;
/// notices go to standard error. Whether there are none: all figures are drawn.
bool write_report(const surefoot::certify::Certificate& certificate, surefoot::io::ResultFolder& folder,
                  std::vector<surefoot::io::FileContent> others = {});

/// The same, and prints the table (or the JSON) on standard output.
void write_certificate(const surefoot::certify::Certificate& certificate, const OutputOptions& options,
                       surefoot::io::ResultFolder& folder,
                       std::vector<surefoot::io::FileContent> others = {});
