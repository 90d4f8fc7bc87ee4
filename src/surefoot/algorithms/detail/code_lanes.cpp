#include "surefoot/algorithms/detail/code_lanes.hpp"

namespace surefoot::algorithms {

namespace {

constexpr int bytes_at_once = 32;
template <class T>
inline constexpr int at_once = bytes_at_once / static_cast<int>(sizeof(T));
template <class T>
using Several = typename SimdVector<T, at_once<T>>::V;

constexpr int registers = 8;

template <class T>
[[gnu::always_inline]] inline Several<T> read(const T* place) {
  return load_vector<at_once<T>>(place);
}
template <class T>
[[gnu::always_inline]] inline void write(T* place, const Several<T>& value) {
  store_vector<at_once<T>>(place, value);
}

// A square of one register's width: row i of `out` is column i of `in`.
[[gnu::always_inline]] inline void transpose_square(const float* in, Index in_stride, float* out,
                                                    Index out_stride) {
  Several<float> r[8];
  Several<float> s[8];
  for (int i = 0; i < 8; ++i) r[i] = read(in + i * in_stride);
  for (int i = 0; i < 8; i += 2) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      r[i + 2 * j] = __builtin_shufflevector(s[i + j], s[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      r[i + 2 * j + 1] = __builtin_shufflevector(s[i + j], s[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    write(out + i * out_stride, __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    write(out + (i + 4) * out_stride, __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
}
[[gnu::always_inline]] inline void transpose_square(const double* in, Index in_stride, double* out,
                                                    Index out_stride) {
  Several<double> r[4];
  Several<double> s[4];
  for (int i = 0; i < 4; ++i) r[i] = read(in + i * in_stride);
  for (int i = 0; i < 4; i += 2) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 4, 2, 6);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 5, 3, 7);
  }
  for (int i = 0; i < 2; ++i) {
    write(out + i * out_stride, __builtin_shufflevector(s[i], s[i + 2], 0, 1, 4, 5));
    write(out + (i + 2) * out_stride, __builtin_shufflevector(s[i], s[i + 2], 2, 3, 6, 7));
  }
}

// Lane layout of `rows` numbers per lane, those of a lane contiguous and `stride` from the next lane's.
template <class T>
[[gnu::always_inline]] inline void transpose_to_lanes(const T* lane_major, Index stride, Index rows,
                                                      T* lanes) {
  constexpr Index width = at_once<T>;
  Index i = 0;
  for (; i + width <= rows; i += width) {
    for (Index lane = 0; lane < code_lanes; lane += width)
      transpose_square(lane_major + lane * stride + i, stride, lanes + i * code_lanes + lane, code_lanes);
  }
  for (; i < rows; ++i) {
    for (Index lane = 0; lane < code_lanes; ++lane)
      lanes[i * code_lanes + lane] = lane_major[lane * stride + i];
  }
}

}  // namespace

template <class T>
void multiply_nonzeros(const Columns<T>& M, const Nonzeros<T>& x, T* y, const T* shift) {
  constexpr Index panel = Columns<T>::panel;
  constexpr Index width = panel / registers;
  alignas(64) T sums[code_lanes * panel];
  for (Index p = 0; p < M.panels(); ++p) {
    for (Index block = 0; block < x.blocks(); ++block) {
      const T* columns = M.column(block * Nonzeros<T>::block_rows) + p * panel;
      for (int lane = 0; lane < code_lanes; ++lane) {
        const typename Nonzeros<T>::InBlock entries = x.in_block(block, lane);
        T* own = sums + lane * panel;
        Several<T> sum[registers];
        for (int r = 0; r < registers; ++r) sum[r] = block == 0 ? Several<T>{} : read(own + r * width);
        for (Index t = 0; t < entries.count; ++t) {
          const T* column = columns + entries.row[t] * M.stride();
          const Several<T> factor = entries.value[t] - Several<T>{};
          for (int r = 0; r < registers; ++r) sum[r] += factor * read(column + r * width);
        }
        for (int r = 0; r < registers; ++r) write(own + r * width, sum[r]);
      }
    }
    const Index rows = std::min(panel, M.rows() - p * panel);
    T* out = y + p * panel * code_lanes;
    transpose_to_lanes(sums, panel, rows, out);
    if (shift == nullptr) continue;
    const T* own = shift + p * panel * code_lanes;
    for (Index i = 0; i < rows * code_lanes; ++i) out[i] -= own[i];
  }
}

namespace {

// R rows of a dense product, four registers of lanes at a time.
template <int R, class T>
[[gnu::always_inline]] inline void dense_rows(const T* A, Index cols, Index stride, const T* x, T* y) {
  constexpr int wide = 4;
  constexpr Index width = at_once<T>;
  for (Index lane = 0; lane < code_lanes; lane += wide * width) {
    Several<T> sum[R][wide] = {};
    for (Index k = 0; k < cols; ++k) {
      Several<T> value[wide];
      for (int v = 0; v < wide; ++v) value[v] = read(x + k * code_lanes + lane + v * width);
      for (int r = 0; r < R; ++r) {
        const Several<T> factor = A[r * stride + k] - Several<T>{};
        for (int v = 0; v < wide; ++v) sum[r][v] += factor * value[v];
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < wide; ++v) write(y + r * code_lanes + lane + v * width, sum[r][v]);
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
      Several<T> sum[registers];
      for (int r = 0; r < registers; ++r) sum[r] = read(row + r * width);
      for (Index t = x.begin(i); t < end; ++t) {
        const T* own = v + x.lane(t) * cols + first;
        const Several<T> factor = x.value(t) - Several<T>{};
        for (int r = 0; r < registers; ++r) sum[r] += factor * read(own + r * width);
      }
      for (int r = 0; r < registers; ++r) write(row + r * width, sum[r]);
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
  transpose_to_lanes(lane_major, rows, rows, lanes);
}

namespace {

template <bool Residual, class T>
void shrink_rows(ConstBatch from, Batch to, const T* g, const double* gamma, const double* psi,
                 double* squares) {
  using namespace in_lanes;
  for (Index i = 0; i < from.rows; ++i) {
    const double* entry = from.row(i);
    double* target = to.row(i);
    const T* own = g + i * code_lanes;
    for (int lane = 0; lane < code_lanes; lane += 4) {
      const Vec4 before = four(entry + lane);
      const Vec4 u = before - four(gamma + lane) * four(own + lane);
      const Vec4 next = shrunk(u, four(psi + lane));
      put(target + lane, next);
      if constexpr (Residual) put(squares + lane, four(squares + lane) + (next - before) * (next - before));
    }
  }
}

}  // namespace

template <class T>
void shrink(ConstBatch before, Batch after, const T* g, const double* gamma, const double* psi,
            double* residual) {
  if (residual == nullptr) return shrink_rows<false>(before, after, g, gamma, psi, residual);
  alignas(32) double squares[code_lanes] = {};
  shrink_rows<true>(before, after, g, gamma, psi, squares);
  for (int lane = 0; lane < code_lanes; ++lane) residual[lane] = std::sqrt(squares[lane]);
}

template <class T>
void shrink_vjp(ConstBatch z, const T* g, const double* gamma, const double* psi, Batch cotangent,
                double* d_gamma, double* d_psi) {
  using namespace in_lanes;
  alignas(32) double by_gamma[code_lanes] = {};
  alignas(32) double by_psi[code_lanes] = {};
  for (Index i = 0; i < z.rows; ++i) {
    const double* entry = z.row(i);
    double* c = cotangent.row(i);
    const T* own = g + i * code_lanes;
    for (int lane = 0; lane < code_lanes; lane += 4) {
      const Vec4 gradient = four(own + lane);
      const Vec4 u = four(entry + lane) - four(gamma + lane) * gradient;
      const Vec4 kept = size_of(u) > four(psi + lane) ? four(c + lane) : Vec4{};
      put(c + lane, kept);
      // A run that diverged has no cotangent, and its gradient does not count.
      put(by_gamma + lane, four(by_gamma + lane) + (kept == 0 ? Vec4{} : kept * gradient));
      put(by_psi + lane, four(by_psi + lane) + signed_by(sign_of(u), kept));
    }
  }
  for (int lane = 0; lane < code_lanes; ++lane) {
    d_gamma[lane] -= by_gamma[lane];
    d_psi[lane] -= by_psi[lane];
  }
}

template void shrink(ConstBatch, Batch, const float*, const double*, const double*, double*);
template void shrink(ConstBatch, Batch, const double*, const double*, const double*, double*);
template void shrink_vjp(ConstBatch, const float*, const double*, const double*, Batch, double*, double*);
template void shrink_vjp(ConstBatch, const double*, const double*, const double*, Batch, double*, double*);
template void multiply_nonzeros(const Columns<float>&, const Nonzeros<float>&, float*, const float*);
template void multiply_nonzeros(const Columns<double>&, const Nonzeros<double>&, double*, const double*);
template void add_outer_products(const Nonzeros<float>&, const float*, Index, float*, Index);
template void add_outer_products(const Nonzeros<double>&, const double*, Index, double*, Index);
template void multiply_dense(const float*, Index, Index, Index, const float*, float*);
template void to_lanes(const float*, Index, float*);
template void multiply_dense(const double*, Index, Index, Index, const double*, double*);
template void to_lanes(const double*, Index, double*);

}  // namespace surefoot::algorithms
