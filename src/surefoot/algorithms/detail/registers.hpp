#pragma once

#include "surefoot/algorithms/detail/vectors.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/// Whole vector registers of float or double, for operators whose lanes are inside an instance; lanes.hpp has
/// those of operators that run instances side by side.
namespace surefoot::algorithms {

#ifdef __AVX512F__
inline constexpr std::size_t register_bytes = 64;
#else
inline constexpr std::size_t register_bytes = 32;
#endif

/// Numbers of one vector register, in memory.
template <class T>
struct Register {
  static constexpr Index lanes = register_bytes / sizeof(T);
  using V = typename SimdVector<T, static_cast<int>(register_bytes / sizeof(T))>::V;
  alignas(register_bytes) T numbers[lanes];
};

template <class T>
[[gnu::always_inline]] inline typename Register<T>::V fetch(const T* numbers) {
  typedef T Place __attribute__((vector_size(register_bytes), may_alias));
  return *reinterpret_cast<const Place*>(numbers);
}
template <class T>
[[gnu::always_inline]] inline void put(T* numbers, typename Register<T>::V value) {
  typedef T Place __attribute__((vector_size(register_bytes), may_alias));
  *reinterpret_cast<Place*>(numbers) = value;
}

/// The larger one, the second if one is NaN. A comparison and a choice is not made one instruction of by
/// compilers.
template <class T>
[[gnu::always_inline]] inline typename Register<T>::V larger(typename Register<T>::V a,
                                                             typename Register<T>::V b) {
#ifdef __AVX512F__
  if constexpr (sizeof(T) == 4) {
    return _mm512_max_ps(a, b);
  } else {
    return _mm512_max_pd(a, b);
  }
#else
  return a > b ? a : b;
#endif
}

/// Rows of numbers, each filled up to whole registers with zeros.
template <class T>
class RegisterRows {
 public:
  RegisterRows() = default;
  RegisterRows(Index rows, Index columns)
      : rows_(rows),
        stride_((columns + Register<T>::lanes - 1) / Register<T>::lanes * Register<T>::lanes),
        room_(static_cast<std::size_t>(rows * stride_ / Register<T>::lanes), Register<T>{}) {}
  [[nodiscard]] T* operator[](Index row) { return reinterpret_cast<T*>(room_.data()) + row * stride_; }
  [[nodiscard]] const T* operator[](Index row) const {
    return reinterpret_cast<const T*>(room_.data()) + row * stride_;
  }
  [[nodiscard]] Index stride() const { return stride_; }
  [[nodiscard]] Index size() const { return rows_ * stride_; }

 private:
  Index rows_ = 0;
  Index stride_ = 0;
  std::vector<Register<T>> room_;
};

/// Eight numbers, anywhere in memory.
template <class T>
struct Eight {
  using V = typename SimdVector<T, 8>::V;
  [[gnu::always_inline]] static V at(const T* numbers) { return load_vector<8>(numbers); }
  [[gnu::always_inline]] static void put(T* numbers, V value) { store_vector<8>(numbers, value); }
};

/// In one instruction where there is one: compilers make two halves of it.
[[gnu::always_inline]] inline Eight<double>::V doubles(Eight<float>::V numbers) {
#ifdef __AVX512F__
  return _mm512_cvtps_pd(numbers);
#else
  return __builtin_convertvector(numbers, Eight<double>::V);
#endif
}
[[gnu::always_inline]] inline Eight<double>::V doubles(Eight<double>::V numbers) {
  return numbers;
}

template <class V, std::size_t... I>
[[gnu::always_inline]] inline auto sum_of_halves(V value, std::index_sequence<I...> /*first half*/) {
  constexpr std::size_t half = sizeof...(I);
  if constexpr (half == 1) {
    return value[0] + value[1];
  } else {
    return sum_of_halves(
        __builtin_shufflevector(value, value, I...) + __builtin_shufflevector(value, value, (I + half)...),
        std::make_index_sequence<half / 2>());
  }
}
template <class T>
[[gnu::always_inline]] inline T sum_of(typename Register<T>::V value) {
  return sum_of_halves(value, std::make_index_sequence<Register<T>::lanes / 2>());
}

/// Sums of the halves of segments of `width` lanes: of those of a, then of those of b.
template <Index width, class V, std::size_t... K>
[[gnu::always_inline]] inline V folded(V a, V b, std::index_sequence<K...> /*lanes*/) {
  constexpr std::size_t half = sizeof...(K) / 2;
  constexpr auto from = [](std::size_t k) {
    const std::size_t within = k % half;
    return (k < half ? 0 : 2 * half) + within / (width / 2) * width + within % (width / 2);
  };
  return __builtin_shufflevector(a, b, from(K)...) + __builtin_shufflevector(a, b, (from(K) + width / 2)...);
}
/// `rows` segments, each with partial sums of a row.
template <class T, Index rows>
[[gnu::always_inline]] inline typename Register<T>::V partial_sums(const T* numbers) {
  constexpr Index lanes = Register<T>::lanes;
  if constexpr (rows == 1) {
    return fetch(numbers);
  } else {
    return folded<2 * lanes / rows>(partial_sums<T, rows / 2>(numbers),
                                    partial_sums<T, rows / 2>(numbers + rows / 2 * lanes),
                                    std::make_index_sequence<lanes>());
  }
}
/// sums_i = that of row i, a register each; rows and sums are filled up to whole registers of rows.
template <class T>
inline void sums_of_rows(const T* numbers, Index rows, T* sums) {
  constexpr Index lanes = Register<T>::lanes;
  for (Index i = 0; i < rows; i += lanes) put(sums + i, partial_sums<T, lanes>(numbers + i * lanes));
}

/// body(G, first) for groups of G registers from the first on that cover all: as many running sums as there
/// are registers for. G is a constant.
template <class Body>
[[gnu::always_inline]] inline void in_groups(Index registers, const Body& body) {
  Index first = 0;
  for (; registers - first >= 5; first += 5) body(std::integral_constant<int, 5>(), first);
  switch (registers - first) {
    case 4:
      return body(std::integral_constant<int, 4>(), first);
    case 3:
      return body(std::integral_constant<int, 3>(), first);
    case 2:
      return body(std::integral_constant<int, 2>(), first);
    case 1:
      return body(std::integral_constant<int, 1>(), first);
    default:
      return;
  }
}

}  // namespace surefoot::algorithms
