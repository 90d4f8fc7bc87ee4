#pragma once

#include "surefoot/algorithms/detail/code_network.hpp"

namespace surefoot::algorithms {

/// ALISTA: z+ = soft(z - gamma_k W'(Dz - b), psi_k), W analytic. Weights: step (gamma, K), threshold (psi,
/// K); both begin at 1, prior means 0. State and iterate z (n), start 0. J. Liu et al., ICLR 2019.
std::unique_ptr<LearnedOperator> make_alista(SharedCodes codes, CodeNetworkOptions options = {});

}  // namespace surefoot::algorithms
