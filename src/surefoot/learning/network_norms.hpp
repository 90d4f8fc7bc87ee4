#pragma once

#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/learning/posterior.hpp"

#include <vector>

namespace surefoot::learning {

/// Layers of a network whose posterior has the blocks weight0, bias0, weight1, bias1, ...
/// (algorithms/detail/relu_network.hpp), as the norm bound needs them; rounded up.
std::vector<bounds::LayerNorms> layer_norms(const Posterior& posterior);

/// Theorem 3 of Sambharya and Stellato: with probability 1 - delta over the weights, ||z^0(x) - z*(x)|| is at
/// most this for every x, if ||x|| <= input_norm as the network sees it and ||z*(x)|| <= largest_solution.
double start_distance_bound(const Posterior& posterior, double input_norm, double output_scale,
                            double largest_solution, double delta);

}  // namespace surefoot::learning
