#pragma once

#include "surefoot/core/types.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// The trained weights that a variant runs with.
struct Weights {
  std::string source;                ///< file name, or what made them
  std::string sha256;                ///< of the weights file
  Index count = 0;                   ///< numbers in a draw of the weights
  std::string sampling = "weights";  ///< what each run draws: weights, pre-activations, or means (nothing)
  std::string precision = "double";  ///< of the runs
  Index seed = 0;                    ///< of the draws
  std::string purpose;               ///< of their random streams; training has others
  /// false: they stayed where they were trained. Digest, KL divergence and results are as a charge states
  /// them.
  bool read = true;
};

/// What the bound needs of weights that are not here, as the program that trained them states it: the file
/// charge.json of surefoot_fit.
struct StatedCharge {
  std::string sha256;        ///< of the weights file
  std::string precision;     ///< of the runs
  std::string prior_sha256;  ///< of prior mean, groups and grid
  double lambda_max = 100;
  double b = 100;
  std::vector<Index> groups;     ///< weights per group
  std::vector<Index> positions;  ///< a_j of each group
  std::vector<double> kl;        ///< of each group, rounded up
};

/// How weights are drawn to bound the expected empirical risk.
enum class Design {
  stratified,  ///< R independent weight vectors for each sample, one run each: M = N R independent failures
  paper,       ///< H weight vectors, each run on all N samples
};
std::string_view name(Design design);
Design parse_design(std::string_view text);

/// What a PAC-Bayes guarantee charges and pays: with probability 1 - delta_each over the samples, for one
/// loss (failure at a step and tolerance) and one prior mean,
///   risk <= kl_inv( R_S, B ) for all posteriors at once,
///   B = (1/N) [ KL + sum_j 2 log a_j + J log(pi^2/6) + log(2 sqrt(N)/delta_each) ],
/// and with probability 1 - omega_each over the drawn weights, for one loss and one posterior, R_S is at most
/// its bound from the counted failures. Together losses x (prior_means x delta_each + candidates x
/// omega_each).
struct PacBayes {
  Index samples = 0;             ///< N, the bound's samples
  Index prior_samples = 0;       ///< other samples that the prior mean was trained on; 0: it was fixed before
  std::string prior_sha256;      ///< of prior mean, groups and grid: what must not depend on the N samples
  double kl = 0;                 ///< KL(posterior || prior), rounded up
  std::vector<Index> groups;     ///< |I_j|, weights per group
  std::vector<Index> positions;  ///< a_j >= 1: lambda_j = lambda_max exp(-a_j / b)
  double lambda_max = 100;
  double b = 100;
  Index losses = 0;       ///< pairs of step and tolerance that a union is paid for
  Index prior_means = 1;  ///< that the posterior could have been charged against
  Index candidates = 1;   ///< posteriors of which this is one
  double delta_each = 0;
  double omega_each = 0;
  double regularizer = 0;  ///< B, rounded up
  Design design = Design::stratified;
  Index draws = 1;  ///< R or H
  Index runs = 0;   ///< M = N R, or N H
};

/// An upper bound on the risk from the failures among the guarantee's runs: kl_inv(kl_inv(F/M, c), B) with c
/// = log(1/omega_each)/M (stratified) or log(2/omega_each)/H (paper). Rounded up.
double learned_risk(const PacBayes& guarantee, Index failures);

/// learned_risk() of one guarantee; the same counts come again and again.
class LearnedRisk {
 public:
  explicit LearnedRisk(const PacBayes& guarantee) : guarantee_(guarantee) {}
  double operator()(Index failures);

 private:
  const PacBayes& guarantee_;
  std::map<Index, double> known_;
};

/// The probability that a claim which needs `losses` losses at once is false: losses x (prior_means x
/// delta_each + candidates x omega_each), rounded up.
double union_delta(const PacBayes& guarantee, Index losses);

/// The success rate 1 - risk, rounded down; 0: says nothing.
double learned_success(double risk);

/// B from the guarantee's own numbers, rounded up.
double regularizer_of(const PacBayes& guarantee);

}  // namespace surefoot::certify
