#pragma once

#include "surefoot/algorithms/detail/vectors.hpp"
#include "surefoot/core/types.hpp"

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace surefoot::algorithms {

/// c + a b and c - a b with one rounding where the machine can, the same in every lane: whether a compiler
/// contracts is up to the lane, the loop and its mood. larger() and smaller() give b where a is NaN;
/// compilers do not make one instruction of a comparison and a choice.
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
[[gnu::always_inline]] inline Vec4 larger(Vec4 a, Vec4 b) {
#ifdef __AVX__
  return _mm256_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}
[[gnu::always_inline]] inline Vec4 smaller(Vec4 a, Vec4 b) {
#ifdef __AVX__
  return _mm256_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}
[[gnu::always_inline]] inline Vec4 square_root(Vec4 a) {
#ifdef __AVX__
  return _mm256_sqrt_pd(a);
#else
  for (int j = 0; j < 4; ++j) a[j] = __builtin_sqrt(a[j]);
  return a;
#endif
}
#ifdef __AVX512F__
// With a mask of all lanes: without one GCC 12 takes its own headers for uninitialized.
[[gnu::always_inline]] inline Vec8 plus_product(Vec8 c, Vec8 a, Vec8 b) {
  return _mm512_fmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline Vec8 minus_product(Vec8 c, Vec8 a, Vec8 b) {
  return _mm512_fnmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline Vec8 larger(Vec8 a, Vec8 b) {
  return _mm512_maskz_max_pd(0xff, a, b);
}
[[gnu::always_inline]] inline Vec8 smaller(Vec8 a, Vec8 b) {
  return _mm512_maskz_min_pd(0xff, a, b);
}
[[gnu::always_inline]] inline Vec8 square_root(Vec8 a) {
  return _mm512_maskz_sqrt_pd(0xff, a);
}
#endif

/// W numbers side by side, one per instance of a block: every operation is lane by lane, so an instance's
/// numbers never depend on its neighbours, nor on the length of a register.
template <int W>
struct Lanes {
  static_assert(W % 4 == 0 && W > 0);
#ifdef __AVX512F__
  static constexpr int length = W % 8 == 0 ? 8 : 4;
#else
  static constexpr int length = 4;
#endif
  static constexpr int parts = W / length;
  using Part = typename SimdVector<double, length>::V;
  Part part[parts];

  Lanes() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is the same in all lanes
  [[gnu::always_inline]] Lanes(double value) {
    for (int i = 0; i < parts; ++i) part[i] = value - Part{};  // that is, value
  }
  [[gnu::always_inline]] static Lanes load(const double* from) {
    Lanes lanes;
    for (int i = 0; i < parts; ++i) lanes.part[i] = load_vector<length>(from + length * i);
    return lanes;
  }
  [[gnu::always_inline]] void store(double* to) const {
    for (int i = 0; i < parts; ++i) store_vector<length>(to + length * i, part[i]);
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
  double operator[](int lane) const {
    return part[lane / length][lane % length];
  }
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
  for (int i = 0; i < Lanes<W>::parts; ++i) result.part[i] = larger(a.part[i], b.part[i]);
  return result;
}
template <int W>
[[gnu::always_inline]] inline Lanes<W> min(const Lanes<W>& a, const Lanes<W>& b) {
  Lanes<W> result;
  for (int i = 0; i < Lanes<W>::parts; ++i) result.part[i] = smaller(a.part[i], b.part[i]);
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
  for (int i = 0; i < Lanes<W>::parts; ++i) result.part[i] = square_root(a.part[i]);
  return result;
}

}  // namespace surefoot::algorithms
