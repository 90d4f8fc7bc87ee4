#pragma once

#include "surefoot/algorithms/detail/code_lanes.hpp"
#include "surefoot/problems/sparse_codes.hpp"

#include <memory>
#include <string>

namespace surefoot::algorithms {

/// Samples that networks read; the owner may replace them between blocks (fresh signs for every epoch) and
/// says so by instances_changed().
using SharedCodes = std::shared_ptr<const problems::SparseCodes>;

struct CodeNetworkOptions {
  Index steps = 10;                        ///< K, layers of weights
  Precision precision = Precision::twice;  ///< of products; states are double
  void validate() const;
};

/// What the learned soft-thresholding networks share: the samples, weights that are single numbers (K per
/// block, drawn lane by lane), and the code z (n) as state and iterate, started at 0.
class CodeNetwork : public LearnedOperator {
 public:
  [[nodiscard]] Settings settings() const override;
  [[nodiscard]] Index instances() const override { return codes_->instances(); }
  [[nodiscard]] Index state_size() const override { return codes_->variables(); }
  [[nodiscard]] Index primal_size() const override { return codes_->variables(); }
  [[nodiscard]] Index width() const override { return code_lanes; }
  [[nodiscard]] const WeightLayout& weights() const override { return layout_; }
  void assign(std::span<const double> mean, std::span<const double> variance) override;
  void start(Batch z, Workspace& workspace) const override;

 protected:
  CodeNetwork(SharedCodes codes, CodeNetworkOptions options);
  [[nodiscard]] Index steps() const { return options_.steps; }
  [[nodiscard]] const problems::SparseCodes& codes() const { return *codes_; }
  /// Right numbers of means and variances, none of these negative; InputError otherwise.
  void check_weights(std::span<const double> mean, std::span<const double> variance) const;
  void check_block(Index first, Index count) const;
  /// Steps beyond K do not exist: InputError.
  void check_step(Index k) const;

  WeightLayout layout_;
  std::vector<double> mean_;
  std::vector<double> deviation_;

 private:
  SharedCodes codes_;
  CodeNetworkOptions options_;
};

/// W of the analytic networks: w_i = (DD')^{-1} d_i / (d_i'(DD')^{-1} d_i), the minimizer of ||W'D||_F over
/// diag(W'D) = 1, m x n. J. Liu et al., "ALISTA: Analytic weights are as good as learned weights in LISTA",
/// ICLR 2019.
problems::Matrix analytic_weights(const problems::Matrix& D);

/// A network whose matrix W is fixed: products with G = W'D, and W'b of every sample, once for all.
template <class T>
class GramNetwork : public CodeNetwork {
 public:
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override;
  void load(Index first, Index count, Workspace& workspace) const override;
  void instances_changed() override;
  void draw(const WeightDraw& draw, Workspace& workspace) const override;
  void use_means(Workspace& workspace) const override;
  void collect(Workspace& workspace, std::span<double> d_mean,
               std::span<double> d_log_variance) const override;

 protected:
  struct Room final : Workspace {
    LaneWeights weight;
    Nonzeros<T> nonzeros;
    AlignedVector<T> Wb;          // n lanes
    AlignedVector<T> product;     // n lanes: of the reverse sweep
    AlignedVector<T> gradient;    // K x n lanes: G x - W'b of each step, left behind for its vjp
    AlignedVector<T> gain;        // K x n lanes: of gated networks
    AlignedVector<double> point;  // n lanes
    T* gradient_of(Index k) { return gradient.data() + k * static_cast<Index>(Wb.size()); }
    T* gain_of(Index k) { return gain.data() + k * static_cast<Index>(Wb.size()); }
  };
  GramNetwork(SharedCodes codes, CodeNetworkOptions options, bool gated);

  Columns<T> gram_;             // G
  Columns<T> gram_transposed_;  // G'

 private:
  bool gated_;
  problems::Matrix W_;
  AlignedVector<T> Wb_;  // N x n
};

}  // namespace surefoot::algorithms
