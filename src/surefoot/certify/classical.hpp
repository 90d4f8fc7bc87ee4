#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/runs/tally.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// "success", "quantile" and "budget": the kinds that are claimed unless a user says otherwise.
std::vector<std::string> default_kinds();

/// When tolerances, quantiles and steps are chosen. `before`: they are declared. `after`: bands alone
/// (kinds/bands.hpp), of which everything may be asked once the runs are seen. `both`: what is declared, with
/// most of the confidence, and bands with the rest. Bands need Simultaneity::all, with which alone they hold
/// together: `both` is `before` for claims that hold each alone.
enum class Choice { before, after, both };
std::string_view name(Choice choice);
Choice parse_choice(std::string_view text);

/// What is claimed about a deterministic optimizer, declared before its runs are seen.
struct Options {
  double delta = 0.01;  ///< total over all claims (simultaneous all), or of each claim (each)
  Simultaneity simultaneous = Simultaneity::all;
  /// Kinds of claims by name (kinds/claim_kind.hpp), in any order.
  std::vector<std::string> kinds = default_kinds();
  Choice choose = Choice::before;  ///< resolved() adds the kind "bands" unless it is `before`
  /// Delta of each claim of a kind; kinds without share equally what is left (all), or take delta (each).
  std::map<std::string, double, std::less<>> kind_delta = {};
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
  std::optional<bounds::Shift> shift;  ///< claims are stated under it too (shift_part.hpp)
  Index value_limit = Index{1} << 26;  ///< numbers kept exactly for order statistics

  /// Whether claims of the kind are made.
  [[nodiscard]] bool claims(std::string_view kind) const;
  void validate() const;
};

/// 1e-4 .. 1e-1 by decades; -40 .. -10 dB by tens for the unit dB. Fixed, never taken from the data.
std::vector<double> default_tolerances(const std::string& unit);

inline constexpr std::size_t default_step_count = 60;
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

/// The options that make the certificate's claims again.
Options options_of(const Certificate& certificate);

/// Every claim of the options from the counts, within one confidence budget.
Certificate certify(const Options& resolved_options, const std::vector<Counted>& variants);

}  // namespace surefoot::certify
