#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/learned_operator.hpp"

namespace surefoot::algorithms {

/// Weights drawn lane by lane: theta = w + sqrt(s) xi, weight i of lane j at (*this)[i][j], and the
/// derivatives by them, laid out alike.
class LaneWeights {
 public:
  LaneWeights() = default;
  LaneWeights(Index count, Index width);
  /// Lane j draws from the stream first_draw + j of the draw.
  void draw(const WeightDraw& draw, const double* mean, const double* deviation);
  void use_means(const double* mean);
  [[nodiscard]] const double* operator[](Index weight) const { return value_.data() + weight * width_; }
  double* derivative(Index weight) { return derivative_.data() + weight * width_; }
  /// Adds the derivatives by means and log variances, summed over lanes and blocks, and clears them: d theta
  /// / d zeta = sqrt(s) xi / 2.
  void collect(double* d_mean, double* d_log_variance);

 private:
  /// Before the noise of the block is replaced: its derivatives into the sums.
  void settle();
  Index count_ = 0;
  Index width_ = 0;
  AlignedVector<double> value_;
  AlignedVector<double> noise_;  // sqrt(s) xi
  AlignedVector<double> derivative_;
  AlignedVector<double> xi_;  // width x count
  std::vector<double> d_mean_;
  std::vector<double> d_log_variance_;
};

}  // namespace surefoot::algorithms
