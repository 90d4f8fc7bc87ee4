#include "surefoot/algorithms/detail/code_network.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <Eigen/Cholesky>

#include <cmath>

namespace surefoot::algorithms {

void CodeNetworkOptions::validate() const {
  require(steps >= 1 && steps <= most_steps, "steps: {} is outside 1 .. {}", steps, most_steps);
}

Settings CodeNetwork::settings() const {
  return {{"solver", std::string(name())},
          {"settings",
           Settings{{"steps", options_.steps}, {"precision", std::string(to_string(options_.precision))}}}};
}

CodeNetwork::CodeNetwork(SharedCodes codes, CodeNetworkOptions options)
    : codes_(std::move(codes)), options_(options) {
  require(codes_ != nullptr, "codes: there are none");
  options_.validate();
  codes_->validate();
}

void CodeNetwork::check_weights(std::span<const double> mean, std::span<const double> variance) const {
  const auto size = static_cast<std::size_t>(layout_.size());
  require(mean.size() == size && variance.size() == size, "{}: {} means and {} variances for {} weights",
          name(), mean.size(), variance.size(), size);
  constexpr std::size_t range = 1U << 16U;
  std::vector<double> smallest_of((size + range - 1) / range, 0.0);
  parallel_blocks(static_cast<Index>(smallest_of.size()), [&](Index r) {
    const std::size_t begin = static_cast<std::size_t>(r) * range;
    double& smallest = smallest_of[static_cast<std::size_t>(r)];
    for (const double s : variance.subspan(begin, std::min(range, size - begin)))
      smallest = s >= smallest ? smallest : s;  // a NaN is kept
  });
  double smallest = 0;
  for (const double s : smallest_of) smallest = s >= smallest ? smallest : s;
  require(smallest == 0, "{}: a variance is {}", name(), smallest);
}

void CodeNetwork::assign(std::span<const double> mean, std::span<const double> variance) {
  check_weights(mean, variance);
  mean_.assign(mean.begin(), mean.end());
  deviation_.resize(variance.size());
  std::transform(variance.begin(), variance.end(), deviation_.begin(), [](double s) { return std::sqrt(s); });
}

void CodeNetwork::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, z.rows * z.width, 0.0);
}

void CodeNetwork::check_block(Index first, Index count) const {
  require(count >= 1 && count <= code_lanes && is_within(first, count, instances()),
          "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first, instances() - 1,
          code_lanes);
}

void CodeNetwork::check_step(Index k) const {
  require(k >= 0 && k < options_.steps, "step: {} of a network with {} layers", k, options_.steps);
}

problems::Matrix analytic_weights(const problems::Matrix& D) {
  const problems::Matrix square = D * D.transpose();
  const Eigen::LLT<problems::Matrix> factor(square);
  // Rounding may let a factor of dependent rows exist.
  constexpr double least_rcond = 1e-14;
  require(factor.info() == Eigen::Success && factor.rcond() > least_rcond, "D: {} x {} has dependent rows",
          D.rows(), D.cols());
  problems::Matrix W = factor.solve(D);
  for (Index i = 0; i < W.cols(); ++i) W.col(i) /= D.col(i).dot(W.col(i));
  return W;
}

template <class T>
GramNetwork<T>::GramNetwork(SharedCodes samples, CodeNetworkOptions options, bool gated)
    : CodeNetwork(std::move(samples), options), gated_(gated), W_(analytic_weights(codes().D)) {
  const problems::Matrix G = W_.transpose() * codes().D;
  gram_ = Columns<T>(G);
  gram_transposed_ = Columns<T>(G.transpose());
  GramNetwork::instances_changed();
}

template <class T>
void GramNetwork<T>::instances_changed() {
  const Index n = codes().variables();
  Wb_.resize(static_cast<std::size_t>(instances() * n));
  constexpr Index rows = 64;
  parallel_blocks((instances() + rows - 1) / rows, [&](Index block) {
    const Index first = block * rows;
    const Index count = std::min(rows, instances() - first);
    const problems::Table part = codes().b.middleRows(first, count) * W_;
    std::transform(part.data(), part.data() + part.size(), Wb_.begin() + first * n,
                   [](double value) { return static_cast<T>(value); });
  });
}

template <class T>
std::unique_ptr<Workspace> GramNetwork<T>::make_workspace() const {
  const auto lanes = static_cast<std::size_t>(state_size() * code_lanes);
  auto room = std::make_unique<Room>();
  room->weight = LaneWeights(layout_.size(), code_lanes);
  room->nonzeros = Nonzeros<T>(state_size());
  room->Wb.resize(lanes);
  room->product.resize(lanes);
  room->gradient.resize(lanes * static_cast<std::size_t>(steps()));
  if (gated_) {
    room->gain.resize(lanes * static_cast<std::size_t>(steps()));
    room->point.resize(lanes);
  }
  return room;
}

template <class T>
void GramNetwork<T>::load(Index first, Index count, Workspace& workspace) const {
  check_block(first, count);
  const Index n = state_size();
  load_lanes(Wb_.data() + first * n, count, n, static_cast<Room&>(workspace).Wb.data());
}

template <class T>
void GramNetwork<T>::draw(const WeightDraw& draw, Workspace& workspace) const {
  static_cast<Room&>(workspace).weight.draw(draw, mean_.data(), deviation_.data());
}

template <class T>
void GramNetwork<T>::use_means(Workspace& workspace) const {
  static_cast<Room&>(workspace).weight.use_means(mean_.data());
}

template <class T>
void GramNetwork<T>::collect(Workspace& workspace, std::span<double> d_mean,
                             std::span<double> d_log_variance) const {
  static_cast<Room&>(workspace).weight.collect(d_mean.data(), d_log_variance.data());
}

template class GramNetwork<float>;
template class GramNetwork<double>;

}  // namespace surefoot::algorithms
