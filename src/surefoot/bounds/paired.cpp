#include "surefoot/bounds/paired.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/group_average.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <vector>

namespace surefoot::bounds {

namespace {

constexpr Index bets_at_all_sizes = 1024;

void require_counts(const PairedCounts& counts) {
  for (const Index count : {counts.more, counts.less, counts.ties})
    require(count >= 0 && count <= max_samples, "pairs: {} is outside 0 .. {}", count, max_samples);
}

}  // namespace

double sign_test(Index more, Index less) {
  require_counts({more, less, 0});
  if (more == 0) return 1.0;
  return binomial_tail_upper(more, more + less, 0.5);
}

double difference_lower(const PairedCounts& counts, double delta) {
  require_counts(counts);
  std::vector<GroupShare> shares;
  if (counts.more > 0) shares.push_back({0.0, counts.more});
  if (counts.ties > 0) shares.push_back({0.5, counts.ties});
  if (counts.less > 0) shares.push_back({1.0, counts.less});
  const double upper = group_average_betting(shares, delta, bets_at_all_sizes);
  return upper >= 1.0 ? -1.0 : std::max(-1.0, down(1.0 - 2.0 * upper));
}

double difference_upper(const PairedCounts& counts, double delta) {
  return -difference_lower({counts.less, counts.more, counts.ties}, delta);
}

}  // namespace surefoot::bounds
