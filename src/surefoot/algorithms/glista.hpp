#pragma once

#include "surefoot/algorithms/detail/code_network.hpp"

namespace surefoot::algorithms {

/// GLISTA, ALISTA with gates: x = (1 + mu_k psi_k exp(-nu_k |z|)) z, z~ = soft(x - gamma_k W'(Dx - b),
/// psi_k), d = z~ - z, z+ = z + (1 + a_k / (|d| + 0.1)) d. Weights: step (gamma, K), threshold (psi, K), gain
/// (mu, K-1), decay (nu, K-1), overshoot (a, K): the first gate acts on z = 0 and has no weights. They begin
/// at 1, the thresholds at 0.5; prior means 0. State and iterate z (n), start 0. K. Wu et al., "Sparse coding
/// with gated learned ISTA", ICLR 2020.
std::unique_ptr<LearnedOperator> make_glista(SharedCodes codes, CodeNetworkOptions options = {});

}  // namespace surefoot::algorithms
