#pragma once

#include "surefoot/core/types.hpp"

namespace surefoot::bounds {

/// The smallest n with P(Bin(n, share) >= n - failures) <= delta: n runs of which at most `failures` fail
/// show with confidence 1 - delta that at least `share` succeed, exactly when order_statistic_rank(n, share,
/// delta) is at most n - failures. 0 if max_samples are not enough.
Index samples_needed(Index failures, double share, double delta);

/// The same if one may look at every number of runs: the smallest n with anytime_upper(failures, n, delta) <=
/// 1 - share.
Index samples_needed_looking(Index failures, double share, double delta);

}  // namespace surefoot::bounds
