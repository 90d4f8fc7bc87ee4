#include "surefoot/algorithms/dense_lanes.hpp"

namespace surefoot::algorithms {

void multiply(const double* M, Index rows, Index columns, const double* x, double* y, Index width) {
  const Index panel = 5;  // rows of M that stay in the first cache while the groups of lanes pass
  for (Index row = 0; row < rows; row += panel) {
    const Index count = rows - row < panel ? rows - row : panel;
    for (Index lane = 0; lane < width; lane += 8) {
      multiply_pencil(M + row * columns, count, columns, x + lane, width, y + row * width + lane, width);
    }
  }
}

}  // namespace surefoot::algorithms
