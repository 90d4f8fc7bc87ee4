#pragma once

#include "surefoot/certify/classical.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// Defaults of a struct as options write them: "0.5,0.9", and 1 - delta as a decimal.
std::string as_list(const std::vector<double>& numbers);
double confidence_of(double delta);

/// What is to be claimed, as given on the command line: the same for every verb that certifies.
struct ClaimArguments {
  static constexpr const char* unset = "default";
  std::string tolerances =
      unset;  // lists are texts: an option must not swallow the file names that follow it
  std::string quantiles = as_list(usual().quantiles);
  std::string steps;
  double confidence = confidence_of(usual().delta);
  std::string claims = fmt::format("{}", fmt::join(usual().kinds, ","));
  std::string simultaneous{name(usual().simultaneous)};
  std::string choose{name(surefoot::certify::Choice::both)};
  std::string risk_method{name(usual().risk_method)};
  std::string quantile_method{name(usual().quantile_method)};
  std::string budget_method{name(usual().budget_method)};
  std::map<std::string, std::optional<double>> kind_delta;  // by the name of the kind
  std::string metric = usual().metric;
  std::string unit;
  std::string title;
  std::string shift;  // empty: none

  static surefoot::certify::Options usual() { return {}; }
  /// Checked, without the defaults that depend on the data.
  [[nodiscard]] surefoot::certify::Options options() const;
};

/// "1e-3,0.1" as numbers; InputError names the option and the part.
std::vector<double> parse_numbers(const char* option, const std::string& text);

void add_claim_options(CLI::App& verb, ClaimArguments& arguments);

/// --allow-dependence, of verbs that look for dependence between their rows.
void add_dependence_option(CLI::App& verb, bool& allow);
