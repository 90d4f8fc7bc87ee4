#include "surefoot/algorithms/detail/lane_weights.hpp"

#include "surefoot/core/detail/vector_math.hpp"
#include "surefoot/core/random.hpp"

#include <algorithm>

namespace surefoot::algorithms {

LaneWeights::LaneWeights(Index count, Index width)
    : count_(count),
      width_(width),
      value_(static_cast<std::size_t>(count * width), 0.0),
      noise_(static_cast<std::size_t>(count * width), 0.0),
      derivative_(static_cast<std::size_t>(count * width), 0.0),
      xi_(static_cast<std::size_t>(count * width)),
      d_mean_(static_cast<std::size_t>(count), 0.0),
      d_log_variance_(static_cast<std::size_t>(count), 0.0) {}

void LaneWeights::draw(const WeightDraw& draw, const double* mean, const double* deviation) {
  settle();
  const std::uint64_t purpose = purpose_key(draw.purpose);
  for (Index lane = 0; lane < width_; ++lane) {
    fill_normals({draw.seed, purpose, draw.first_draw + static_cast<std::uint64_t>(lane), 0},
                 xi_.data() + lane * count_, count_);
  }
  for (Index i = 0; i < count_; ++i) {
    for (Index lane = 0; lane < width_; ++lane) {
      const double noise = deviation[i] * xi_[lane * count_ + i];
      noise_[i * width_ + lane] = noise;
      value_[i * width_ + lane] = mean[i] + noise;
    }
  }
}

void LaneWeights::use_means(const double* mean) {
  settle();
  std::fill(noise_.begin(), noise_.end(), 0.0);
  for (Index i = 0; i < count_; ++i) std::fill_n(value_.begin() + i * width_, width_, mean[i]);
}

void LaneWeights::settle() {
  for (Index i = 0; i < count_; ++i) {
    for (Index at = i * width_; at < (i + 1) * width_; ++at) {
      d_mean_[i] += derivative_[at];
      d_log_variance_[i] += 0.5 * derivative_[at] * noise_[at];
    }
  }
  std::fill(derivative_.begin(), derivative_.end(), 0.0);
}

void LaneWeights::collect(double* d_mean, double* d_log_variance) {
  settle();
  for (Index i = 0; i < count_; ++i) {
    d_mean[i] += d_mean_[i];
    d_log_variance[i] += d_log_variance_[i];
  }
  std::fill(d_mean_.begin(), d_mean_.end(), 0.0);
  std::fill(d_log_variance_.begin(), d_log_variance_.end(), 0.0);
}

}  // namespace surefoot::algorithms
