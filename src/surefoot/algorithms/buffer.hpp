#pragma once

#include "surefoot/core/types.hpp"

#include <new>
#include <vector>

namespace surefoot::algorithms {

/// Memory from the beginning of a cache line on: no load of a vector register then touches two lines.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  CacheLineAllocator() = default;
  template <class Other>
  CacheLineAllocator(const CacheLineAllocator<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), line));
  }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, line); }
  template <class Other>
  bool operator==(const CacheLineAllocator<Other>& /*other*/) const {
    return true;
  }
};

/// Numbers in lane layout, aligned for vector loads.
template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;
using Buffer = AlignedVector<double>;

/// A buffer of rows x width zeros.
inline Buffer make_buffer(Index rows, Index width) {
  return Buffer(static_cast<std::size_t>(rows * width), 0.0);
}

}  // namespace surefoot::algorithms
