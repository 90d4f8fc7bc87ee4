#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/until.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Defaults of a struct as options write them: "0.5,0.9", and 1 - delta as a decimal.
std::string as_list(const std::vector<double>& numbers);
double confidence_of(double delta);

/// What is to be claimed, as given on the command line: the same for every verb that certifies.
struct ClaimArguments {
  static constexpr const char* unset = "default";
  std::string tolerances =
      unset;  // lists are texts: an option must not swallow the file names that follow it
  std::string quantiles = unset;
  std::string steps;
  double confidence = confidence_of(usual().delta);
  std::string claims = unset;  // those of the rows: certify::default_kinds()
  std::string simultaneous{name(usual().simultaneous)};
  std::string choose{name(surefoot::certify::Choice::both)};
  bool anytime = false;
  std::string risk_method{name(usual().risk_method)};
  std::string quantile_method{name(usual().quantile_method)};
  std::string budget_method{name(usual().budget_method)};
  std::string average_method{name(usual().average_method)};
  surefoot::certify::Sampling sampling = surefoot::certify::Sampling::problems;
  std::string group;                                        // what a group is
  std::map<std::string, std::optional<double>> kind_delta;  // by the name of the kind
  bool scalar = false;
  std::string metric = usual().metric;
  std::string unit;
  std::string title;
  std::string until;  // a claim that runs are made for until it holds
  const CLI::App* verb = nullptr;
  std::string shift;  // empty: none
  std::string range;  // "0,R"; empty: none
  std::string thresholds;
  std::string cvar;

  static surefoot::certify::Options usual() { return {}; }
  /// Kinds that are claimed of such rows, as far as the user has not said others.
  [[nodiscard]] std::vector<std::string> kinds(surefoot::certify::Sampling of, bool holds_anytime) const;
  /// Checked, without the defaults that depend on the data.
  [[nodiscard]] surefoot::certify::Options options() const;
  [[nodiscard]] std::optional<surefoot::certify::Until> until_claim() const;
  /// Options whose values are not those that were given or their defaults, as a command must give them to
  /// make the same claims.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> effective() const;

 private:
  [[nodiscard]] bool given(const char* option) const;
};

/// "1e-3,0.1" as numbers; InputError names the option and the part.
std::vector<double> parse_numbers(const char* option, const std::string& text);

/// `samplings`: what rows can be.
void add_claim_options(CLI::App& verb, ClaimArguments& arguments,
                       const std::vector<surefoot::certify::Sampling>& samplings = {
                           surefoot::certify::Sampling::problems});

/// --anytime, of verbs whose runs may be added to.
void add_anytime_option(CLI::App& verb, ClaimArguments& arguments);
/// --until, of verbs that make runs.
void add_until_option(CLI::App& verb, ClaimArguments& arguments);

/// --allow-dependence, of verbs that look for dependence between their rows.
void add_dependence_option(CLI::App& verb, bool& allow);
