#include "surefoot/algorithms/code_lanes.hpp"

#include "surefoot/core/random.hpp"

namespace surefoot::algorithms {

namespace {

// Vector registers of a number type, in registers and anywhere in memory.
template <class T>
struct Vectors;
template <>
struct Vectors<float> {
  using InRegister = float __attribute__((vector_size(32)));
  using InMemory = float __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct Vectors<double> {
  using InRegister = double __attribute__((vector_size(32)));
  using InMemory = double __attribute__((vector_size(32), aligned(8), may_alias));
};
template <class T>
using Register = typename Vectors<T>::InRegister;
template <class T>
using Place = typename Vectors<T>::InMemory;

constexpr int registers = 8;

}  // namespace

template <class T>
void multiply_nonzeros(const Columns<T>& M, const Nonzeros<T>& x, T* y) {
  constexpr Index panel = Columns<T>::panel;
  constexpr Index width = panel / registers;
  alignas(64) T sums[code_lanes * panel];
  for (Index p = 0; p < M.panels(); ++p) {
    std::fill(std::begin(sums), std::end(sums), T(0));
    for (Index j = 0; j < x.rows(); ++j) {
      const Index end = x.end(j);
      if (x.begin(j) == end) continue;
      const T* column = M.column(j) + p * panel;
      Register<T> part[registers];
      for (int r = 0; r < registers; ++r) part[r] = *reinterpret_cast<const Place<T>*>(column + r * width);
      for (Index t = x.begin(j); t < end; ++t) {
        T* sum = sums + x.lane(t) * panel;
        const Register<T> factor = x.value(t) - Register<T>{};
        for (int r = 0; r < registers; ++r) *reinterpret_cast<Place<T>*>(sum + r * width) += factor * part[r];
      }
    }
    const Index rows = std::min(panel, M.rows() - p * panel);
    T* out = y + p * panel * code_lanes;
    for (Index i = 0; i < rows; ++i) {
      for (int lane = 0; lane < code_lanes; ++lane) out[i * code_lanes + lane] = sums[lane * panel + i];
    }
  }
}

namespace {

// R rows of a dense product, four registers of lanes at a time.
template <int R, class T>
[[gnu::always_inline]] inline void dense_rows(const T* A, Index cols, Index stride, const T* x, T* y) {
  constexpr int wide = 4;
  constexpr Index width = 32 / static_cast<Index>(sizeof(T));
  for (Index lane = 0; lane < code_lanes; lane += wide * width) {
    Register<T> sum[R][wide] = {};
    for (Index k = 0; k < cols; ++k) {
      Register<T> value[wide];
      for (int v = 0; v < wide; ++v)
        value[v] = *reinterpret_cast<const Place<T>*>(x + k * code_lanes + lane + v * width);
      for (int r = 0; r < R; ++r) {
        const Register<T> factor = A[r * stride + k] - Register<T>{};
        for (int v = 0; v < wide; ++v) sum[r][v] += factor * value[v];
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < wide; ++v)
        *reinterpret_cast<Place<T>*>(y + r * code_lanes + lane + v * width) = sum[r][v];
    }
  }
}

}  // namespace

template <class T>
void multiply_dense(const T* A, Index rows, Index cols, Index stride, const T* x, T* y) {
  Index i = 0;
  for (; i + 3 <= rows; i += 3) dense_rows<3>(A + i * stride, cols, stride, x, y + i * code_lanes);
  for (; i < rows; ++i) dense_rows<1>(A + i * stride, cols, stride, x, y + i * code_lanes);
}

template <class T>
void add_outer_products(const Nonzeros<T>& x, const T* v, Index cols, T* A, Index stride) {
  constexpr Index panel = Columns<T>::panel;
  constexpr Index width = panel / registers;
  Index first = 0;
  for (; first + panel <= cols; first += panel) {  // this part of v stays in the nearest cache
    for (Index i = 0; i < x.rows(); ++i) {
      const Index end = x.end(i);
      if (x.begin(i) == end) continue;
      T* row = A + i * stride + first;
      Register<T> sum[registers];
      for (int r = 0; r < registers; ++r) sum[r] = *reinterpret_cast<const Place<T>*>(row + r * width);
      for (Index t = x.begin(i); t < end; ++t) {
        const T* own = v + x.lane(t) * cols + first;
        const Register<T> factor = x.value(t) - Register<T>{};
        for (int r = 0; r < registers; ++r)
          sum[r] += factor * *reinterpret_cast<const Place<T>*>(own + r * width);
      }
      for (int r = 0; r < registers; ++r) *reinterpret_cast<Place<T>*>(row + r * width) = sum[r];
    }
  }
  for (Index i = 0; first < cols && i < x.rows(); ++i) {
    for (Index t = x.begin(i); t < x.end(i); ++t) {
      for (Index j = first; j < cols; ++j) A[i * stride + j] += x.value(t) * v[x.lane(t) * cols + j];
    }
  }
}

template <class T>
void to_lanes(const T* lane_major, Index rows, T* lanes) {
  for (Index i = 0; i < rows; ++i) {
    for (int lane = 0; lane < code_lanes; ++lane) lanes[i * code_lanes + lane] = lane_major[lane * rows + i];
  }
}

template void multiply_nonzeros(const Columns<float>&, const Nonzeros<float>&, float*);
template void multiply_nonzeros(const Columns<double>&, const Nonzeros<double>&, double*);
template void add_outer_products(const Nonzeros<float>&, const float*, Index, float*, Index);
template void add_outer_products(const Nonzeros<double>&, const double*, Index, double*, Index);
template void multiply_dense(const float*, Index, Index, Index, const float*, float*);
template void to_lanes(const float*, Index, float*);
template void multiply_dense(const double*, Index, Index, Index, const double*, double*);
template void to_lanes(const double*, Index, double*);

}  // namespace surefoot::algorithms
