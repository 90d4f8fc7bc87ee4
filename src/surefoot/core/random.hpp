#pragma once

#include <Random123/philox.h>

#include <cstdint>
#include <string_view>

namespace surefoot {

/// FNV-1a of a purpose's name; part of the key of its random streams.
constexpr std::uint64_t purpose_key(std::string_view purpose) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : purpose) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

/// A counter-based random stream named by (seed, purpose, index): Philox4x64-10 with key (seed, purpose) and
/// counter (draw, index, 0, 0). Streams of different names never overlap (2^64 blocks each), and the stream
/// of sample i is the same whatever the number of threads, processes or samples. J. Salmon et al., "Parallel
/// random numbers: as easy as 1, 2, 3", SC 2011.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
      : key_{{seed, purpose_key(purpose)}}, counter_{{0, index, 0, 0}} {}

  /// 64 random bits.
  std::uint64_t bits() {
    if (used_ == 4) refill();
    return block_[used_++];
  }

  /// Uniform on the open interval (0, 1): the midpoints of 2^53 equal cells.
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }

  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform on {0, ..., count - 1} by rejection, without bias; count >= 1.
  std::uint64_t below(std::uint64_t count);

  /// Standard normal by Box and Muller; two at a time, the second kept.
  double normal();

 private:
  void refill();

  r123::Philox4x64::key_type key_;
  r123::Philox4x64::ctr_type counter_;
  r123::Philox4x64::ctr_type block_{};
  unsigned used_ = 4;
  bool has_spare_ = false;
  double spare_ = 0.0;
};

}  // namespace surefoot
