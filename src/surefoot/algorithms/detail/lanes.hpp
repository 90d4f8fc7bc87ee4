#pragma once

#include "surefoot/algorithms/detail/vectors.hpp"
#include "surefoot/core/types.hpp"

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace surefoot::algorithms {

/// c + a b and c - a b with one rounding where the machine can, the same in every lane: whether a compiler
/// contracts is up to the lane, the loop and its mood.
[[gnu::always_inline]] inline Vec4 plus_product(Vec4 c, Vec4 a, Vec4 b) {
#ifdef __FMA__
  return _mm256_fmadd_pd(a, b, c);
#else
  return c + a * b;
#endif
}
[[gnu::always_inline]] inline Vec4 minus_product(Vec4 c, Vec4 a, Vec4 b) {
#ifdef __FMA__
  return _mm256_fnmadd_pd(a, b, c);
#else
  return c - a * b;
#endif
}

/// W numbers side by side, one per instance of a block: every operation is lane by lane, so an instance's
/// numbers never depend on its neighbours.
template <int W>
struct Lanes {
  static_assert(W % 4 == 0 && W > 0);
  static constexpr int parts = W / 4;
  Vec4 part[parts];

  Lanes() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is the same in all lanes
  [[gnu::always_inline]] Lanes(double value) {
    for (int i = 0; i < parts; ++i) part[i] = Vec4{value, value, value, value};
  }
  [[gnu::always_inline]] static Lanes load(const double* from) {
    Lanes lanes;
    for (int i = 0; i < parts; ++i) lanes.part[i] = load_vector<4>(from + 4 * i);
    return lanes;
  }
  [[gnu::always_inline]] void store(double* to) const {
    for (int i = 0; i < parts; ++i) store_vector<4>(to + 4 * i, part[i]);
  }

  [[gnu::always_inline]] Lanes& operator+=(const Lanes& other) {
    for (int i = 0; i < parts; ++i) part[i] += other.part[i];
    return *this;
  }
  [[gnu::always_inline]] Lanes& operator-=(const Lanes& other) {
    for (int i = 0; i < parts; ++i) part[i] -= other.part[i];
    return *this;
  }
  [[gnu::always_inline]] Lanes& operator*=(const Lanes& other) {
    for (int i = 0; i < parts; ++i) part[i] *= other.part[i];
    return *this;
  }
  /// this += a * b
  [[gnu::always_inline]] void add_product(const Lanes& a, const Lanes& b) {
    for (int i = 0; i < parts; ++i) part[i] = plus_product(part[i], a.part[i], b.part[i]);
  }
  /// this -= a * b
  [[gnu::always_inline]] void subtract_product(const Lanes& a, const Lanes& b) {
    for (int i = 0; i < parts; ++i) part[i] = minus_product(part[i], a.part[i], b.part[i]);
  }
  double operator[](int lane) const { return part[lane / 4][lane % 4]; }
};

template <int W>
[[gnu::always_inline]] inline Lanes<W> operator+(Lanes<W> a, const Lanes<W>& b) {
  return a += b;
}
template <int W>
[[gnu::always_inline]] inline Lanes<W> operator-(Lanes<W> a, const Lanes<W>& b) {
  return a -= b;
}
template <int W>
[[gnu::always_inline]] inline Lanes<W> operator*(Lanes<W> a, const Lanes<W>& b) {
  return a *= b;
}
template <int W>
[[gnu::always_inline]] inline Lanes<W> operator/(Lanes<W> a, const Lanes<W>& b) {
  for (int i = 0; i < Lanes<W>::parts; ++i) a.part[i] /= b.part[i];
  return a;
}
/// Larger of two; the second where the first is NaN, as in min: a running maximum passes over NaN.
template <int W>
[[gnu::always_inline]] inline Lanes<W> max(const Lanes<W>& a, const Lanes<W>& b) {
  Lanes<W> result;
  for (int i = 0; i < Lanes<W>::parts; ++i) result.part[i] = a.part[i] > b.part[i] ? a.part[i] : b.part[i];
  return result;
}
template <int W>
[[gnu::always_inline]] inline Lanes<W> min(const Lanes<W>& a, const Lanes<W>& b) {
  Lanes<W> result;
  for (int i = 0; i < Lanes<W>::parts; ++i) result.part[i] = a.part[i] < b.part[i] ? a.part[i] : b.part[i];
  return result;
}
/// yes where a > b, no elsewhere.
template <int W>
[[gnu::always_inline]] inline Lanes<W> where_greater(const Lanes<W>& a, const Lanes<W>& b,
                                                     const Lanes<W>& yes, const Lanes<W>& no) {
  Lanes<W> result;
  for (int i = 0; i < Lanes<W>::parts; ++i) {
    result.part[i] = a.part[i] > b.part[i] ? yes.part[i] : no.part[i];
  }
  return result;
}
/// Whether any lane is positive.
template <int W>
inline bool any_positive(const Lanes<W>& a) {
  bool any = false;
  for (int lane = 0; lane < W; ++lane) any = any || a[lane] > 0;
  return any;
}
template <int W>
[[gnu::always_inline]] inline Lanes<W> sqrt(const Lanes<W>& a) {
  Lanes<W> result;
  for (int i = 0; i < Lanes<W>::parts; ++i) {
#ifdef __AVX__
    result.part[i] = _mm256_sqrt_pd(a.part[i]);
#else
    for (int j = 0; j < 4; ++j) result.part[i][j] = __builtin_sqrt(a.part[i][j]);
#endif
  }
  return result;
}

}  // namespace surefoot::algorithms
