#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/runs/metric.hpp"

#include <functional>
#include <string>
#include <vector>

namespace surefoot::runs {

/// Metrics that users call by name: residual, primal, dual, violation, gap, distance, nmse.
const std::vector<std::string>& metric_names();

/// The metric of that name on the operator. `solve` gives accurate solutions, an iterate per instance; it is
/// called for gap, distance and nmse only, which compare the primal variables with theirs. InputError lists
/// the known names.
Metric named_metric(const std::string& name, const algorithms::Operator& op,
                    const std::function<problems::Table()>& solve);

}  // namespace surefoot::runs
