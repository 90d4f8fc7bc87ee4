#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/runs/metric.hpp"

#include <functional>
#include <string>
#include <vector>

namespace surefoot::runs {

/// What runs of a user's family measure, and how long, unless asked otherwise: the program's and the
/// package's defaults.
inline constexpr const char* usual_metric = "residual";
inline constexpr Index usual_iterations = 500;

/// Metrics that users call by name: residual, primal, dual, optimality, violation, gap, distance, nmse; and,
/// of OSQP, what its package reports: prim_res, dual_res, duality_gap, these over their tolerances (_rel),
/// and unsolved.
const std::vector<std::string>& metric_names();
/// Whether it compares with accurate solutions: gap, distance and nmse do.
bool needs_solutions(const std::string& metric_name);

/// The metric of that name on the operator. `solve` gives accurate solutions, an iterate per instance; it is
/// called only for those that need them. InputError lists the known names.
Metric named_metric(const std::string& name, const algorithms::Operator& op,
                    const std::function<problems::Table()>& solve);

}  // namespace surefoot::runs
