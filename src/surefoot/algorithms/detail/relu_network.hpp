#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/detail/lane_weights.hpp"
#include "surefoot/algorithms/learned_operator.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace surefoot::algorithms {

/// What a network that is applied once draws: its weights, or its pre-activations layer by layer. Given the
/// layer's input h, the entries of W h + b with W_ij ~ N(w_ij, s_ij), b_i ~ N(b_i, t_i) are independent
/// N(w_i'h + b_i, sum_j s_ij h_j^2 + t_i): the same law with far fewer normals.
enum class Sampling { weights, pre_activations };
std::string_view to_string(Sampling sampling);

/// h_0 = x, h_{i+1} = relu(W_i h_i + b_i), the last layer without relu; weights of its own in every lane.
/// Blocks of weights: weight0 (m_0 x n_0), bias0, weight1, bias1, ...
class ReluNetwork {
 public:
  ReluNetwork() = default;
  /// sizes: inputs, hidden layers, outputs.
  ReluNetwork(std::vector<Index> sizes, Sampling sampling);

  /// Data of a block of lanes.
  struct Room {
    struct Layer {
      Buffer input;      // n: h
      Buffer squares;    // n: h^2
      Buffer output;     // m: before relu
      Buffer xi;         // m: normals of pre-activations
      Buffer deviation;  // m: standard deviations of pre-activations
    };
    Index width = 0;
    bool noisy = false;
    std::vector<Layer> layers;
    LaneWeights weights;  // sampling weights only
    Buffer by_output;     // largest layer
    Buffer by_variance;
    Buffer by_input;
    Buffer product;
    Buffer by_lane;  // a layer's input, a row per lane
    std::vector<double> normals;
    std::vector<double> d_mean;  // sums over lanes and blocks; sampling pre-activations only
    std::vector<double> d_variance;
  };

  [[nodiscard]] const WeightLayout& layout() const { return layout_; }
  [[nodiscard]] const std::vector<Index>& sizes() const { return sizes_; }
  [[nodiscard]] Sampling sampling() const { return sampling_; }
  /// width: a multiple of 8.
  [[nodiscard]] Room make_room(Index width) const;
  void assign(std::span<const double> mean, std::span<const double> variance);
  void draw(const WeightDraw& draw, Room& room) const;
  void use_means(Room& room) const;
  /// y (outputs x width) from x (inputs x width); allocates nothing.
  void forward(const double* x, Room& room, double* y) const;
  /// From the derivative by y of the last forward(): adds the derivatives by the weights to the room.
  void backward(const double* d_y, Room& room) const;
  void collect(Room& room, std::span<double> d_mean, std::span<double> d_log_variance) const;

 private:
  /// Where layer i's numbers begin in the vector of weights.
  struct Place {
    Index weight = 0;
    Index bias = 0;
    Index inputs = 0;
    Index outputs = 0;
  };
  void layer_of_weights(const Place& place, Room::Layer& layer, Room& room) const;
  void layer_of_pre_activations(const Place& place, Room::Layer& layer, Room& room) const;
  void back_through_weights(const Place& place, Room::Layer& layer, Room& room) const;
  void back_through_pre_activations(const Place& place, Room::Layer& layer, Room& room) const;

  std::vector<Index> sizes_;
  Sampling sampling_ = Sampling::pre_activations;
  WeightLayout layout_;
  std::vector<Place> places_;
  std::vector<double> mean_;
  std::vector<double> variance_;
  std::vector<double> deviation_;
  // Matrices transposed, in their places: inputs x outputs.
  std::vector<double> mean_by_input_;
  std::vector<double> variance_by_input_;
};

}  // namespace surefoot::algorithms
