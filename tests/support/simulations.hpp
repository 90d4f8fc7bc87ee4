#pragma once

#include <cstdint>

namespace test_support {

/// How many of `wanted` simulations to run: all, or a tenth under the sanitizers, where they take ten times
/// as long and are run for memory errors; what they say is judged by the release build.
constexpr std::int64_t simulations(std::int64_t wanted) {
#ifdef __SANITIZE_ADDRESS__
  return wanted / 10;
#else
  return wanted;
#endif
}

}  // namespace test_support
