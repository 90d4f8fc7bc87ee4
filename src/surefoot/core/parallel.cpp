#include "surefoot/core/parallel.hpp"

#include "surefoot/core/error.hpp"

#include <omp.h>

namespace surefoot {

namespace {
int chosen_threads = 0;
}

int threads() {
  return chosen_threads > 0 ? chosen_threads : omp_get_max_threads();
}

void set_threads(int n) {
  require(n >= 0 && n <= 4096, "threads: {} is outside 0 .. 4096", n);
  chosen_threads = n;
}

}  // namespace surefoot
