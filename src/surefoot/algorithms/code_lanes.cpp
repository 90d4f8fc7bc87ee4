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
  alignas(64) T scratch[code_lanes * panel];
  for (Index p = 0; p < M.panels(); ++p) {
    const T* base = M.column(0) + p * panel;
    const Index stride = M.stride();
    const T* ahead = base + (p + 1 < M.panels() ? panel : -p * panel);
    for (int lane = 0; lane < code_lanes; ++lane) {
      // The next panel comes into the cache while this one is used, each lane its share.
      for (Index j = lane * M.cols() / code_lanes; j < (lane + 1) * M.cols() / code_lanes; ++j) {
        for (Index line = 0; line < panel; line += panel / 4)
          __builtin_prefetch(ahead + j * stride + line, 0, 2);
      }
      Register<T> sum[registers] = {};
      const std::int32_t* index = x.index(lane);
      const T* value = x.value(lane);
      const Index count = x.count(lane);
      for (Index t = 0; t < count; ++t) {
        const T* column = base + index[t] * stride;
        const Register<T> factor = value[t] - Register<T>{};
        for (int r = 0; r < registers; ++r)
          sum[r] += factor * *reinterpret_cast<const Place<T>*>(column + r * width);
      }
      for (int r = 0; r < registers; ++r)
        *reinterpret_cast<Place<T>*>(scratch + lane * panel + r * width) = sum[r];
    }
    const Index rows = std::min(panel, M.rows() - p * panel);
    T* out = y + p * panel * code_lanes;
    for (Index i = 0; i < rows; ++i) {
      for (int lane = 0; lane < code_lanes; ++lane) out[i * code_lanes + lane] = scratch[lane * panel + i];
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
void add_sparse_outer_products(const Nonzeros<T>& x, const Nonzeros<T>& y, T* A, Index stride) {
  for (int lane = 0; lane < code_lanes; ++lane) {
    const std::int32_t* column = y.index(lane);
    const T* factor = y.value(lane);
    const Index count = y.count(lane);
    for (Index t = 0; t < x.count(lane); ++t) {
      const T c = x.value(lane)[t];
      T* row = A + x.index(lane)[t] * stride;
      for (Index s = 0; s < count; ++s) row[column[s]] += c * factor[s];
    }
  }
}

template <class T>
void add_outer_products(const Nonzeros<T>& x, const T* v, Index cols, T* A, Index stride) {
  for (int lane = 0; lane < code_lanes; ++lane) {
    const T* own = v + lane * cols;
    for (Index t = 0; t < x.count(lane); ++t) {
      const T c = x.value(lane)[t];
      T* row = A + x.index(lane)[t] * stride;
      for (Index j = 0; j < cols; ++j) row[j] += c * own[j];
    }
  }
}

template <class T>
void to_lanes(const T* lane_major, Index rows, T* lanes) {
  for (Index i = 0; i < rows; ++i) {
    for (int lane = 0; lane < code_lanes; ++lane) lanes[i * code_lanes + lane] = lane_major[lane * rows + i];
  }
}

template <class T>
void to_lane_major(const T* lanes, Index rows, T* lane_major) {
  constexpr Index tile = 16;
  for (Index first = 0; first < rows; first += tile) {
    for (int lane = 0; lane < code_lanes; ++lane) {
      for (Index i = first; i < std::min(rows, first + tile); ++i)
        lane_major[lane * rows + i] = lanes[i * code_lanes + lane];
    }
  }
}

template void multiply_nonzeros(const Columns<float>&, const Nonzeros<float>&, float*);
template void multiply_nonzeros(const Columns<double>&, const Nonzeros<double>&, double*);
template void add_outer_products(const Nonzeros<float>&, const float*, Index, float*, Index);
template void add_outer_products(const Nonzeros<double>&, const double*, Index, double*, Index);
template void multiply_dense(const float*, Index, Index, Index, const float*, float*);
template void add_sparse_outer_products(const Nonzeros<float>&, const Nonzeros<float>&, float*, Index);
template void to_lanes(const float*, Index, float*);
template void multiply_dense(const double*, Index, Index, Index, const double*, double*);
template void add_sparse_outer_products(const Nonzeros<double>&, const Nonzeros<double>&, double*, Index);
template void to_lanes(const double*, Index, double*);
template void to_lane_major(const float*, Index, float*);
template void to_lane_major(const double*, Index, double*);

}  // namespace surefoot::algorithms
