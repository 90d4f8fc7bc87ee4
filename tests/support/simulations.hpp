#pragma once

#include <cstdint>

namespace test_support {

#ifdef SUREFOOT_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How many of `wanted` simulations to run: all, or a tenth under the sanitizers, where they take ten times
/// as long and are run for memory errors; what rare events say is judged by the release build.
constexpr std::int64_t simulations(std::int64_t wanted) {
  return sanitized ? wanted / 10 : wanted;
}

}  // namespace test_support
