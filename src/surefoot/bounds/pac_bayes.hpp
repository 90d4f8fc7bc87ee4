#pragma once

#include "surefoot/core/types.hpp"

#include <Eigen/Core>

#include <functional>
#include <vector>

namespace surefoot::bounds {

/// Posterior N(w, diag s) against prior N(w0, Lambda), Lambda constant lambda_j on group j.
/// In logarithms: zeta = log s, nu_j = log lambda_j. group[i] is the group of weight i.
struct GaussianPair {
  Eigen::VectorXd mean;                ///< w
  Eigen::VectorXd log_variance;        ///< zeta
  Eigen::VectorXd prior_mean;          ///< w0
  std::vector<Index> group_size;       ///< weights of group 0 first, then of group 1, ...
  Eigen::VectorXd prior_log_variance;  ///< nu, one per group

  void validate() const;
};

/// lambda_j = lambda_max exp(-a_j/b), a_j = 1, 2, 3, ... : the grid of prior variances, fixed beforehand.
struct PriorGrid {
  double lambda_max = 100.0;
  double b = 100.0;

  /// a = b log(lambda_max / lambda), a real number.
  [[nodiscard]] double position(double log_lambda) const;
  [[nodiscard]] double log_lambda(Index a) const;
  /// The nearest grid point, a >= 1.
  [[nodiscard]] Index nearest(double log_lambda) const;
};

/// KL( N(w, diag s) || N(w0, Lambda) ), rounded up.
double gaussian_kl(const GaussianPair& pair);

struct Regularizer {
  double value = 0;                      ///< B
  Eigen::VectorXd d_mean;                ///< dB/dw
  Eigen::VectorXd d_log_variance;        ///< dB/dzeta
  Eigen::VectorXd d_prior_log_variance;  ///< dB/dnu
};

/// B = (1/N) [ KL + sum_j 2 log a_j + J log(pi^2/6) + log(2 sqrt(N)/delta) ], rounded up; N >= 8.
/// During training a_j is real; a certificate needs it on the grid (is_on_grid).
double regularizer(const GaussianPair& pair, const PriorGrid& grid, Index samples, double delta);
/// The same from KL and the grid positions a_j >= 1 of the groups, as a certificate has them.
double regularizer(double kl, const std::vector<Index>& positions, Index samples, double delta);
Regularizer regularizer_with_gradient(const GaussianPair& pair, const PriorGrid& grid, Index samples,
                                      double delta);

/// What B needs of a group of weights.
struct GroupSums {
  double weights = 0;        ///< |I_j|
  double shifts = 0;         ///< sum of (w - w0)^2
  double variances = 0;      ///< sum of s
  double log_variances = 0;  ///< sum of zeta
  bool tied = false;         ///< s = lambda_j throughout, so that nu_j moves both
};

/// B from sums, to nearest, for training, which moves it and certifies nothing by it; d_nu receives its
/// derivatives by nu (by nu and zeta together where they are tied). `sums_of(j)` are those of group j.
double regularizer_from_sums(const std::function<GroupSums(Index group)>& sums_of,
                             const Eigen::VectorXd& prior_log_variance, const PriorGrid& grid, Index samples,
                             double delta, Eigen::VectorXd& d_nu);
/// The other derivatives: dB/dw and dB/dzeta of one weight are these with factor = 1/N.
inline double kl_by_mean(double factor, double shift, double inverse_lambda) {
  return factor * shift * inverse_lambda;
}
inline double kl_by_log_variance(double factor, double variance, double inverse_lambda) {
  return factor * 0.5 * (variance * inverse_lambda - 1);
}

/// Whether every nu_j is log_lambda(a) of an integer a >= 1, to rounding.
bool is_on_grid(const GaussianPair& pair, const PriorGrid& grid);

/// Risk of a stochastic optimizer from its expected empirical risk: kl_inv(R_S, B).
double pac_bayes_risk(double expected_empirical_risk, double regularizer_value);

/// Upper bounds on the expected empirical risk R_S from drawn weights:
/// `paper`: H weight vectors, each run on all samples, average failure share R_hat: kl_inv(R_hat,
/// log(2/omega)/H).
double calibrated_risk_paper(double average_failure_share, Index weight_draws, double omega);
/// The same from `failures` among `runs` runs of all weight vectors together.
double calibrated_risk_paper(Index failures, Index runs, Index weight_draws, double omega);
/// default: `runs` independent runs (R independent weight vectors for each sample): kl_inv(F/M,
/// log(1/omega)/M) (W. Hoeffding 1963, the kl form for independent, not identically distributed variables).
double calibrated_risk(Index failures, Index runs, double omega);

/// One layer of a network for the norm bound below.
struct LayerNorms {
  double weight_norm = 0;   ///< ||W||_2 of the means
  double bias_norm = 0;     ///< ||b||_2 of the means
  double variance_sum = 0;  ///< v^2: the largest row or column sum of the variances of (W; b) stacked
  Index inputs = 0;         ///< n
  Index outputs = 0;        ///< m
};

/// Theorem 3's norm bound: with probability 1 - delta over the weights ||h(x)|| <= a_L, a_0 = max ||x||,
/// a_{i+1} = (||W_i|| + ||b_i|| + tau_i)(a_i + 1), tau_i = v_i sqrt(2 log(L (m_i + n_i + 1)/delta)).
double network_norm_bound(const std::vector<LayerNorms>& layers, double input_norm, double delta);

}  // namespace surefoot::bounds
