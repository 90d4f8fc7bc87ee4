#pragma once

#include "surefoot/core/types.hpp"

#include <Eigen/Core>

#include <vector>

namespace surefoot::algorithms {

/// Numbers in lane layout, aligned for vector loads.
using Buffer = std::vector<double, Eigen::aligned_allocator<double>>;

/// A buffer of rows x width zeros.
inline Buffer make_buffer(Index rows, Index width) {
  return Buffer(static_cast<std::size_t>(rows * width), 0.0);
}

}  // namespace surefoot::algorithms
