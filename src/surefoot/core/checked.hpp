#pragma once

#include "surefoot/core/error.hpp"
#include "surefoot/core/types.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

/// Arithmetic on sizes that come from files, options and callers: dimensions, counts, steps, strides. A size
/// that does not fit is refused before anything is allocated or indexed by it.
namespace surefoot {

/// Steps of a run, layers of a network.
inline constexpr Index most_steps = 100'000'000;
/// Rows or columns of a sparse matrix, whose places are of type int; places of sparse codes too.
inline constexpr Index most_rows = std::numeric_limits<int>::max();

/// Counts and steps of tables and certificates: sums of thousands of them, and small multiples, are an Index.
inline constexpr Index most_counted = 1'000'000'000'000'000;
/// Numbers of an array, so that its bytes are an Index too.
inline constexpr Index most_elements = std::numeric_limits<Index>::max() / 16;

/// a + b; InputError names `what` if it is not an Index.
inline Index checked_sum(std::string_view what, Index a, Index b) {
  Index sum = 0;
  require(!__builtin_add_overflow(a, b, &sum), "{}: {} + {} is out of range", what, a, b);
  return sum;
}

/// a b; InputError names `what` if it is not an Index.
inline Index checked_product(std::string_view what, Index a, Index b) {
  Index product = 0;
  require(!__builtin_mul_overflow(a, b, &product), "{}: {} x {} is out of range", what, a, b);
  return product;
}

/// A number of a list or a file as a whole one; InputError names `what` if it has a fraction, is not finite,
/// or is too large for a double to tell it from its neighbours.
inline Index whole_number_of(std::string_view what, double number) {
  constexpr double largest = 9007199254740992;  // 2^53
  require(std::abs(number) <= largest && number == std::trunc(number), "{}: {} is not a whole number", what,
          number);
  return static_cast<Index>(number);
}

/// How many elements an array of these extents has; none if one is negative, or there are more than
/// most_elements. An array without elements may have any other extents.
template <class Extents>
std::optional<Index> elements_of(const Extents& extents) {
  bool empty = false;
  for (const auto extent : extents) {
    if (std::cmp_less(extent, 0)) return std::nullopt;
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  Index elements = 1;
  for (const auto extent : extents) {
    if (std::cmp_greater(extent, most_elements / elements)) return std::nullopt;
    elements *= static_cast<Index>(extent);
  }
  return elements;
}

/// Whether items first .. first+count-1 are some of 0 .. all-1, whatever the numbers are.
inline bool is_within(Index first, Index count, Index all) {
  return first >= 0 && count >= 0 && first <= all && count <= all - first;
}

}  // namespace surefoot
