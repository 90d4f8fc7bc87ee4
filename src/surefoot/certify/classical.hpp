#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/runs/tally.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// What is claimed about a deterministic optimizer, declared before its runs are seen.
struct Options {
  double delta = 0.01;  ///< total over all claims (simultaneous all), or of each claim (each)
  Simultaneity simultaneous = Simultaneity::all;
  /// Of each claim of a kind; none: the kinds without share equally what is left (all), or take delta (each).
  std::optional<double> success_delta;
  std::optional<double> quantile_delta;
  std::optional<double> budget_delta;
  bool success_rates = true;
  bool quantiles_claimed = true;
  bool budgets = true;
  std::vector<double> tolerances;  ///< increasing; empty: default_tolerances(unit)
  std::vector<double> quantiles{0.5, 0.9, 0.99};
  std::vector<Index> steps;  ///< empty: default_steps() of the recorded ones
  bool all_steps = false;    ///< claims at every recorded step
  bounds::RiskMethod risk_method = bounds::RiskMethod::exact;
  bounds::QuantileMethod quantile_method = bounds::QuantileMethod::exact;
  bounds::BudgetMethod budget_method = bounds::BudgetMethod::settling;
  std::vector<double> grid;  ///< of quantile method grid; empty: the paper's 81 for the unit
  std::string title;
  std::string metric = "metric";
  std::string unit;
  Index value_limit = Index{1} << 26;  ///< numbers kept exactly for order statistics

  void validate() const;
};

/// Claims the kinds in the list, "success", "quantile" and "budget", and no other.
void claim_kinds(Options& options, const std::vector<std::string>& kinds);

/// 1e-4 .. 1e-1 by decades; -40 .. -10 dB by tens for the unit dB. Fixed, never taken from the data.
std::vector<double> default_tolerances(const std::string& unit);

/// All recorded steps if they are at most 60, otherwise 60 of them or fewer, spaced evenly in the logarithm,
/// with the first and the last. Depends on the shape of the table only.
std::vector<Index> default_steps(const std::vector<Index>& recorded);

/// Options with every default filled in for variants that recorded these steps.
Options resolved(Options options, const std::vector<std::vector<Index>>& recorded_steps);

/// What to count for a variant that recorded `steps`, under resolved options.
runs::TallySpec tally_spec(const Options& resolved_options, std::vector<Index> steps);

struct Counted {
  Variant variant;
  runs::Tally tally;
};

/// Every claim of the options from the counts, within one confidence budget.
Certificate certify(const Options& resolved_options, const std::vector<Counted>& variants);

}  // namespace surefoot::certify
