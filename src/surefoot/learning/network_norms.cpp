#include "surefoot/learning/network_norms.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <Eigen/SVD>

namespace surefoot::learning {

std::vector<bounds::LayerNorms> layer_norms(const Posterior& posterior) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto& blocks = posterior.layout.blocks;
  require(!blocks.empty() && blocks.size() % 2 == 0, "network: {} blocks are no layers of weights and biases",
          blocks.size());
  std::vector<bounds::LayerNorms> layers;
  for (std::size_t b = 0; b < blocks.size(); b += 2) {
    const Index m = blocks[b].rows;
    const Index n = blocks[b].cols;
    require(blocks[b + 1].rows == m && blocks[b + 1].cols == 1, "network: block '{}' is no bias of '{}'",
            blocks[b + 1].name, blocks[b].name);
    const bounds::GaussianPair& pair = posterior.gaussians;
    const Index weight = posterior.layout.offset(b);
    const Index bias = posterior.layout.offset(b + 1);
    Rows variance(m, n + 1);
    variance.leftCols(n) =
        Eigen::Map<const Rows>(pair.log_variance.data() + weight, m, n).array().exp().matrix();
    variance.col(n) = pair.log_variance.segment(bias, m).array().exp();
    const Eigen::MatrixXd W = Eigen::Map<const Rows>(pair.mean.data() + weight, m, n);
    constexpr int slack = 1024;  // ulps that the decomposition and sums may lose
    layers.push_back(
        {bounds::up(Eigen::JacobiSVD<Eigen::MatrixXd>(W).singularValues()[0], slack),
         bounds::up(pair.mean.segment(bias, m).norm(), slack),
         bounds::up(std::max(variance.rowwise().sum().maxCoeff(), variance.colwise().sum().maxCoeff()),
                    slack),
         n, m});
  }
  return layers;
}

double start_distance_bound(const Posterior& posterior, double input_norm, double output_scale,
                            double largest_solution, double delta) {
  require(output_scale > 0 && largest_solution >= 0, "output_scale, largest_solution: {} and {}",
          output_scale, largest_solution);
  const double output = bounds::network_norm_bound(layer_norms(posterior), input_norm, delta);
  return bounds::up(largest_solution + output_scale * output, 4);
}

}  // namespace surefoot::learning
