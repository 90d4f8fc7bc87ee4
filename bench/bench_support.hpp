#pragma once

#include <ctime>

namespace bench {

/// Processor seconds of all threads so far.
inline double processor() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace bench
