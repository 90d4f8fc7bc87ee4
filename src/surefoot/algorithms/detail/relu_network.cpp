#include "surefoot/algorithms/detail/relu_network.hpp"

#include "surefoot/algorithms/detail/dense_lanes.hpp"
#include "surefoot/core/detail/vector_math.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::algorithms {

namespace {

constexpr EnumNames<Sampling, 2> sampling_names{
    {{Sampling::weights, "weights"}, {Sampling::pre_activations, "pre-activations"}}};

}  // namespace

std::string_view to_string(Sampling sampling) {
  return name_in(sampling_names, sampling);
}

namespace {

// y += x z, entry by entry.
void add_products(const double* x, const double* z, double* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += x[i] * z[i];
}

}  // namespace

ReluNetwork::ReluNetwork(std::vector<Index> sizes, Sampling sampling)
    : sizes_(std::move(sizes)), sampling_(sampling) {
  require(sizes_.size() >= 2, "network: {} layers of numbers, must be at least inputs and outputs",
          sizes_.size());
  for (const Index size : sizes_) require(size >= 1, "network: a layer has {} numbers", size);
  Index at = 0;
  for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) {
    const Index n = sizes_[i];
    const Index m = sizes_[i + 1];
    layout_.blocks.push_back({fmt::format("weight{}", i), m, n});
    layout_.blocks.push_back({fmt::format("bias{}", i), m, 1});
    places_.push_back({at, at + m * n, n, m});
    at += m * n + m;
  }
  mean_.assign(static_cast<std::size_t>(at), 0.0);
  variance_ = deviation_ = mean_by_input_ = variance_by_input_ = mean_;
}

ReluNetwork::Room ReluNetwork::make_room(Index width) const {
  require(width > 0 && width % 8 == 0, "network: {} lanes, must be a multiple of 8", width);
  Room room;
  room.width = width;
  Index largest = 0;
  Index outputs = 0;
  for (const Place& place : places_) {
    Room::Layer layer;
    layer.input = make_buffer(place.inputs, width);
    layer.squares = make_buffer(place.inputs, width);
    layer.output = make_buffer(place.outputs, width);
    layer.xi = make_buffer(place.outputs, width);
    layer.deviation = make_buffer(place.outputs, width);
    room.layers.push_back(std::move(layer));
    largest = std::max({largest, place.inputs, place.outputs});
    outputs += place.outputs;
  }
  room.by_output = make_buffer(largest, width);
  room.by_variance = make_buffer(largest, width);
  room.by_input = make_buffer(largest, width);
  room.product = make_buffer(largest, width);
  room.by_lane = make_buffer(largest, width);
  if (sampling_ == Sampling::weights) {
    room.weights = LaneWeights(layout_.size(), width);
  } else {
    room.normals.assign(static_cast<std::size_t>(outputs), 0.0);
    room.d_mean.assign(mean_.size(), 0.0);
    room.d_variance.assign(mean_.size(), 0.0);
  }
  return room;
}

void ReluNetwork::assign(std::span<const double> mean, std::span<const double> variance) {
  require(mean.size() == mean_.size() && variance.size() == mean_.size(),
          "network: {} means and {} variances for {} weights", mean.size(), variance.size(), mean_.size());
  for (const double s : variance) require(s >= 0, "network: a variance is {}", s);
  mean_.assign(mean.begin(), mean.end());
  variance_.assign(variance.begin(), variance.end());
  std::transform(variance.begin(), variance.end(), deviation_.begin(), [](double s) { return std::sqrt(s); });
  if (sampling_ == Sampling::weights) return;
  for (const Place& place : places_) {
    transpose(mean_.data() + place.weight, place.outputs, place.inputs, mean_by_input_.data() + place.weight);
    transpose(variance_.data() + place.weight, place.outputs, place.inputs,
              variance_by_input_.data() + place.weight);
  }
}

void ReluNetwork::draw(const WeightDraw& draw, Room& room) const {
  room.noisy = true;
  if (sampling_ == Sampling::weights) {
    room.weights.draw(draw, mean_.data(), deviation_.data());
    return;
  }
  const std::uint64_t purpose = purpose_key(draw.purpose);
  for (Index lane = 0; lane < room.width; ++lane) {
    fill_normals({draw.seed, purpose, draw.first_draw + static_cast<std::uint64_t>(lane), 0},
                 room.normals.data(), static_cast<Index>(room.normals.size()));
    Index at = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (Index row = 0; row < places_[i].outputs; ++row)
        room.layers[i].xi[row * room.width + lane] = room.normals[at++];
    }
  }
}

void ReluNetwork::use_means(Room& room) const {
  room.noisy = false;
  if (sampling_ == Sampling::weights) room.weights.use_means(mean_.data());
}

void ReluNetwork::layer_of_weights(const Place& place, Room::Layer& layer, Room& room) const {
  const Index W = room.width;
  for (Index i = 0; i < place.outputs; ++i) {
    double* y = layer.output.data() + i * W;
    std::copy_n(room.weights[place.bias + i], W, y);
    for (Index j = 0; j < place.inputs; ++j)
      add_products(room.weights[place.weight + i * place.inputs + j], layer.input.data() + j * W, y, W);
  }
}

void ReluNetwork::layer_of_pre_activations(const Place& place, Room::Layer& layer, Room& room) const {
  const Index W = room.width;
  multiply(mean_.data() + place.weight, place.outputs, place.inputs, layer.input.data(), layer.output.data(),
           W);
  for (Index i = 0; i < place.outputs; ++i) {
    for (Index lane = 0; lane < W; ++lane) layer.output[i * W + lane] += mean_[place.bias + i];
  }
  if (!room.noisy) return;
  for (Index at = 0; at < place.inputs * W; ++at) layer.squares[at] = layer.input[at] * layer.input[at];
  multiply(variance_.data() + place.weight, place.outputs, place.inputs, layer.squares.data(),
           layer.deviation.data(), W);
  for (Index i = 0; i < place.outputs; ++i) {
    for (Index lane = 0; lane < W; ++lane) {
      const Index at = i * W + lane;
      layer.deviation[at] = std::sqrt(layer.deviation[at] + variance_[place.bias + i]);
      layer.output[at] += layer.deviation[at] * layer.xi[at];
    }
  }
}

void ReluNetwork::forward(const double* x, Room& room, double* y) const {
  const Index W = room.width;
  std::copy_n(x, sizes_.front() * W, room.layers.front().input.data());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Room::Layer& layer = room.layers[i];
    if (sampling_ == Sampling::weights) {
      layer_of_weights(places_[i], layer, room);
    } else {
      layer_of_pre_activations(places_[i], layer, room);
    }
    if (i + 1 == places_.size()) break;
    std::transform(layer.output.begin(), layer.output.end(), room.layers[i + 1].input.begin(),
                   [](double value) { return value <= 0 ? 0.0 : value; });
  }
  std::copy_n(room.layers.back().output.data(), sizes_.back() * W, y);
}

void ReluNetwork::back_through_weights(const Place& place, Room::Layer& layer, Room& room) const {
  const Index W = room.width;
  std::fill_n(room.by_input.data(), place.inputs * W, 0.0);
  for (Index i = 0; i < place.outputs; ++i) {
    const double* by_y = room.by_output.data() + i * W;
    double* by_bias = room.weights.derivative(place.bias + i);
    for (Index lane = 0; lane < W; ++lane) by_bias[lane] += by_y[lane];
    for (Index j = 0; j < place.inputs; ++j) {
      const Index weight = place.weight + i * place.inputs + j;
      add_products(by_y, layer.input.data() + j * W, room.weights.derivative(weight), W);
      add_products(by_y, room.weights[weight], room.by_input.data() + j * W, W);
    }
  }
}

// y = w'h + b + sqrt(v) xi with v = s'h^2 + t: d v = d y xi / (2 sqrt v), d h = w d y + 2 h s d v.
void ReluNetwork::back_through_pre_activations(const Place& place, Room::Layer& layer, Room& room) const {
  const Index W = room.width;
  transpose(layer.input.data(), place.inputs, W, room.by_lane.data());
  add_outer_products(room.by_output.data(), place.outputs, room.by_lane.data(), place.inputs, W,
                     room.d_mean.data() + place.weight);
  for (Index i = 0; i < place.outputs; ++i) {
    for (Index lane = 0; lane < W; ++lane) room.d_mean[place.bias + i] += room.by_output[i * W + lane];
  }
  multiply(mean_by_input_.data() + place.weight, place.inputs, place.outputs, room.by_output.data(),
           room.by_input.data(), W);
  if (!room.noisy) return;
  for (Index at = 0; at < place.outputs * W; ++at) {
    const double deviation = layer.deviation[at];
    room.by_variance[at] = deviation > 0 ? 0.5 * room.by_output[at] * layer.xi[at] / deviation : 0.0;
  }
  // Derivatives by the variances: those by their logarithms follow when they are collected.
  for (Index at = 0; at < place.inputs * W; ++at) room.by_lane[at] *= room.by_lane[at];
  add_outer_products(room.by_variance.data(), place.outputs, room.by_lane.data(), place.inputs, W,
                     room.d_variance.data() + place.weight);
  for (Index i = 0; i < place.outputs; ++i) {
    for (Index lane = 0; lane < W; ++lane) room.d_variance[place.bias + i] += room.by_variance[i * W + lane];
  }
  multiply(variance_by_input_.data() + place.weight, place.inputs, place.outputs, room.by_variance.data(),
           room.product.data(), W);
  for (Index at = 0; at < place.inputs * W; ++at) room.by_input[at] += 2 * layer.input[at] * room.product[at];
}

void ReluNetwork::backward(const double* d_y, Room& room) const {
  const Index W = room.width;
  std::copy_n(d_y, sizes_.back() * W, room.by_output.data());
  for (std::size_t i = places_.size(); i-- > 0;) {
    if (sampling_ == Sampling::weights) {
      back_through_weights(places_[i], room.layers[i], room);
    } else {
      back_through_pre_activations(places_[i], room.layers[i], room);
    }
    if (i == 0) break;
    const Buffer& before = room.layers[i - 1].output;
    for (Index at = 0; at < places_[i].inputs * W; ++at)
      room.by_output[at] = before[at] > 0 ? room.by_input[at] : 0.0;
  }
}

void ReluNetwork::collect(Room& room, std::span<double> d_mean, std::span<double> d_log_variance) const {
  if (sampling_ == Sampling::weights) {
    room.weights.collect(d_mean.data(), d_log_variance.data());
    return;
  }
  for (std::size_t i = 0; i < room.d_mean.size(); ++i) {
    d_mean[i] += std::exchange(room.d_mean[i], 0.0);
    d_log_variance[i] += variance_[i] * std::exchange(room.d_variance[i], 0.0);
  }
}

}  // namespace surefoot::algorithms
