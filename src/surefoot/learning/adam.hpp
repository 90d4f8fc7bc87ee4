#pragma once

#include "surefoot/core/types.hpp"

#include <span>
#include <vector>

namespace surefoot::learning {

/// Adam: m <- b1 m + (1-b1) g, v <- b2 v + (1-b2) g^2, x <- x - rate m^ / (sqrt(v^) + eps), m^ and v^ without
/// the bias of the start. D. Kingma and J. Ba, ICLR 2015. Moments are single precision: they only scale a
/// step.
class Adam {
 public:
  static constexpr double b1 = 0.9;
  static constexpr double b2 = 0.999;
  static constexpr double epsilon = 1e-8;

  Adam() = default;
  explicit Adam(Index size)
      : first(static_cast<std::size_t>(size), 0.0F), second(static_cast<std::size_t>(size), 0.0F) {}
  /// Step number `count` = 1, 2, ... of entries begin .. end-1 of x, with g = factor * gradient, whose
  /// numbers are those of these entries; entries are independent of each other.
  void update(Index count, double rate, Index begin, Index end, const double* gradient, double* x,
              double factor = 1);

  std::vector<float> first;
  std::vector<float> second;
};

}  // namespace surefoot::learning
