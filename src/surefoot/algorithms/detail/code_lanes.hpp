#pragma once

#include "surefoot/algorithms/detail/lane_weights.hpp"
#include "surefoot/algorithms/detail/lanes.hpp"
#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/core/detail/vector_math.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

// Products with sparse codes. Iterates of the learned soft-thresholding networks, and the adjoints behind
// their thresholds, have about a tenth of their entries nonzero; each lane has its own. A product is then a
// sum of few columns. T is float (training) or double (certification); states of batches are double always.

namespace surefoot::algorithms {

/// Lanes of the learned soft-thresholding networks.
inline constexpr int code_lanes = 32;

/// A matrix whose columns are summed: each is contiguous; the stride keeps columns off each other's cache
/// sets.
template <class T>
class Columns {
 public:
  static constexpr Index panel = 256 / static_cast<Index>(sizeof(T));  // eight vector registers
  Columns() = default;
  Columns(Index rows, Index cols)
      : rows_(rows),
        cols_(cols),
        stride_((rows + panel - 1) / panel * panel + 64 / static_cast<Index>(sizeof(T))),
        data_(static_cast<std::size_t>(stride_ * cols + panel), T(0)) {}
  /// Of any Eigen matrix.
  template <class Matrix>
  explicit Columns(const Eigen::MatrixBase<Matrix>& matrix) : Columns(matrix.rows(), matrix.cols()) {
    for (Index j = 0; j < cols_; ++j) {
      for (Index i = 0; i < rows_; ++i) column(j)[i] = static_cast<T>(matrix(i, j));
    }
  }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index stride() const { return stride_; }
  [[nodiscard]] Index panels() const { return (rows_ + panel - 1) / panel; }
  T* column(Index j) { return data_.data() + j * stride_; }
  [[nodiscard]] const T* column(Index j) const { return data_.data() + j * stride_; }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Index stride_ = 0;
  AlignedVector<T> data_;
};

/// The nonzero entries of a batch of n x code_lanes in two orders: row by row, entry t = begin(i) .. end(i)-1
/// of row i standing in lane(t); and in blocks of rows lane by lane.
template <class T>
class Nonzeros {
 public:
  static constexpr Index block_rows = 64;  // parts of so many columns fit the nearest cache

  Nonzeros() = default;
  explicit Nonzeros(Index n)
      : n_(n),
        blocks_((n + block_rows - 1) / block_rows),
        begin_(static_cast<std::size_t>(n + 1), 0),
        lane_(static_cast<std::size_t>(n * code_lanes)),
        value_(static_cast<std::size_t>(n * code_lanes)),
        counts_(static_cast<std::size_t>(blocks_ * code_lanes), 0),
        block_row_(static_cast<std::size_t>(blocks_ * block_rows * code_lanes)),
        block_value_(block_row_.size()) {}
  /// Of a batch in lane layout; NaN is an entry.
  void gather(const double* z) {
    std::int32_t at = 0;
    std::fill(counts_.begin(), counts_.end(), 0);
    for (Index i = 0; i < n_; ++i) {
      begin_[i] = at;
      const double* row = z + i * code_lanes;
#ifdef __AVX__
      std::uint32_t mask = 0;  // of all lanes: one loop, one surprise for the branch predictor
      for (int part = 0; part < code_lanes; part += 4) {
        const __m256d values = _mm256_loadu_pd(row + part);
        mask |= static_cast<std::uint32_t>(
                    _mm256_movemask_pd(_mm256_cmp_pd(values, _mm256_setzero_pd(), _CMP_NEQ_UQ)))
                << part;
      }
      for (; mask != 0; mask &= mask - 1) append(at++, i, __builtin_ctz(mask), row);
#else
      for (int lane = 0; lane < code_lanes; ++lane) {
        if (row[lane] != 0) append(at++, i, lane, row);
      }
#endif
    }
    begin_[n_] = at;
  }
  [[nodiscard]] Index rows() const {
    return n_;
  }
  [[nodiscard]] Index count() const {
    return begin_[n_];
  }
  [[nodiscard]] Index begin(Index row) const {
    return begin_[row];
  }
  [[nodiscard]] Index end(Index row) const {
    return begin_[row + 1];
  }
  [[nodiscard]] int lane(Index t) const {
    return lane_[t];
  }
  [[nodiscard]] T value(Index t) const {
    return value_[t];
  }
  [[nodiscard]] Index blocks() const {
    return blocks_;
  }
  /// Entries of a lane within a block, ascending: how many, their rows counted from the block's first, their
  /// values.
  struct InBlock {
    Index count;
    const std::uint8_t* row;
    const T* value;
  };
  [[nodiscard]] InBlock in_block(Index block, int lane) const {
    const Index list = block * code_lanes + lane;
    return {counts_[list], block_row_.data() + list * block_rows, block_value_.data() + list * block_rows};
  }
  /// Every value by its square.
  void square() {
    for (Index t = 0; t < count(); ++t) value_[t] *= value_[t];
    for (Index list = 0; list < blocks_ * code_lanes; ++list) {
      T* values = block_value_.data() + list * block_rows;
      for (Index t = 0; t < counts_[list]; ++t) values[t] *= values[t];
    }
  }

 private:
  void append(Index at, Index row, int lane, const double* values) {
    const T value = static_cast<T>(values[lane]);
    lane_[at] = static_cast<std::uint8_t>(lane);
    value_[at] = value;
    const Index list = row / block_rows * code_lanes + lane;
    const Index place = list * block_rows + counts_[list]++;
    block_row_[place] = static_cast<std::uint8_t>(row % block_rows);
    block_value_[place] = value;
  }
  Index n_ = 0;
  Index blocks_ = 0;
  std::vector<std::int32_t> begin_{0};
  std::vector<std::uint8_t> lane_;
  AlignedVector<T> value_;
  std::vector<std::int32_t> counts_;     // per block and lane
  std::vector<std::uint8_t> block_row_;  // block_rows places for each of them
  AlignedVector<T> block_value_;
};

/// y = M x, or M x - shift, in lane layout, M.rows() x code_lanes. A part of M is read once for all lanes.
template <class T>
void multiply_nonzeros(const Columns<T>& M, const Nonzeros<T>& x, T* y, const T* shift = nullptr);

/// y = A x in lane layout: row i of A (rows x cols) begins at A + i * stride; x is cols x code_lanes.
template <class T>
void multiply_dense(const T* A, Index rows, Index cols, Index stride, const T* x, T* y);

/// For every nonzero c of x, in row i and some lane: row i of A (`cols` numbers from A + i * stride on) += c
/// * v of that lane, v lane-major (cols per lane).
template <class T>
void add_outer_products(const Nonzeros<T>& x, const T* v, Index cols, T* A, Index stride);

/// Lane layout (rows x code_lanes) from lane-major numbers (code_lanes x rows) and back.
template <class T>
void to_lanes(const T* lane_major, Index rows, T* lanes);
/// Lane layout of `count` samples of `rows` numbers each; unused lanes get zeros, for which products do
/// nothing.
template <class Source, class T>
void load_lanes(const Source* samples, Index count, Index rows, T* lanes) {
  for (Index i = 0; i < rows; ++i) {
    T* row = lanes + i * code_lanes;
    for (Index lane = 0; lane < count; ++lane) row[lane] = static_cast<T>(samples[lane * rows + i]);
    std::fill(row + count, row + code_lanes, T(0));
  }
}
template <class Source, class T>
void to_lane_major(const Source* lanes, Index rows, T* lane_major) {
  constexpr Index tile = 16;
  for (Index first = 0; first < rows; first += tile) {
    for (int lane = 0; lane < code_lanes; ++lane) {
      for (Index i = first; i < std::min(rows, first + tile); ++i)
        lane_major[lane * rows + i] = static_cast<T>(lanes[i * code_lanes + lane]);
    }
  }
}

/// after = soft(before - gamma g, psi), in one place or two, with gamma and psi of each lane; residual, if
/// wanted: the lanes' ||change||.
template <class T>
void shrink(ConstBatch before, Batch after, const T* g, const double* gamma, const double* psi,
            double* residual);

/// Backwards through shrink() but for the product: with u = z - gamma g, the cotangent is kept where |u| >
/// psi and 0 elsewhere; d_gamma -= cotangent'g and d_psi -= cotangent'sign(u) in each lane.
template <class T>
void shrink_vjp(ConstBatch z, const T* g, const double* gamma, const double* psi, Batch cotangent,
                double* d_gamma, double* d_psi);

/// sign(u) max(|u| - t, 0); NaN stays NaN. A negative t, which a drawn weight may be, lets u grow.
[[gnu::always_inline]] inline double soft(double u, double t) {
  const double size = std::abs(u) - t;
  return std::copysign(size <= 0 ? 0.0 : size, u);
}

/// Four lanes at a time.
namespace in_lanes {

[[gnu::always_inline]] inline Vec4 four(const double* place) {
  return load_vector<4>(place);
}
[[gnu::always_inline]] inline Vec4 four(const float* place) {
  return __builtin_convertvector(load_vector<4>(place), Vec4);
}
[[gnu::always_inline]] inline void put(double* place, const Vec4& value) {
  store_vector<4>(place, value);
}
[[gnu::always_inline]] inline Bits4 sign_of(const Vec4& u) {
  return reinterpret_cast<Bits4>(u) & (Bits4{} + std::numeric_limits<std::int64_t>::min());
}
[[gnu::always_inline]] inline Vec4 size_of(const Vec4& u) {
  return reinterpret_cast<Vec4>(reinterpret_cast<Bits4>(u) &
                                (Bits4{} + std::numeric_limits<std::int64_t>::max()));
}
/// value with the sign bits flipped where `sign` has them.
[[gnu::always_inline]] inline Vec4 signed_by(const Bits4& sign, const Vec4& value) {
  return reinterpret_cast<Vec4>(sign ^ reinterpret_cast<Bits4>(value));
}
/// soft() below.
[[gnu::always_inline]] inline Vec4 shrunk(const Vec4& u, const Vec4& threshold) {
  const Vec4 size = size_of(u) - threshold;
  return signed_by(sign_of(u), size <= 0 ? Vec4{} : size);
}

}  // namespace in_lanes

}  // namespace surefoot::algorithms
