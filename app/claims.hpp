#pragma once

#include "surefoot/certify/classical.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// What is to be claimed, as given on the command line: the same for every verb that certifies.
struct ClaimArguments {
  static constexpr const char* unset = "default";
  std::string tolerances =
      unset;  // lists are texts: an option must not swallow the file names that follow it
  std::string quantiles = "0.5,0.9,0.99";
  std::string steps;
  double confidence = 0.99;
  std::string claims = fmt::format("{}", fmt::join(surefoot::certify::default_kinds(), ","));
  std::string simultaneous = "all";
  std::string risk_method = "exact";
  std::string quantile_method = "exact";
  std::string budget_method = "settling";
  std::map<std::string, std::optional<double>> kind_delta;  // by the name of the kind
  std::string metric = "metric";
  std::string unit;
  std::string title;

  /// Checked, without the defaults that depend on the data.
  [[nodiscard]] surefoot::certify::Options options() const;
};

/// "1e-3,0.1" as numbers; InputError names the option and the part.
std::vector<double> parse_numbers(const char* option, const std::string& text);

void add_claim_options(CLI::App& verb, ClaimArguments& arguments);

/// --allow-dependence, of verbs that look for dependence between their rows.
void add_dependence_option(CLI::App& verb, bool& allow);
