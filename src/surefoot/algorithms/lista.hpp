#pragma once

#include "surefoot/algorithms/detail/code_network.hpp"

namespace surefoot::algorithms {

/// LISTA: z+ = soft(W1_k z + W2_k b, psi_k). Weights: threshold (psi, K), recurrence (W1_1, ..., W1_{K-1}, n
/// x n each, one below the other: W1_0 acts on z = 0 and does not exist), observation (W2_0, ..., W2_{K-1}, n
/// x m each). They begin at ISTA's values for weight 0.1, I - D'D/L, D'/L and 0.1/L, plus 0.001; prior means
/// are ISTA's. State and iterate z (n), start 0. K. Gregor and Y. LeCun, "Learning fast approximations of
/// sparse coding", ICML 2010.
///
/// Thresholds are drawn, matrices are not: given z, the entries of (W1_k + noise) z + (W2_k + noise) b are
/// independent Gaussian variables with variances sum_j s1_ij z_j^2 + sum_j s2_ij b_j^2, and each layer has
/// matrices of its own, so n normals a step have the law of n (n + m). Where a block has one variance for all
/// weights, the sums are s ||z||^2.
std::unique_ptr<LearnedOperator> make_lista(SharedCodes codes, CodeNetworkOptions options = {});

/// LISTA's weights that do what ALISTA's step sizes and thresholds do: W1_k = I - gamma_k W'D, W2_k = gamma_k
/// W'. A start from which training is short.
std::vector<double> lista_from_alista(const problems::Matrix& D, std::span<const double> step,
                                      std::span<const double> threshold);

}  // namespace surefoot::algorithms
