#pragma once

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

namespace surefoot::test {

inline constexpr Index certificates = 100'000;

/// How many of the certificates are false; each draws from a stream of its own.
inline Index count_false(const char* purpose, const std::function<bool(RandomStream&)>& is_false,
                         Index total = certificates) {
  constexpr Index blocks = 100;
  std::atomic<Index> found{0};
  parallel_blocks(blocks, [&](Index block) {
    for (Index i = block; i < total; i += blocks) {
      RandomStream random(2024, purpose, static_cast<std::uint64_t>(i));
      if (is_false(random)) ++found;
    }
  });
  return found;
}

/// One-sided binomial test at 1e-6: the share of false certificates is consistent with at most delta.
inline void expect_at_most(Index false_certificates, double delta, Index total = certificates) {
  EXPECT_GE(bounds::binomial_tail_upper(false_certificates, total, delta), 1e-6)
      << false_certificates << " of " << total << " are false, delta is " << delta;
}

inline void expect_not_absurdly_below(Index false_certificates, double delta, Index total = certificates) {
  EXPECT_GT(static_cast<double>(false_certificates), 0.4 * delta * static_cast<double>(total));
}

}  // namespace surefoot::test
