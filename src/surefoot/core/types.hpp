#pragma once

#include <cstdint>
#include <limits>

namespace surefoot {

/// Counts of samples, steps, rows; signed, so that differences are safe.
using Index = std::int64_t;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace surefoot
