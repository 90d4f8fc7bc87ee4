#include "surefoot/bounds/sample_size.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>

namespace surefoot::bounds {

namespace {

// enough(n) holds from some n on.
Index fewest(Index failures, double share, double delta, const auto& enough) {
  require(failures >= 0 && failures < max_samples, "failures: {} is outside 0 .. {}", failures,
          max_samples - 1);
  require(share > 0.0 && share < 1.0, "share: {} is outside (0, 1)", share);
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  Index too_few = failures;
  Index found = failures + 1;
  while (!enough(found)) {
    if (found == max_samples) return 0;
    too_few = found;
    found = std::min(2 * found, max_samples);
  }
  while (found - too_few > 1) {
    const Index middle = too_few + (found - too_few) / 2;
    (enough(middle) ? found : too_few) = middle;
  }
  return found;
}

}  // namespace

Index samples_needed(Index failures, double share, double delta) {
  return fewest(failures, share, delta,
                [&](Index n) { return binomial_tail_upper(n - failures, n, share) <= delta; });
}

Index samples_needed_looking(Index failures, double share, double delta) {
  return fewest(failures, share, delta, [&](Index n) { return anytime_covers(failures, n, delta, share); });
}

}  // namespace surefoot::bounds
