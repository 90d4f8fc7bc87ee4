#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace surefoot::testing {

/// Calls of malloc, calloc, realloc and aligned_alloc in this program so far; stays 0 under sanitizers, which
/// have an allocator of their own.
inline std::atomic<long> allocations{0};

}  // namespace surefoot::testing

#if defined(__GLIBC__) && !defined(SUREFOOT_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

__attribute__((weak)) void* malloc(std::size_t size) {
  ++surefoot::testing::allocations;
  return __libc_malloc(size);
}
__attribute__((weak)) void* calloc(std::size_t count, std::size_t size) {
  ++surefoot::testing::allocations;
  return __libc_calloc(count, size);
}
__attribute__((weak)) void* realloc(void* place, std::size_t size) {
  ++surefoot::testing::allocations;
  return __libc_realloc(place, size);
}
__attribute__((weak)) void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++surefoot::testing::allocations;
  return __libc_memalign(alignment, size);
}
}
#endif
