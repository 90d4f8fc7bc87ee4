#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/bounds/pac_bayes.hpp"

#include <map>
#include <string>

namespace surefoot::learning {

/// The trained weights of a learned optimizer, N(w, diag s), with the prior they are charged against. Group j
/// of the prior is block j of the layout.
struct Posterior {
  algorithms::WeightLayout layout;
  bounds::GaussianPair gaussians;
  bounds::PriorGrid grid;
  /// Model, family, seed, training settings: what a reader must know to run the weights.
  std::map<std::string, std::string> metadata;
  /// False: read from a file of format 1, which has no digest of its own, and written as one.
  bool has_digest = true;

  /// Sizes agree and every number is finite; InputError says what does not.
  void validate() const;

  /// exp(log_variance); equal ones stay equal, which Eigen's exp does not ensure.
  [[nodiscard]] Eigen::VectorXd variance() const;
};

/// Moves every prior variance to the nearest point of the grid, a >= 1, as a certificate needs it.
void round_prior(Posterior& posterior);

}  // namespace surefoot::learning
