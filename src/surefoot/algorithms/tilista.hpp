#pragma once

#include "surefoot/algorithms/detail/code_network.hpp"

namespace surefoot::algorithms {

/// TiLISTA: z+ = soft(z - gamma_k W'(Dz - b), psi_k), one W (m x n) for all steps, learned. Weights: step
/// (gamma, K), threshold (psi, K), matrix (W). They begin at 1, 1 and the analytic W + 0.001; prior means 0,
/// 0 and the analytic W. State and iterate z (n), start 0. J. Liu et al., ICLR 2019.
///
/// All entries of W must have one variance s (assign() refuses others). Then no matrix is drawn: with
/// residuals r_k = Dz^k - b and an orthonormal basis q_0, q_1, ... of them (Gram and Schmidt, as they come),
/// the products are (W + sqrt(s) X)'r_k = W'r_k + sqrt(s) sum_{l <= k} (q_l'r_k) X'q_l, and X'q_l, l = 0, 1,
/// ..., are independent standard normal vectors: q_l depends on X through X'q_0, ..., X'q_{l-1} alone, and
/// q_l is orthogonal to q_0, ..., q_{l-1}. K n normals a run instead of m n, the same law. step_vjp takes the
/// earlier q_l as given: exact for a step; through several, up to terms of the order of s.
std::unique_ptr<LearnedOperator> make_tilista(SharedCodes codes, CodeNetworkOptions options = {});

}  // namespace surefoot::algorithms
