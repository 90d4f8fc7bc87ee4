#include "surefoot/certify/pac_bayes.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace surefoot::certify {

namespace {

using bounds::BudgetMethod;
using bounds::QuantileMethod;
using bounds::RiskMethod;

/// Whether there are claims of the kind by PAC-Bayes.
bool has_losses(const ClaimKind& kind) {
  return kind.losses_of_one({1, 1, 1, 1}) > 0;
}

/// Losses that the union of what is claimed pays for. `made`: whether claims of the kind are made.
Index count_losses(Simultaneity simultaneous, const LossShape& shape, const auto& made) {
  Index all = simultaneous == Simultaneity::all ? 0 : 1;
  for (const ClaimKind* kind : claim_kinds()) {
    if (!made(*kind)) continue;
    if (simultaneous == Simultaneity::all) {
      all = checked_sum("losses", all, kind->losses_of_all(shape));
    } else {
      all = std::max(all, kind->losses_of_one(shape));
    }
  }
  return all;
}

void share_out(Certificate& certificate, const PacBayes& guarantee, double delta) {
  if (certificate.simultaneous == Simultaneity::all) {
    bounds::ConfidenceBudget budget(delta);
    budget.take(bayes_share_name, checked_product("losses", guarantee.losses, guarantee.prior_means),
                guarantee.delta_each);
    budget.take(calibration_share_name, checked_product("losses", guarantee.losses, guarantee.candidates),
                guarantee.omega_each);
    for (const bounds::ConfidenceShare& share : budget.shares())
      certificate.shares.push_back({share.purpose, share.claims, share.delta_each});
    return;
  }
  for (const ClaimKind* kind : claim_kinds()) {
    if (kind->size(certificate) == 0) continue;
    const double each = kind->delta(certificate);
    require(each <= delta, "confidence budget: delta {} for each of the {} overspends {}", each,
            kind->plural(), delta);
    certificate.shares.push_back({kind->purpose(certificate), kind->paid_claims(certificate), each});
  }
}

Index distinct_priors(const std::vector<Calibrated>& candidates) {
  std::set<std::string> priors;
  for (const Calibrated& candidate : candidates) priors.insert(candidate.guarantee.prior_sha256);
  return static_cast<Index>(priors.size());
}

}  // namespace

PacBayesOptions::PacBayesOptions() {
  std::erase_if(claims.kinds, [](const std::string& kind) { return !has_losses(claim_kind(kind)); });
  claims.delta = paper_learned_delta;
  claims.risk_method = RiskMethod::pac_bayes;
  claims.quantile_method = QuantileMethod::grid;
}

void PacBayesOptions::validate() const {
  claims.validate();
  require(calibration_share > 0.0 && calibration_share < 1.0, "calibration_share: {} is outside (0, 1)",
          calibration_share);
  require(prior_means >= 0 && prior_means <= most_candidates, "prior_means: {} is outside 0 .. {}",
          prior_means, most_candidates);
  require(candidates >= 0 && candidates <= most_candidates, "candidates: {} is outside 0 .. {}", candidates,
          most_candidates);
  require(claims.risk_method == RiskMethod::pac_bayes && claims.quantile_method == QuantileMethod::grid &&
              claims.budget_method == BudgetMethod::settling,
          "methods: PAC-Bayes claims are made by pac-bayes, grid and settling");
  require(!claims.kinds.empty(), "nothing is claimed: all kinds of claims are off");
  for (const std::string& kind : claims.kinds)
    require(has_losses(claim_kind(kind)), "claims: there are no {} by PAC-Bayes", claim_kind(kind).plural());
}

std::vector<double> fine_grid(const std::string& unit) {
  constexpr std::size_t points = 801;
  return unit == "dB" ? bounds::linearly_spaced(-80.0, 0.0, points) : bounds::log_spaced(1e-6, 1e2, points);
}

PacBayesOptions resolved(PacBayesOptions options, const std::vector<Index>& recorded_steps) {
  options.validate();
  const bool with_grid = options.claims.claims(quantiles().name());
  if (with_grid && options.claims.grid.empty()) options.claims.grid = fine_grid(options.claims.unit);
  if (!with_grid) options.claims.grid.clear();
  if (options.claims.steps.empty()) options.claims.all_steps = true;
  std::vector<double> grid = options.claims.grid;
  options.claims = resolved(options.claims, std::vector<std::vector<Index>>{recorded_steps});
  options.claims.grid = std::move(grid);
  return options;
}

PacBayesOptions paper_accounting(PacBayesOptions options, Index candidates) {
  options.claims.simultaneous = Simultaneity::each;
  options.claims.grid = options.claims.unit == "dB" ? bounds::decibel_grid() : bounds::residual_grid();
  std::erase(options.claims.kinds, iteration_budgets().name());
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

PacBayes charge(const StatedCharge& stated) {
  require(io::is_sha256_hex(stated.sha256), "charge: weights: '{}' is not a SHA-256",
          io::excerpt(stated.sha256, 80));
  require(io::is_sha256_hex(stated.prior_sha256), "charge: prior: '{}' is not a SHA-256",
          io::excerpt(stated.prior_sha256, 80));
  const std::size_t groups = stated.groups.size();
  require(groups > 0 && stated.positions.size() == groups && stated.kl.size() == groups,
          "charge: {} blocks of weights, {} positions, {} KL divergences", groups, stated.positions.size(),
          stated.kl.size());
  PacBayes guarantee;
  guarantee.prior_sha256 = stated.prior_sha256;
  guarantee.lambda_max = stated.lambda_max;
  guarantee.b = stated.b;
  for (std::size_t j = 0; j < groups; ++j) {
    require(stated.groups[j] >= 1, "charge: block {} has {} weights", j, stated.groups[j]);
    require(stated.positions[j] >= 1, "charge: block {}: position {} is below 1", j, stated.positions[j]);
    require(std::isfinite(stated.kl[j]) && stated.kl[j] >= 0, "charge: block {}: a KL divergence of {}", j,
            stated.kl[j]);
    guarantee.kl += stated.kl[j];
  }
  require(std::isfinite(guarantee.kl), "charge: a KL divergence of {}", guarantee.kl);
  guarantee.kl = bounds::up(guarantee.kl, static_cast<int>(std::min<std::size_t>(groups, 1'000'000)));
  guarantee.groups = stated.groups;
  guarantee.positions = stated.positions;
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
    require(candidate.tally.samples() == checked_product("draws", given.samples, given.draws),
            "candidate '{}' has {} runs for {} samples x {} draws", candidate.variant.name,
            candidate.tally.samples(), given.samples, given.draws);
  }
  const Index distinct = distinct_priors(candidates);
  const auto given = static_cast<Index>(candidates.size());
  const Index prior_means = options.prior_means == 0 ? distinct : options.prior_means;
  const Index possible = options.candidates == 0 ? given : options.candidates;
  require(prior_means >= distinct, "prior_means: {} are covered by the confidence, the candidates have {}",
          prior_means, distinct);
  require(possible >= given, "candidates: {} are covered by the confidence, {} are given", possible, given);

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
  const LossShape shape{static_cast<Index>(claims.steps.size()), static_cast<Index>(claims.tolerances.size()),
                        static_cast<Index>(claims.grid.size()), static_cast<Index>(spec.steps.size())};
  const Index losses = count_losses(claims.simultaneous, shape,
                                    [&](const ClaimKind& kind) { return claims.claims(kind.name()); });
  // Rounded down, so that shares and claims add up to no more than delta.
  const auto share = [&](double part, Index parts) {
    return bounds::down(part * claims.delta / (static_cast<double>(losses) * static_cast<double>(parts)), 16);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const runs::Tally& tally = candidates[i].tally;
    PacBayes guarantee = candidates[i].guarantee;
    guarantee.losses = losses;
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
    LearnedRisk risk(guarantee);
    for (const ClaimKind* kind : claim_kinds()) {
      if (!claims.claims(kind->name())) continue;
      kind->make_learned(claims, i, tally, risk, union_delta(guarantee, kind->losses_of_one(shape)),
                         certificate);
    }
  }
  share_out(certificate, *certificate.variants.front().pac_bayes, claims.delta);
  if (claims.shift) add_shift(certificate, *claims.shift);
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
  const LossShape shape{size(certificate.steps), size(certificate.tolerances), size(certificate.grid),
                        columns};
  return count_losses(certificate.simultaneous, shape,
                      [&](const ClaimKind& kind) { return kind.size(certificate) > 0; });
}

bool is_pac_bayes(const Certificate& certificate) {
  return std::any_of(certificate.variants.begin(), certificate.variants.end(),
                     [](const Variant& variant) { return variant.pac_bayes.has_value(); });
}

}  // namespace surefoot::certify
