#pragma once

#include "surefoot/certify/classical.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/// What is to be claimed, as given on the command line: the same for every verb that certifies.
struct ClaimArguments {
  std::vector<double> tolerances;
  std::vector<double> quantiles = surefoot::certify::Options{}.quantiles;
  std::string steps;
  double confidence = 0.99;
  std::vector<std::string> claims{"success", "quantile", "budget"};
  std::string simultaneous = "all";
  std::string risk_method = "exact";
  std::string quantile_method = "exact";
  std::string budget_method = "settling";
  double success_delta = 0;
  double quantile_delta = 0;
  double budget_delta = 0;
  std::string metric = "metric";
  std::string unit;
  std::string title;

  /// Checked, without the defaults that depend on the data.
  [[nodiscard]] surefoot::certify::Options options() const;
};

void add_claim_options(CLI::App& verb, ClaimArguments& arguments);
