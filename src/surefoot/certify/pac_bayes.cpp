#include "surefoot/certify/pac_bayes.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/sha256.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace surefoot::certify {

namespace {

using bounds::BudgetMethod;
using bounds::QuantileMethod;
using bounds::RiskMethod;

/// Losses of a claim of each kind, and of all together.
struct Losses {
  Index success = 1;
  Index quantile = 0;  // the grid at one step
  Index budget = 0;    // the recorded steps
  Index all = 0;
};

Losses count_losses(Simultaneity simultaneous, Index steps, Index tolerances, Index grid, Index columns,
                    bool success, bool quantiles, bool budgets) {
  Losses losses;
  losses.quantile = grid;
  losses.budget = columns;
  if (simultaneous == Simultaneity::all) {
    losses.all = (success ? steps * tolerances : 0) + (quantiles ? steps * grid : 0) +
                 (budgets ? tolerances * columns : 0);
  } else {
    losses.all = std::max({Index{1}, quantiles ? grid : 0, budgets ? columns : 0});
  }
  return losses;
}

/// The risk of one candidate; the same counts come again and again.
class Risk {
 public:
  explicit Risk(const PacBayes& guarantee) : guarantee_(guarantee) {}
  double operator()(Index failures) {
    const auto [entry, is_new] = known_.try_emplace(failures, 0.0);
    if (is_new) entry->second = learned_risk(guarantee_, failures);
    return entry->second;
  }

 private:
  const PacBayes& guarantee_;
  std::map<Index, double> known_;
};

class Claims {
 public:
  Claims(Certificate& certificate, const Options& options, const Losses& losses, std::size_t variant,
         const PacBayes& guarantee, const runs::Tally& tally)
      : certificate_(certificate),
        options_(options),
        losses_(losses),
        variant_(variant),
        guarantee_(guarantee),
        tally_(tally),
        risk_(guarantee) {}

  void add_all() {
    if (options_.success_rates) add_success();
    if (options_.quantiles_claimed) add_quantiles();
    if (options_.budgets) add_budgets();
  }

 private:
  void add_success() {
    for (std::size_t t = 0; t < options_.tolerances.size(); ++t) {
      for (const std::size_t column : tally_.spec().claim_columns) {
        SuccessClaim claim;
        claim.variant = variant_;
        claim.step = tally_.spec().steps[column];
        claim.tolerance = options_.tolerances[t];
        claim.method = RiskMethod::pac_bayes;
        claim.samples = tally_.samples();
        claim.failures = tally_.failures(column, t);
        claim.delta = union_delta(guarantee_, losses_.success);
        claim.empirical =
            static_cast<double>(claim.samples - claim.failures) / static_cast<double>(claim.samples);
        claim.lower_bound = learned_success(risk_(claim.failures));
        certificate_.success.push_back(claim);
      }
    }
  }

  void add_quantiles() {
    const std::vector<double>& grid = options_.grid;
    for (const double quantile : options_.quantiles) {
      for (std::size_t i = 0; i < tally_.spec().claim_columns.size(); ++i) {
        QuantileClaim claim;
        claim.variant = variant_;
        claim.step = tally_.spec().steps[tally_.spec().claim_columns[i]];
        claim.quantile = quantile;
        claim.method = QuantileMethod::grid;
        claim.samples = tally_.samples();
        claim.delta = union_delta(guarantee_, losses_.quantile);
        claim.empirical = infinity;
        const Index enough = bounds::empirical_rank(claim.samples, quantile);
        claim.below = claim.samples - tally_.grid_failures(i, grid.size() - 1);
        for (std::size_t g = 0; g < grid.size(); ++g) {
          const Index failures = tally_.grid_failures(i, g);
          if (claim.samples - failures >= enough && claim.empirical == infinity) claim.empirical = grid[g];
          if (!bounds::covers(risk_(failures), quantile)) continue;
          claim.upper_bound = grid[g];
          claim.below = claim.samples - failures;
          break;
        }
        claim.at_most = claim.below;
        certificate_.quantile.push_back(claim);
      }
    }
  }

  void add_budgets() {
    const std::vector<Index>& steps = tally_.spec().steps;
    for (std::size_t t = 0; t < options_.tolerances.size(); ++t) {
      const std::vector<Index> settled = tally_.settled(t);
      for (const double quantile : options_.quantiles) {
        BudgetClaim claim;
        claim.variant = variant_;
        claim.tolerance = options_.tolerances[t];
        claim.quantile = quantile;
        claim.method = BudgetMethod::settling;
        claim.samples = tally_.samples();
        claim.delta = union_delta(guarantee_, losses_.budget);
        const auto first_with = [&](const auto& enough) {
          return static_cast<std::size_t>(std::find_if(settled.begin(), settled.end(), enough) -
                                          settled.begin());
        };
        const Index rank = bounds::empirical_rank(claim.samples, quantile);
        const std::size_t observed = first_with([&](Index count) { return count >= rank; });
        if (observed < steps.size()) claim.empirical = steps[observed];
        const std::size_t column =
            first_with([&](Index count) { return bounds::covers(risk_(claim.samples - count), quantile); });
        const bool found = column < steps.size();
        claim.reached = settled[found ? column : steps.size() - 1];
        claim.reached_before = !found ? claim.reached : (column > 0 ? settled[column - 1] : 0);
        if (found) claim.steps = steps[column];
        certificate_.budget.push_back(claim);
      }
    }
  }

  Certificate& certificate_;
  const Options& options_;
  const Losses& losses_;
  std::size_t variant_;
  const PacBayes& guarantee_;
  const runs::Tally& tally_;
  Risk risk_;
};

void share_out(Certificate& certificate, const PacBayes& guarantee, double delta) {
  if (certificate.simultaneous == Simultaneity::all) {
    bounds::ConfidenceBudget budget(delta);
    budget.take(bayes_share_name, guarantee.losses * guarantee.prior_means, guarantee.delta_each);
    budget.take(calibration_share_name, guarantee.losses * guarantee.candidates, guarantee.omega_each);
    for (const bounds::ConfidenceShare& share : budget.shares())
      certificate.shares.push_back({share.purpose, share.claims, share.delta_each});
    return;
  }
  const auto add = [&](const char* purpose, const auto& claims) {
    if (claims.empty()) return;
    require(claims.front().delta <= delta, "confidence budget: delta {} for each of the {} overspends {}",
            claims.front().delta, purpose, delta);
    certificate.shares.push_back({purpose, static_cast<Index>(claims.size()), claims.front().delta});
  };
  add("success rates", certificate.success);
  add("quantiles", certificate.quantile);
  add("iteration budgets", certificate.budget);
}

Index distinct_priors(const std::vector<Calibrated>& candidates) {
  std::set<std::string> priors;
  for (const Calibrated& candidate : candidates) priors.insert(candidate.guarantee.prior_sha256);
  return static_cast<Index>(priors.size());
}

}  // namespace

PacBayesOptions::PacBayesOptions() {
  claims.delta = paper_learned_delta;
  claims.risk_method = RiskMethod::pac_bayes;
  claims.quantile_method = QuantileMethod::grid;
}

void PacBayesOptions::validate() const {
  claims.validate();
  require(calibration_share > 0.0 && calibration_share < 1.0, "calibration_share: {} is outside (0, 1)",
          calibration_share);
  require(prior_means >= 0, "prior_means: {} is negative", prior_means);
  require(candidates >= 0, "candidates: {} is negative", candidates);
  require(claims.risk_method == RiskMethod::pac_bayes && claims.quantile_method == QuantileMethod::grid &&
              claims.budget_method == BudgetMethod::settling,
          "methods: PAC-Bayes claims are made by pac-bayes, grid and settling");
  require(claims.success_rates || claims.quantiles_claimed || claims.budgets,
          "nothing is claimed: success rates, quantiles and budgets are all off");
}

std::vector<double> fine_grid(const std::string& unit) {
  constexpr std::size_t points = 801;
  return unit == "dB" ? bounds::linearly_spaced(-80.0, 0.0, points) : bounds::log_spaced(1e-6, 1e2, points);
}

PacBayesOptions resolved(PacBayesOptions options, const std::vector<Index>& recorded_steps) {
  options.validate();
  if (options.claims.quantiles_claimed && options.claims.grid.empty())
    options.claims.grid = fine_grid(options.claims.unit);
  if (!options.claims.quantiles_claimed) options.claims.grid.clear();
  if (options.claims.steps.empty()) options.claims.all_steps = true;
  std::vector<double> grid = options.claims.grid;
  options.claims = resolved(options.claims, std::vector<std::vector<Index>>{recorded_steps});
  options.claims.grid = std::move(grid);
  return options;
}

PacBayesOptions paper_accounting(PacBayesOptions options, Index candidates) {
  options.claims.simultaneous = Simultaneity::each;
  options.claims.grid = options.claims.unit == "dB" ? bounds::decibel_grid() : bounds::residual_grid();
  options.claims.budgets = false;
  options.candidates = candidates;
  options.prior_means = candidates;
  return options;
}

PacBayes charge(const learning::Posterior& posterior) {
  posterior.validate();
  const bounds::GaussianPair& pair = posterior.gaussians;
  require(bounds::is_on_grid(pair, posterior.grid),
          "prior: a variance is not on the grid lambda_max exp(-a/b), a = 1, 2, ...; round it first");
  PacBayes guarantee;
  guarantee.lambda_max = posterior.grid.lambda_max;
  guarantee.b = posterior.grid.b;
  guarantee.groups = pair.group_size;
  bounds::GaussianPair on_grid = pair;
  for (double& nu : on_grid.prior_log_variance) {
    guarantee.positions.push_back(posterior.grid.nearest(nu));
    nu = posterior.grid.log_lambda(guarantee.positions.back());
  }
  guarantee.kl = bounds::gaussian_kl(on_grid);
  require(std::isfinite(guarantee.kl), "posterior: its KL to the prior is {}", guarantee.kl);
  io::Sha256 hash;
  const auto add = [&](const auto* numbers, std::size_t count) {
    hash.update(numbers, count * sizeof *numbers);
  };
  add(&guarantee.lambda_max, 1);
  add(&guarantee.b, 1);
  add(guarantee.groups.data(), guarantee.groups.size());
  add(pair.prior_mean.data(), static_cast<std::size_t>(pair.prior_mean.size()));
  guarantee.prior_sha256 = hash.hex();
  return guarantee;
}

Certificate certify(const PacBayesOptions& options, const std::vector<Calibrated>& candidates) {
  options.validate();
  require(!candidates.empty(), "there is no posterior to certify");
  const Options& claims = options.claims;
  const runs::TallySpec& spec = candidates.front().tally.spec();
  for (const Calibrated& candidate : candidates) {
    const PacBayes& given = candidate.guarantee;
    require(candidate.tally.spec().steps == spec.steps && candidate.tally.spec().grid == claims.grid &&
                candidate.tally.spec().tolerances == claims.tolerances,
            "candidate '{}' was counted at other steps or tolerances", candidate.variant.name);
    require(given.samples == candidates.front().guarantee.samples,
            "candidate '{}' was calibrated on {} samples, the first one on {}", candidate.variant.name,
            given.samples, candidates.front().guarantee.samples);
    require(candidate.tally.samples() == given.samples * given.draws,
            "candidate '{}' has {} runs for {} samples x {} draws", candidate.variant.name,
            candidate.tally.samples(), given.samples, given.draws);
  }
  const Index distinct = distinct_priors(candidates);
  const auto given = static_cast<Index>(candidates.size());
  const Index prior_means = options.prior_means == 0 ? distinct : options.prior_means;
  const Index possible = options.candidates == 0 ? given : options.candidates;
  require(prior_means >= distinct, "prior_means: {} are paid for, the candidates have {}", prior_means,
          distinct);
  require(possible >= given, "candidates: {} are paid for, {} are given", possible, given);

  Certificate certificate;
  certificate.title = claims.title;
  certificate.metric = claims.metric;
  certificate.unit = claims.unit;
  certificate.delta = claims.delta;
  certificate.simultaneous = claims.simultaneous;
  certificate.steps = claims.steps;
  certificate.tolerances = claims.tolerances;
  certificate.quantiles = claims.quantiles;
  certificate.grid = claims.grid;
  certificate.grid_method = RiskMethod::pac_bayes;
  certificate.value_limit = claims.value_limit;
  certificate.version = version;
  const Losses losses = count_losses(
      claims.simultaneous, static_cast<Index>(claims.steps.size()),
      static_cast<Index>(claims.tolerances.size()), static_cast<Index>(claims.grid.size()),
      static_cast<Index>(spec.steps.size()), claims.success_rates, claims.quantiles_claimed, claims.budgets);
  // Rounded down, so that shares and claims add up to no more than delta.
  const auto share = [&](double part, Index parts) {
    return bounds::down(part * claims.delta / (static_cast<double>(losses.all) * static_cast<double>(parts)),
                        16);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const runs::Tally& tally = candidates[i].tally;
    PacBayes guarantee = candidates[i].guarantee;
    guarantee.losses = losses.all;
    guarantee.prior_means = prior_means;
    guarantee.candidates = possible;
    guarantee.delta_each = share(1.0 - options.calibration_share, prior_means);
    guarantee.omega_each = share(options.calibration_share, possible);
    guarantee.runs = tally.samples();
    guarantee.regularizer = regularizer_of(guarantee);
    Variant variant = candidates[i].variant;
    require_name("names", variant.name);
    variant.samples = guarantee.samples;
    set_recorded_steps(variant, tally.spec().steps);
    variant.non_finite_runs = tally.non_finite_runs();
    variant.values_rounded_up = false;
    variant.pac_bayes = guarantee;
    certificate.variants.push_back(variant);
    Claims(certificate, claims, losses, i, guarantee, tally).add_all();
  }
  share_out(certificate, *certificate.variants.front().pac_bayes, claims.delta);
  certificate.assumptions = assumptions_of(certificate);
  return certificate;
}

void require_declared_grid(const bounds::PriorGrid& grid, Index prior_samples) {
  const bounds::PriorGrid declared;
  require(
      prior_samples > 0 || (grid.lambda_max == declared.lambda_max && grid.b == declared.b),
      "posterior: the grid of its prior variances has lambda_max = {} and b = {}, the declared one has {} "
      "and {}; another must come with a prior mean that was trained on other samples",
      grid.lambda_max, grid.b, declared.lambda_max, declared.b);
}

Index losses_of(const Certificate& certificate) {
  const auto size = [](const auto& values) { return static_cast<Index>(values.size()); };
  const Index columns = certificate.variants.empty() ? 0 : certificate.variants.front().columns;
  return count_losses(certificate.simultaneous, size(certificate.steps), size(certificate.tolerances),
                      size(certificate.grid), columns, !certificate.success.empty(),
                      !certificate.quantile.empty(), !certificate.budget.empty())
      .all;
}

bool is_pac_bayes(const Certificate& certificate) {
  return std::any_of(certificate.variants.begin(), certificate.variants.end(),
                     [](const Variant& variant) { return variant.pac_bayes.has_value(); });
}

}  // namespace surefoot::certify
