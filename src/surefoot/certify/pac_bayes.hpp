#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/runs/tally.hpp"

#include <string>
#include <vector>

namespace surefoot::certify {

/// 1 - 0.99028: what the paper's quantile bounds of learned optimizers spend, 81 tolerances x 6 targets x
/// (1e-5 + 1e-5).
inline constexpr double paper_learned_delta = 0.00972;

/// Names of the shares of a certificate by PAC-Bayes whose claims hold together.
inline constexpr const char* bayes_share_name = "PAC-Bayes (losses x prior means)";
inline constexpr const char* calibration_share_name = "calibration (losses x candidates)";

/// Most posteriors, and most prior means, that a certificate pays for.
inline constexpr Index most_candidates = 1'000'000'000;

/// What is claimed about learned optimizers by PAC-Bayes, declared before the samples are seen.
///
/// A loss is failure at one step and tolerance (or not having settled by one step). Every loss has its own
/// inequality, so the confidence pays for each of them:
///   delta_each x losses x prior_means + omega_each x losses x candidates <= claims.delta.
/// The first inequality holds for all posteriors at once, so choosing among candidate posteriors of one prior
/// mean costs only the second term. Losses, under claims.simultaneous == all: steps x (grid + tolerances) +
/// tolerances x recorded steps, as far as quantiles, success rates and budgets are claimed; under each: those
/// of the largest claim, a quantile's grid or a budget's steps.
struct PacBayesOptions {
  /// Total delta, tolerances, quantiles, steps, grid, metric. Quantiles are those of `grid`; budgets settle.
  Options claims;
  double calibration_share = 0.5;  ///< of delta, for omega
  /// Prior means that could have been chosen from; 0: as many as the candidates have. The paper charges one
  /// for every candidate (accounting `paper`), although they have one prior mean.
  Index prior_means = 0;
  Index candidates = 0;  ///< posteriors that could have been chosen from; 0: the ones given

  PacBayesOptions();
  void validate() const;
};

/// 801 tolerances, ten times as fine as the paper's 81: -80 .. 0 dB, or 1e-6 .. 1e2.
std::vector<double> fine_grid(const std::string& unit);

/// With every default filled in: tolerances, fine_grid(), all recorded steps.
PacBayesOptions resolved(PacBayesOptions options, const std::vector<Index>& recorded_steps);

/// The paper's accounting: its 81 tolerances, each claim alone, delta paid for every one of `candidates`.
PacBayesOptions paper_accounting(PacBayesOptions options, Index candidates = 6);

/// InputError unless the grid of prior variances is the declared one, PriorGrid{}: one that was chosen after
/// the bound's samples were seen is not paid for. A prior mean that was trained on other samples
/// (prior_samples > 0) may have come with a grid of its own.
void require_declared_grid(const bounds::PriorGrid& grid, Index prior_samples);

/// What the bound charges for the posterior: KL, groups, grid positions, the digest of its prior. InputError
/// unless the prior is on its grid (learning::round_prior).
PacBayes charge(const learning::Posterior& posterior);

/// The same of weights that are not here. InputError names what cannot be; whether it is true nobody knows
/// here.
PacBayes charge(const StatedCharge& stated);

/// A posterior whose runs have been counted: `guarantee` with what charge() and the calibration know.
struct Calibrated {
  Variant variant;
  PacBayes guarantee;
  runs::Tally tally;
};

/// Every claim of the options for every candidate, from counts of their calibration, within one confidence
/// budget. All candidates were charged for the same samples.
Certificate certify(const PacBayesOptions& resolved_options, const std::vector<Calibrated>& candidates);

/// Losses that the union is paid for, by the certificate's own declarations.
Index losses_of(const Certificate& certificate);

/// Whether claims rest on PAC-Bayes (and not on counting fresh samples).
bool is_pac_bayes(const Certificate& certificate);

}  // namespace surefoot::certify
