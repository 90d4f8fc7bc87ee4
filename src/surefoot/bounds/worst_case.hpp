#pragma once

#include "surefoot/core/types.hpp"

#include <optional>

namespace surefoot::bounds {

/// Worst-case bounds on the fixed-point residual ||z^{k+1} - z^k||, with dist0 >= ||z^0 - z*||. They are
/// facts only if dist0 (and beta) are: an estimated dist0 makes an estimate, to be labelled so.

/// beta-linearly convergent operator: 2 beta^k dist0; 0 <= beta < 1.
double linear_rate_residual(double beta, Index k, double dist0);

/// alpha-averaged operator, after F. Lieder, "Projection Based Methods for Conic Linear Programming", 2018:
///   dist0 * sqrt( (k/(k+1))^k / ((k+1) alpha (1-alpha)) )   for 1/2 <= alpha <= (1 + sqrt(k/(k+1)))/2,
///   dist0 * 2 alpha (2 alpha - 1)^k                         above it.
/// The paper prints (1/2)(2 alpha - 1)^k for the second case, which is false: T = (1-alpha) I - alpha I, the
/// reflection averaged, has residual exactly 2 alpha (2 alpha - 1)^k dist0.
double averaged_rate_residual(double alpha, Index k, double dist0);

/// The number of step applications after which row k of a trace (||z^k - z^{k-1}||) is surely below the
/// tolerance.
std::optional<Index> linear_rate_steps(double beta, double dist0, double tolerance);
std::optional<Index> averaged_rate_steps(double alpha, double dist0, double tolerance);

/// The paper's estimate of dist0: 1.1 times the largest norm of a solution. An estimate.
double estimated_initial_distance(double largest_solution_norm);

}  // namespace surefoot::bounds
