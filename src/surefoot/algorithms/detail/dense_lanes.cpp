#include "surefoot/algorithms/detail/dense_lanes.hpp"

#include <algorithm>

namespace surefoot::algorithms {

namespace {

constexpr Index panel = 5;  // rows of M that stay in the first cache while the groups of lanes pass

/// W lanes, as many as two registers of the machine hold where there are so many.
template <int W>
void multiply_lanes(const double* rows, Index stride, Index count, Index columns, const double* x, double* y,
                    Index width) {
  switch (count) {
    case 5:
      return multiply_rows<5, 0, W>(rows, stride, columns, x, width, y, width);
    case 4:
      return multiply_rows<4, 0, W>(rows, stride, columns, x, width, y, width);
    case 3:
      return multiply_rows<3, 0, W>(rows, stride, columns, x, width, y, width);
    case 2:
      return multiply_rows<2, 0, W>(rows, stride, columns, x, width, y, width);
    default:
      return multiply_rows<1, 0, W>(rows, stride, columns, x, width, y, width);
  }
}

/// Rows row .. row + count - 1, columns begin .. end - 1 of a matrix with rows of length `stride`.
void multiply_panel(const double* M, Index stride, Index row, Index count, Index begin, Index end,
                    const double* x, double* y, Index width) {
  constexpr int most = 16 / Lanes<8>::parts;
  const double* rows = M + row * stride + begin;
  x += begin * width;
  y += row * width;
  Index lane = 0;
  for (; lane + most <= width; lane += most)
    multiply_lanes<most>(rows, stride, count, end - begin, x + lane, y + lane, width);
  for (; lane < width; lane += 8)
    multiply_lanes<8>(rows, stride, count, end - begin, x + lane, y + lane, width);
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

namespace {

/// R rows of D, 4 * Parts columns of them.
template <int R, int Parts>
[[gnu::always_inline]] inline void add_outer_block(const double* y, const double* x, Index columns,
                                                   Index width, double* D) {
  Lanes<4 * Parts> sum[R];
  for (int r = 0; r < R; ++r) sum[r] = Lanes<4 * Parts>::load(D + r * columns);
  for (Index lane = 0; lane < width; ++lane) {
    const Lanes<4 * Parts> value = Lanes<4 * Parts>::load(x + lane * columns);
    for (int r = 0; r < R; ++r) sum[r].add_product(Lanes<4 * Parts>(y[r * width + lane]), value);
  }
  for (int r = 0; r < R; ++r) sum[r].store(D + r * columns);
}

template <int R>
void add_outer_rows(const double* y, const double* x, Index columns, Index width, double* D) {
  Index column = 0;
  for (; column + 8 <= columns; column += 8) add_outer_block<R, 2>(y, x + column, columns, width, D + column);
  for (; column + 4 <= columns; column += 4) add_outer_block<R, 1>(y, x + column, columns, width, D + column);
  for (; column < columns; ++column) {
    for (int r = 0; r < R; ++r) {
      for (Index lane = 0; lane < width; ++lane)
        D[r * columns + column] += y[r * width + lane] * x[lane * columns + column];
    }
  }
}

}  // namespace

void add_outer_products(const double* y, Index rows, const double* x, Index columns, Index width, double* D) {
  Index row = 0;
  for (; row + 4 <= rows; row += 4) add_outer_rows<4>(y + row * width, x, columns, width, D + row * columns);
  for (; row < rows; ++row) add_outer_rows<1>(y + row * width, x, columns, width, D + row * columns);
}

void transpose(const double* from, Index rows, Index columns, double* to) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
}

}  // namespace surefoot::algorithms
