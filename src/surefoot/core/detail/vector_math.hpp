#pragma once

#include "surefoot/core/types.hpp"

#include <cstdint>
#include <string_view>

namespace surefoot {

/// x_i <- exp(x_i), vectorised, to a few ulps; the same bits whatever the number's neighbours.
void exponentials(double* x, Index count);

/// Names a run of normals inside the stream (seed, purpose, index): part 0, 1, ... never overlap each other
/// or what RandomStream draws.
struct NormalStream {
  std::uint64_t seed = 0;
  std::uint64_t purpose = 0;  ///< purpose_key(...)
  std::uint64_t index = 0;
  std::uint64_t part = 0;
};

/// `count` standard normals, vectorised Box and Muller on Philox counters: 53 random bits each in double, 24
/// in single precision.
void fill_normals(const NormalStream& stream, double* out, Index count);
void fill_normals(const NormalStream& stream, float* out, Index count);

}  // namespace surefoot
