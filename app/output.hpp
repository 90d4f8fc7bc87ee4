#pragma once

#include "surefoot/certify/certificate.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>

/// Where certificates and reports go, the same for every verb that makes one.
struct OutputOptions {
  std::filesystem::path folder = "surefoot-report";
  bool json = false;

  /// Creates the folder; InputError if files cannot be written there.
  void prepare() const;
};

void add_output_options(CLI::App& verb, OutputOptions& options);

/// Writes certificate.json, curves.csv, report.html and the figures.
void write_report(const surefoot::certify::Certificate& certificate, const OutputOptions& options);

/// Writes certificate.json, curves.csv, report.html and the figures, and prints the table (or the JSON) on
/// standard output.
void write_certificate(const surefoot::certify::Certificate& certificate, const OutputOptions& options);
