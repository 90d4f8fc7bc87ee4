#pragma once

#include "surefoot/core/types.hpp"

#include <atomic>
#include <exception>
#include <mutex>

namespace surefoot {

/// Number of threads that parallel loops use: set_threads(n), or OMP_NUM_THREADS, or the cores.
int threads();

/// n >= 1 sets it, 0 restores the default.
void set_threads(int n);

/// Calls body(block) for block = 0 .. blocks-1 on several threads, in no fixed order. The body must write
/// only what belongs to its block: then results do not depend on the number of threads. The first exception
/// is thrown again in the caller; blocks not yet begun are then skipped.
template <class Body>
void parallel_blocks(Index blocks, Body&& body) {
  std::exception_ptr failure;
  std::mutex failure_mutex;
  std::atomic<bool> failed{false};
  const int team = static_cast<int>(blocks < threads() ? (blocks > 0 ? blocks : 1) : threads());
#pragma omp parallel for schedule(dynamic, 1) num_threads(team) if (team > 1)
  for (Index block = 0; block < blocks; ++block) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      body(block);
    } catch (...) {
      const std::scoped_lock lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      failed.store(true, std::memory_order_relaxed);
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace surefoot
