#pragma once

#include "surefoot/algorithms/detail/lanes.hpp"
#include "surefoot/core/types.hpp"

namespace surefoot::algorithms {

/// R rows of a product with W lanes: y_r = sum_k M(r, k) x_k; x_k lies at x + k * x_stride, y_r at
/// y + r * y_stride, row r of M at M + r * M_stride. Columns > 0: known when compiled.
template <int R, int Columns = 0, int W = 8>
[[gnu::always_inline]] inline void multiply_rows(const double* M, Index M_stride, Index columns,
                                                 const double* x, Index x_stride, double* y, Index y_stride) {
  Lanes<W> sum[R];
  for (int r = 0; r < R; ++r) sum[r] = Lanes<W>(0.0);
  const auto column = [&](Index k) __attribute__((always_inline)) {
    const Lanes<W> value = Lanes<W>::load(x + k * x_stride);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) sum[r].add_product(Lanes<W>(M[r * M_stride + k]), value);
  };
  if constexpr (Columns > 0) {
#pragma GCC unroll 16
    for (int k = 0; k < Columns; ++k) column(k);
  } else {
    for (Index k = 0; k < columns; ++k) column(k);
  }
  for (int r = 0; r < R; ++r) sum[r].store(y + r * y_stride);
}

/// Rows whose sums fill the registers.
inline constexpr int pencil_rows = Lanes<8>::parts == 1 ? 14 : 5;

/// The last rows of multiply_pencil, at most R of them at a time.
template <int R, int Columns>
[[gnu::always_inline]] inline void multiply_last_rows(const double* M, Index rows, Index inner,
                                                      const double* x, Index x_stride, double* y,
                                                      Index y_stride) {
  for (; rows >= R; rows -= R, M += R * inner, y += R * y_stride)
    multiply_rows<R, Columns>(M, inner, inner, x, x_stride, y, y_stride);
  if constexpr (R > 1)
    multiply_last_rows<(R > 7 ? R / 2 : R - 1), Columns>(M, rows, inner, x, x_stride, y, y_stride);
}

/// y = M x for a pencil of eight lanes, M rows x columns, row-major; as many rows at a time as there are
/// registers for. Columns may be a compile-time constant (Columns > 0) for small matrices.
template <int Columns = 0>
[[gnu::always_inline]] inline void multiply_pencil(const double* M, Index rows, Index columns,
                                                   const double* x, Index x_stride, double* y,
                                                   Index y_stride) {
  const Index inner = Columns > 0 ? Columns : columns;
  if constexpr (pencil_rows == 5) {  // 6 as 3 and 3 rather than 5 and 1
    for (; rows >= 5 && rows != 6; rows -= 5, M += 5 * inner, y += 5 * y_stride)
      multiply_rows<5, Columns>(M, inner, inner, x, x_stride, y, y_stride);
    multiply_last_rows<4, Columns>(M, rows, inner, x, x_stride, y, y_stride);
  } else {
    multiply_last_rows<pencil_rows, Columns>(M, rows, inner, x, x_stride, y, y_stride);
  }
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
