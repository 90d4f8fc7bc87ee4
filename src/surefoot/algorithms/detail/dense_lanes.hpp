#pragma once

#include "surefoot/algorithms/detail/lanes.hpp"
#include "surefoot/core/types.hpp"

namespace surefoot::algorithms {

/// R rows of a product with eight lanes: y_r = sum_k M(r, k) x_k; x_k lies at x + k * x_stride, y_r at
/// y + r * y_stride, row r of M at M + r * M_stride. Columns > 0: known when compiled.
template <int R, int Columns = 0>
[[gnu::always_inline]] inline void multiply_rows(const double* M, Index M_stride, Index columns,
                                                 const double* x, Index x_stride, double* y, Index y_stride) {
  Lanes<8> sum[R];
  for (int r = 0; r < R; ++r) sum[r] = Lanes<8>(0.0);
  const auto column = [&](Index k) __attribute__((always_inline)) {
    const Lanes<8> value = Lanes<8>::load(x + k * x_stride);
    for (int r = 0; r < R; ++r) sum[r].add_product(Lanes<8>(M[r * M_stride + k]), value);
  };
  if constexpr (Columns > 0) {
#pragma GCC unroll 16
    for (int k = 0; k < Columns; ++k) column(k);
  } else {
    for (Index k = 0; k < columns; ++k) column(k);
  }
  for (int r = 0; r < R; ++r) sum[r].store(y + r * y_stride);
}

/// y = M x for a pencil of eight lanes, M rows x columns, row-major; five rows at a time keep the registers
/// full. Columns may be a compile-time constant (Columns > 0) for small matrices.
template <int Columns = 0>
[[gnu::always_inline]] inline void multiply_pencil(const double* M, Index rows, Index columns,
                                                   const double* x, Index x_stride, double* y,
                                                   Index y_stride) {
  const Index inner = Columns > 0 ? Columns : columns;
  Index row = 0;
  for (; row + 5 <= rows && rows - row != 6; row += 5) {
    multiply_rows<5, Columns>(M + row * inner, inner, inner, x, x_stride, y + row * y_stride, y_stride);
  }
  for (; row + 4 <= rows; row += 4) {
    multiply_rows<4, Columns>(M + row * inner, inner, inner, x, x_stride, y + row * y_stride, y_stride);
  }
  const double* rest = M + row * inner;
  double* target = y + row * y_stride;
  if (rows - row == 3) multiply_rows<3, Columns>(rest, inner, inner, x, x_stride, target, y_stride);
  if (rows - row == 2) multiply_rows<2, Columns>(rest, inner, inner, x, x_stride, target, y_stride);
  if (rows - row == 1) multiply_rows<1, Columns>(rest, inner, inner, x, x_stride, target, y_stride);
}

/// y = M x: M is rows x columns, row-major; x is columns x width and y rows x width, width a multiple of 8.
/// y must not overlap x.
void multiply(const double* M, Index rows, Index columns, const double* x, double* y, Index width);
/// The same for a lower or upper triangular M (size x size, zeros stored): only the triangle is read.
void multiply_lower(const double* M, Index size, const double* x, double* y, Index width);
void multiply_upper(const double* M, Index size, const double* x, double* y, Index width);
/// D(i, j) += sum over lanes of y(i, lane) x(lane, j): D is rows x columns, y rows x width; x has a row per
/// lane.
void add_outer_products(const double* y, Index rows, const double* x, Index columns, Index width, double* D);
/// to (columns x rows) = from' (rows x columns), both row-major.
void transpose(const double* from, Index rows, Index columns, double* to);

}  // namespace surefoot::algorithms
