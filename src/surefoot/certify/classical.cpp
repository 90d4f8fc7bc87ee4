#include "surefoot/certify/classical.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace surefoot::certify {

namespace {

using bounds::BudgetMethod;
using bounds::QuantileMethod;

constexpr std::size_t default_step_count = 60;

// Claims at one variant's columns repeat few distinct failure counts: remember their bounds.
class SuccessBounds {
 public:
  SuccessBounds(Index samples, double delta, bounds::RiskMethod method)
      : samples_(samples), delta_(delta), method_(method) {}
  double operator()(Index failures) {
    const auto [entry, is_new] = known_.try_emplace(failures, 0.0);
    if (is_new) entry->second = bounds::success_lower_bound(failures, samples_, delta_, method_);
    return entry->second;
  }

 private:
  Index samples_;
  double delta_;
  bounds::RiskMethod method_;
  std::map<Index, double> known_;
};

struct Deltas {
  double success = 0;
  double quantile = 0;
  double budget = 0;
};

// How many claims of each kind there are decides the delta of each.
struct ClaimCounts {
  Index success = 0;
  Index quantile = 0;
  Index budget = 0;
};

ClaimCounts count_claims(const Options& options, const std::vector<Counted>& variants) {
  ClaimCounts counts;
  const auto tolerances = static_cast<Index>(options.tolerances.size());
  const auto quantiles = static_cast<Index>(options.quantiles.size());
  for (const Counted& variant : variants) {
    const auto steps = static_cast<Index>(variant.tally.spec().claim_columns.size());
    // One grid of bounds at a step serves every quantile.
    const Index per_step = options.quantile_method == QuantileMethod::grid ? 1 : quantiles;
    if (options.success_rates) counts.success += steps * tolerances;
    if (options.quantiles_claimed) counts.quantile += steps * per_step;
    if (options.budgets) counts.budget += tolerances * quantiles;
  }
  return counts;
}

struct Kind {
  const char* purpose;
  Index claims;
  std::optional<double> wanted;
  double* delta_each;
};

// Kinds with a wanted delta are served first; the others share equally what is left.
void share_by_union(const Options& options, const std::vector<Kind>& kinds, std::vector<Share>& shares) {
  bounds::ConfidenceBudget budget(options.delta);
  Index without = 0;
  for (const Kind& kind : kinds) {
    if (kind.wanted) {
      budget.take(kind.purpose, kind.claims, *kind.wanted);
      *kind.delta_each = *kind.wanted;
    } else {
      ++without;
    }
  }
  const double left = 1.0 - budget.spent() / budget.total();
  require(without == 0 || left > 0.0,
          "confidence budget: nothing of {} is left for the other kinds of claims", options.delta);
  for (const Kind& kind : kinds) {
    if (!kind.wanted) {
      *kind.delta_each = budget.take_fraction(kind.purpose, kind.claims, left / static_cast<double>(without));
    }
    shares.push_back({kind.purpose, kind.claims, *kind.delta_each});
  }
}

Deltas share_out(const Options& options, const std::vector<Counted>& variants, std::vector<Share>& shares) {
  const ClaimCounts counts = count_claims(options, variants);
  const bool grid = options.quantile_method == QuantileMethod::grid;
  Deltas deltas;
  std::vector<Kind> kinds{{"success rates", counts.success, options.success_delta, &deltas.success},
                          {grid ? "quantiles (one grid per step)" : "quantiles", counts.quantile,
                           options.quantile_delta, &deltas.quantile},
                          {"iteration budgets", counts.budget, options.budget_delta, &deltas.budget}};
  std::erase_if(kinds, [](const Kind& kind) { return kind.claims == 0; });
  require(!kinds.empty(), "nothing is claimed: success rates, quantiles and budgets are all off or empty");
  if (options.simultaneous == Simultaneity::all) {
    share_by_union(options, kinds, shares);
    return deltas;
  }
  for (const Kind& kind : kinds) {
    *kind.delta_each = kind.wanted.value_or(options.delta);
    require(*kind.delta_each <= options.delta, "confidence budget: delta {} for each of the {} overspends {}",
            *kind.delta_each, kind.purpose, options.delta);
    shares.push_back({kind.purpose, kind.claims, *kind.delta_each});
  }
  return deltas;
}

void add_success_claims(Certificate& certificate, const Options& options, std::size_t variant,
                        const runs::Tally& tally, double delta) {
  SuccessBounds lower_bound(tally.samples(), delta, options.risk_method);
  for (std::size_t t = 0; t < options.tolerances.size(); ++t) {
    for (const std::size_t column : tally.spec().claim_columns) {
      WorkInterrupt::check();
      SuccessClaim claim;
      claim.variant = variant;
      claim.step = tally.spec().steps[column];
      claim.tolerance = options.tolerances[t];
      claim.method = options.risk_method;
      claim.samples = tally.samples();
      claim.failures = tally.failures(column, t);
      claim.delta = delta;
      claim.empirical =
          static_cast<double>(claim.samples - claim.failures) / static_cast<double>(claim.samples);
      claim.lower_bound = lower_bound(claim.failures);
      certificate.success.push_back(claim);
    }
  }
}

void fill_exact_quantile(QuantileClaim& claim, const runs::ValueStore& values, Index rank) {
  claim.rank = rank;
  claim.empirical = values.order_statistic(bounds::empirical_rank(claim.samples, claim.quantile));
  if (claim.rank > 0) claim.upper_bound = values.order_statistic(claim.rank);
  claim.below = values.count_below(claim.upper_bound);
  claim.at_most = values.count_at_most(claim.upper_bound);
}

void fill_grid_quantile(QuantileClaim& claim, const runs::Tally& tally, std::size_t column_index,
                        bounds::RiskMethod method) {
  const std::vector<double>& grid = tally.spec().grid;
  std::vector<Index> failures(grid.size());
  for (std::size_t i = 0; i < grid.size(); ++i) failures[i] = tally.grid_failures(column_index, i);
  claim.empirical = infinity;
  const Index enough = bounds::empirical_rank(claim.samples, claim.quantile);
  for (std::size_t i = grid.size(); i-- > 0 && claim.samples - failures[i] >= enough;)
    claim.empirical = grid[i];
  const auto found = bounds::grid_quantile(failures, claim.samples, claim.quantile, claim.delta, method);
  if (found) claim.upper_bound = grid[*found];
  claim.below = found ? claim.samples - failures[*found] : claim.samples - failures.back();
  claim.at_most = claim.below;
}

void add_quantile_claims(Certificate& certificate, const Options& options, std::size_t variant,
                         const runs::Tally& tally, double delta) {
  for (const double quantile : options.quantiles) {
    WorkInterrupt::check();
    const bool exact = options.quantile_method == QuantileMethod::exact;
    const Index rank = exact ? bounds::order_statistic_rank(tally.samples(), quantile, delta) : 0;
    for (std::size_t i = 0; i < tally.spec().claim_columns.size(); ++i) {
      QuantileClaim claim;
      claim.variant = variant;
      claim.step = tally.spec().steps[tally.spec().claim_columns[i]];
      claim.quantile = quantile;
      claim.method = options.quantile_method;
      claim.samples = tally.samples();
      claim.delta = delta;
      if (exact) {
        fill_exact_quantile(claim, tally.values(i), rank);
      } else {
        fill_grid_quantile(claim, tally, i, options.risk_method);
      }
      certificate.quantile.push_back(claim);
    }
  }
}

// Runs that have reached the tolerance in the sense of the method, by column.
std::vector<Index> reached_counts(const runs::Tally& tally, std::size_t tolerance, BudgetMethod method) {
  if (method == BudgetMethod::settling) return tally.settled(tolerance);
  if (method == BudgetMethod::first_hit) return tally.hit(tolerance);
  std::vector<Index> successes(tally.spec().steps.size());
  for (std::size_t column = 0; column < successes.size(); ++column) {
    successes[column] = tally.samples() - tally.failures(column, tolerance);
  }
  if (method == BudgetMethod::every_step) return bounds::fewest_from_here_on(std::move(successes));
  return successes;
}

bounds::IterationBudget find_budget(const std::vector<Index>& reached, const BudgetClaim& claim,
                                    bounds::RiskMethod method) {
  if (claim.method != BudgetMethod::paper) {
    return bounds::time_quantile_budget(reached, claim.samples, claim.quantile, claim.delta);
  }
  std::vector<Index> failures(reached);
  for (Index& count : failures) count = claim.samples - count;
  return bounds::paper_budget(failures, claim.samples, claim.quantile, claim.delta, method);
}

void add_budget_claims(Certificate& certificate, const Options& options, std::size_t variant,
                       const runs::Tally& tally, double delta) {
  const std::vector<Index>& steps = tally.spec().steps;
  for (std::size_t t = 0; t < options.tolerances.size(); ++t) {
    const std::vector<Index> reached = reached_counts(tally, t, options.budget_method);
    for (const double quantile : options.quantiles) {
      WorkInterrupt::check();
      BudgetClaim claim;
      claim.variant = variant;
      claim.tolerance = options.tolerances[t];
      claim.quantile = quantile;
      claim.method = options.budget_method;
      claim.samples = tally.samples();
      claim.delta = delta;
      const bounds::IterationBudget budget = find_budget(reached, claim, options.risk_method);
      claim.rank = budget.rank;
      const std::size_t column = budget.column.value_or(steps.size() - 1);
      claim.reached = reached[column];
      claim.reached_before =
          budget.column && column > 0 ? reached[column - 1] : (budget.column ? 0 : reached[column]);
      if (budget.column) claim.steps = steps[column];
      const Index enough = bounds::empirical_rank(claim.samples, quantile);
      const auto first =
          std::find_if(reached.begin(), reached.end(), [&](Index count) { return count >= enough; });
      if (first != reached.end()) claim.empirical = steps[static_cast<std::size_t>(first - reached.begin())];
      certificate.budget.push_back(claim);
    }
  }
}

}  // namespace

void claim_kinds(Options& options, const std::vector<std::string>& kinds) {
  for (const std::string& kind : kinds) {
    require(kind == "success" || kind == "quantile" || kind == "budget",
            "claims: '{}' is not one of success, quantile, budget", kind);
  }
  const auto claimed = [&](const char* kind) { return std::ranges::count(kinds, kind) > 0; };
  options.success_rates = claimed("success");
  options.quantiles_claimed = claimed("quantile");
  options.budgets = claimed("budget");
}

std::vector<double> default_tolerances(const std::string& unit) {
  if (unit == "dB") return {-40, -30, -20, -10};
  return {1e-4, 1e-3, 1e-2, 1e-1};
}

std::vector<Index> default_steps(const std::vector<Index>& recorded) {
  if (recorded.size() <= default_step_count) return recorded;
  std::vector<Index> chosen;
  const double span = std::log(static_cast<double>(recorded.size()));
  for (std::size_t i = 0; i < default_step_count; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(default_step_count - 1);
    const auto column = static_cast<std::size_t>(std::llround(std::exp(span * fraction))) - 1;
    const Index step = recorded[std::min(column, recorded.size() - 1)];
    if (chosen.empty() || chosen.back() < step) chosen.push_back(step);
  }
  return chosen;
}

void Options::validate() const {
  require_name("title", title);
  require_name("metric", metric);
  require_name("unit", unit);
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  for (const auto& wanted : {success_delta, quantile_delta, budget_delta}) {
    require(!wanted || (*wanted > 0.0 && *wanted < 1.0), "delta: {} is outside (0, 1)", wanted.value_or(0.0));
  }
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    require(quantiles[i] > 0.0 && quantiles[i] < 1.0, "quantiles: {} is outside (0, 1)", quantiles[i]);
    require(i == 0 || quantiles[i - 1] < quantiles[i],
            "quantiles: {} does not come after {}; the list must increase", quantiles[i], quantiles[i - 1]);
  }
  for (std::size_t i = 1; i < steps.size(); ++i) {
    require(steps[i - 1] < steps[i], "steps: {} does not come after {}; the list must increase", steps[i],
            steps[i - 1]);
  }
}

Options resolved(Options options, const std::vector<std::vector<Index>>& recorded_steps) {
  options.validate();
  if (options.tolerances.empty()) options.tolerances = default_tolerances(options.unit);
  if (options.quantile_method == QuantileMethod::grid && options.grid.empty()) {
    options.grid = options.unit == "dB" ? bounds::decibel_grid() : bounds::residual_grid();
  }
  if (options.quantile_method == QuantileMethod::exact) options.grid.clear();
  if (options.steps.empty()) {
    std::vector<Index> recorded;
    for (const std::vector<Index>& steps : recorded_steps)
      recorded.insert(recorded.end(), steps.begin(), steps.end());
    std::sort(recorded.begin(), recorded.end());
    recorded.erase(std::unique(recorded.begin(), recorded.end()), recorded.end());
    options.steps = options.all_steps ? recorded : default_steps(recorded);
    return options;
  }
  for (const Index step : options.steps) {
    const bool known =
        std::any_of(recorded_steps.begin(), recorded_steps.end(), [&](const std::vector<Index>& steps) {
          return std::binary_search(steps.begin(), steps.end(), step);
        });
    require(known, "steps: step {} was not recorded; the table has {} .. {}", step,
            recorded_steps.front().front(), recorded_steps.front().back());
  }
  return options;
}

runs::TallySpec tally_spec(const Options& options, std::vector<Index> steps) {
  runs::TallySpec spec;
  spec.steps = std::move(steps);
  spec.tolerances = options.tolerances;
  spec.grid = options.quantiles_claimed ? options.grid : std::vector<double>{};
  spec.value_limit = options.value_limit;
  for (const Index step : options.steps) {
    const auto found = std::lower_bound(spec.steps.begin(), spec.steps.end(), step);
    if (found != spec.steps.end() && *found == step) {
      spec.claim_columns.push_back(static_cast<std::size_t>(found - spec.steps.begin()));
    }
  }
  spec.keep_values = options.quantiles_claimed && options.quantile_method == QuantileMethod::exact;
  spec.validate();
  return spec;
}

Certificate certify(const Options& options, const std::vector<Counted>& variants) {
  require(!variants.empty(), "there is no variant to certify");
  Certificate certificate;
  certificate.title = options.title;
  certificate.metric = options.metric;
  certificate.unit = options.unit;
  certificate.delta = options.delta;
  certificate.simultaneous = options.simultaneous;
  certificate.steps = options.steps;
  certificate.tolerances = options.tolerances;
  certificate.quantiles = options.quantiles;
  certificate.grid = options.grid;
  certificate.grid_method = options.risk_method;
  certificate.value_limit = options.value_limit;
  certificate.version = version;
  const Deltas deltas = share_out(options, variants, certificate.shares);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const runs::Tally& tally = variants[i].tally;
    Variant variant = variants[i].variant;
    require_name("names", variant.name);
    variant.samples = tally.samples();
    set_recorded_steps(variant, tally.spec().steps);
    variant.non_finite_runs = tally.non_finite_runs();
    variant.values_rounded_up = tally.values_rounded_up();
    certificate.variants.push_back(variant);
    if (options.success_rates) add_success_claims(certificate, options, i, tally, deltas.success);
    if (options.quantiles_claimed) add_quantile_claims(certificate, options, i, tally, deltas.quantile);
    if (options.budgets) add_budget_claims(certificate, options, i, tally, deltas.budget);
  }
  certificate.assumptions = assumptions_of(certificate);
  return certificate;
}

}  // namespace surefoot::certify
