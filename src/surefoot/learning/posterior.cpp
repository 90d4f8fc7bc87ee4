#include "surefoot/learning/posterior.hpp"

#include "surefoot/core/detail/vector_math.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::learning {

void Posterior::validate() const {
  gaussians.validate();
  require(gaussians.group_size.size() == layout.blocks.size(),
          "posterior: {} groups for {} blocks of weights", gaussians.group_size.size(), layout.blocks.size());
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    require(gaussians.group_size[b] == layout.blocks[b].size(),
            "posterior: block '{}' has {} weights, its group {}", layout.blocks[b].name,
            layout.blocks[b].size(), gaussians.group_size[b]);
  }
  require(gaussians.mean.allFinite() && gaussians.log_variance.allFinite() &&
              gaussians.prior_mean.allFinite() && gaussians.prior_log_variance.allFinite(),
          "posterior: a weight, variance or prior is not finite");
}

Eigen::VectorXd Posterior::variance() const {
  Eigen::VectorXd variance = gaussians.log_variance;
  exponentials(variance.data(), variance.size());
  return variance;
}

void round_prior(Posterior& posterior) {
  for (double& nu : posterior.gaussians.prior_log_variance)
    nu = posterior.grid.log_lambda(posterior.grid.nearest(nu));
}

}  // namespace surefoot::learning
