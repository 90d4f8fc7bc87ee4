#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/runs/tally.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// The kinds that are claimed unless a user says otherwise: "success", "quantile" and "budget"; of groups
/// "average" too; of a log "sequence" alone.
std::vector<std::string> default_kinds(Sampling sampling = Sampling::problems, bool anytime = false);

/// When tolerances, quantiles and steps are chosen. `before`: they are declared. `after`: bands alone
/// (kinds/bands.hpp), of which everything may be asked once the runs are seen. `both`: what is declared, with
/// most of the confidence, and bands with the rest. Bands need Simultaneity::all, with which alone they hold
/// together: `both` is `before` for claims that hold each alone, and of a log, which has no bands.
enum class Choice { before, after, both };
std::string_view name(Choice choice);
Choice parse_choice(std::string_view text);

/// What is claimed about a deterministic optimizer, declared before its runs are seen.
struct Options {
  /// One number per problem instead of a trace: success is at most the tolerance, there are no steps, no
  /// budgets and no default tolerances. Its one column is called step scalar_step.
  bool scalar = false;
  double delta = 0.01;  ///< total over all claims (simultaneous all), or of each claim (each)
  Simultaneity simultaneous = Simultaneity::all;
  /// Kinds of claims by name (kinds/claim_kind.hpp), in any order.
  std::vector<std::string> kinds = default_kinds();
  Sampling sampling = Sampling::problems;
  std::string group = {};          ///< of groups: what one is, "flight"; empty: nobody says
  Choice choose = Choice::before;  ///< resolved() adds the kind "bands" unless it is `before`
  /// Delta of each claim of a kind; kinds without share equally what is left (all), or take delta (each).
  std::map<std::string, double, std::less<>> kind_delta = {};
  std::vector<double> tolerances;  ///< increasing; empty: default_tolerances(unit)
  /// Empty: default_quantiles(), of which certify() leaves those that the numbers of samples can support.
  std::vector<double> quantiles;
  bool default_quantiles = false;  ///< set by resolved(): the quantiles are the default ones
  std::vector<Index> steps;        ///< empty: default_steps() of the recorded ones
  bool all_steps = false;          ///< claims at every recorded step
  /// `anytime`: every claim holds at every number of runs at once, which then need not be fixed beforehand.
  bounds::RiskMethod risk_method = bounds::RiskMethod::exact;
  bounds::QuantileMethod quantile_method = bounds::QuantileMethod::exact;
  bounds::BudgetMethod budget_method = bounds::BudgetMethod::settling;
  bounds::MeanMethod average_method = bounds::MeanMethod::betting;
  std::vector<double> grid;  ///< of quantile method grid; empty: the paper's 81 for the unit
  std::string title;
  std::string metric = "metric";
  std::string unit;
  /// R, if the metric lies in [0, R] for every problem, as the user states: means are then claimed.
  std::optional<double> range;
  std::vector<double> thresholds = {};  ///< of means (kinds/mean.hpp); empty: usual shares of the range
  std::vector<double> cvar = {};        ///< levels that are shown; empty: 0.9 and 0.99
  std::optional<bounds::Shift> shift;   ///< claims are stated under it too (shift_part.hpp)
  Index value_limit = Index{1} << 26;   ///< numbers kept exactly for order statistics

  /// Whether claims of the kind are made.
  [[nodiscard]] bool claims(std::string_view kind) const;
  [[nodiscard]] bool anytime() const { return risk_method == bounds::RiskMethod::anytime; }
  void validate() const;
  /// InputError unless every kind can be claimed of such rows. What rows are may be known only once a table
  /// is open.
  void require_claimable() const;
};

/// 0.5, 0.9, 0.99; of scalars, which pay for one claim each, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999.
std::vector<double> default_quantiles(bool scalar);

/// The quantiles that certify() claims from so many samples of each variant: all of them, or, of default
/// ones, those that a kind of claims can support with the confidence it gets for some variant, and the
/// smallest. Depends on numbers of samples, steps and claims alone, never on values: so does what a claim
/// pays, which is shared out over those that are left.
std::vector<double> supported_quantiles(const Options& resolved_options,
                                        const std::vector<runs::TallySpec>& specs,
                                        const std::vector<Index>& samples);

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

/// The declarations of a certificate to whose runs more are to be added, each claim with the delta it has:
/// the claims of all runs together are then made as these were. InputError says why no runs can be added to
/// it.
Options options_to_append(const Certificate& certificate);
/// InputError if the certificate with the added runs is not the one before with more: its tables first, the
/// same declarations and the same delta of each claim.
void require_continues(const Certificate& before, const Certificate& after);

/// The delta that each claim of a kind gets in a certificate of one variant.
double delta_of_claims(const Options& resolved_options, const runs::TallySpec& spec, std::string_view kind);

/// Every claim of the options from the counts, within one confidence budget.
Certificate certify(const Options& resolved_options, const std::vector<Counted>& variants);

}  // namespace surefoot::certify
