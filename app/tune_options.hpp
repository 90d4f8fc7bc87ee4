#pragma once

#include "surefoot/experiments/rerun.hpp"
#include "surefoot/experiments/tuning.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/report/report.hpp"

#include "output.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/// Options and results that all of `tune` shares.
struct TuneSearchArguments {
  double confidence = 0.99;
  std::string time;  ///< "60s"; empty: none

  /// Puts what was given into the options.
  void check(surefoot::experiments::TuneOptions& options) const;
  /// What a command must say to make the same search: as many runs as this one made.
  [[nodiscard]] surefoot::experiments::RerunOptions effective(
      const surefoot::experiments::TuneResult& result) const;
};
void add_tune_options(CLI::App& verb, surefoot::experiments::TuneOptions& options,
                      TuneSearchArguments& arguments);

/// Rows of A by their cones, of `run cone` and `tune cone`.
void add_cone_options(CLI::App& verb, surefoot::problems::Cones& cones);

/// Writes the certificate, its report with the search in it, and the other files; prints what was found.
void write_tuning(const surefoot::experiments::Tunable& subject,
                  const surefoot::experiments::TuneOptions& options,
                  const surefoot::experiments::TuneResult& result, const OutputOptions& output,
                  surefoot::io::ResultFolder& folder, std::vector<surefoot::report::ReportFile> others);
