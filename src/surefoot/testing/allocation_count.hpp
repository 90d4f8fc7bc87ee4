#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace surefoot::testing {

/// Calls of malloc, calloc, realloc and aligned_alloc in this program so far; stays 0 under sanitizers, which
/// have an allocator of their own.
inline std::atomic<long> allocations{0};

}  // namespace surefoot::testing

// Sanitizers have an allocator of their own, which must see every call.
#if defined(SUREFOOT_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    defined(__SANITIZE_HWADDRESS__)
#define SUREFOOT_OTHER_ALLOCATOR
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#define SUREFOOT_OTHER_ALLOCATOR
#endif
#endif

#if defined(__GLIBC__) && !defined(SUREFOOT_OTHER_ALLOCATOR)
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
