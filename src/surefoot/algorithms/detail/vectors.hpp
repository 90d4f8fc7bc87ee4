#pragma once

#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/// The vector types of all kernels (GCC and Clang vector extension): lanes.hpp, registers.hpp and code_lanes
/// build on them.
namespace surefoot::algorithms {

/// `Count` numbers that the compiler keeps in vector registers (V), and the same anywhere in memory (Place).
/// Places by hand, as typedefs: clang drops `aligned` from a using and from types that depend on T.
template <class T, int Count>
struct SimdVector {
  typedef T V __attribute__((vector_size(Count * sizeof(T))));
};
template <>
struct SimdVector<float, 4> {
  typedef float V __attribute__((vector_size(16)));
  typedef float Place __attribute__((vector_size(16), aligned(4), may_alias));
};
template <>
struct SimdVector<float, 8> {
  typedef float V __attribute__((vector_size(32)));
  typedef float Place __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct SimdVector<float, 16> {
  typedef float V __attribute__((vector_size(64)));
  typedef float Place __attribute__((vector_size(64), aligned(4), may_alias));
};
template <>
struct SimdVector<double, 4> {
  typedef double V __attribute__((vector_size(32)));
  typedef double Place __attribute__((vector_size(32), aligned(8), may_alias));
};
template <>
struct SimdVector<double, 8> {
  typedef double V __attribute__((vector_size(64)));
  typedef double Place __attribute__((vector_size(64), aligned(8), may_alias));
};

template <int Count, class T>
[[gnu::always_inline]] inline typename SimdVector<T, Count>::V load_vector(const T* numbers) {
  return *reinterpret_cast<const typename SimdVector<T, Count>::Place*>(numbers);
}
template <int Count, class T>
[[gnu::always_inline]] inline void store_vector(T* numbers, const typename SimdVector<T, Count>::V& value) {
  *reinterpret_cast<typename SimdVector<T, Count>::Place*>(numbers) = value;
}

using Vec4 = SimdVector<double, 4>::V;
using Vec8 = SimdVector<double, 8>::V;
typedef std::int64_t Bits4 __attribute__((vector_size(32)));

}  // namespace surefoot::algorithms
