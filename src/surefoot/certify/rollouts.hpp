#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/problems/matrix.hpp"

#include <string>
#include <vector>

namespace surefoot::certify {

/// A closed loop under several iteration limits: a row per rollout (runs/rollout_values.hpp), a column per
/// limit. Limits take the place of steps: success rates at every limit, and the smallest limit with a
/// guarantee, by tests from the largest limit down (method every-step of iteration budgets), for which the
/// limits must be declared before the rollouts are seen.
///
/// A number that is infinite or NaN fails under its own limit alone: a run that has failed at a step has
/// failed at later ones, and another limit is another run. It is counted as the largest double, which no
/// tolerance reaches, so that quantiles, which would state that number, are not claimed. The rest of
/// `options` is the user's: tolerances, shares (quantiles), delta, metric, title.
Certificate certify_rollouts(const problems::Table& values, const std::vector<Index>& limits, Options options,
                             Variant variant);

}  // namespace surefoot::certify
