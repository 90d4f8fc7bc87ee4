#include "surefoot/algorithms/dense_lanes.hpp"

#include <algorithm>

namespace surefoot::algorithms {

namespace {

constexpr Index panel = 5;  // rows of M that stay in the first cache while the groups of lanes pass

/// Rows row .. row + count - 1, columns begin .. end - 1 of a matrix with rows of length `stride`.
void multiply_panel(const double* M, Index stride, Index row, Index count, Index begin, Index end,
                    const double* x, double* y, Index width) {
  const double* rows = M + row * stride + begin;
  for (Index lane = 0; lane < width; lane += 8) {
    const double* from = x + begin * width + lane;
    double* to = y + row * width + lane;
    switch (count) {
      case 5:
        multiply_rows<5>(rows, stride, end - begin, from, width, to, width);
        break;
      case 4:
        multiply_rows<4>(rows, stride, end - begin, from, width, to, width);
        break;
      case 3:
        multiply_rows<3>(rows, stride, end - begin, from, width, to, width);
        break;
      case 2:
        multiply_rows<2>(rows, stride, end - begin, from, width, to, width);
        break;
      default:
        multiply_rows<1>(rows, stride, end - begin, from, width, to, width);
    }
  }
}

}  // namespace

void multiply(const double* M, Index rows, Index columns, const double* x, double* y, Index width) {
  for (Index row = 0; row < rows; row += panel) {
    multiply_panel(M, columns, row, std::min(panel, rows - row), 0, columns, x, y, width);
  }
}

void multiply_lower(const double* M, Index size, const double* x, double* y, Index width) {
  for (Index row = 0; row < size; row += panel) {
    const Index count = std::min(panel, size - row);
    multiply_panel(M, size, row, count, 0, row + count, x, y, width);
  }
}

void multiply_upper(const double* M, Index size, const double* x, double* y, Index width) {
  for (Index row = 0; row < size; row += panel) {
    multiply_panel(M, size, row, std::min(panel, size - row), row, size, x, y, width);
  }
}

}  // namespace surefoot::algorithms
