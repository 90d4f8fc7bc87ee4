#include "surefoot/core/random.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace surefoot {

void RandomStream::refill() {
  block_ = r123::Philox4x64()(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

std::uint64_t RandomStream::below(std::uint64_t count) {
  const std::uint64_t threshold =
      (std::numeric_limits<std::uint64_t>::max() - count + 1) % count;  // 2^64 mod count
  while (true) {
    const unsigned __int128 product = static_cast<unsigned __int128>(bits()) * count;
    if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
  }
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

}  // namespace surefoot
