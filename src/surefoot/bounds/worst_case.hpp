#pragma once

#include "surefoot/core/types.hpp"

#include <optional>

namespace surefoot::bounds {

/// Worst-case bounds on the fixed-point residual ||z^{k+1} - z^k||, with dist0 >= ||z^0 - z*||, both in the
/// norm and the variables in which the operator contracts or is averaged. They are facts only if dist0 (and
/// beta) are: an estimated dist0 makes an estimate, to be labelled so. Row k of a trace is ||z^k - z^{k-1}||:
/// ask for k - 1.

/// beta-linearly convergent operator, 0 <= beta < 1: (1 + beta) beta^k dist0, by the triangle inequality and
/// attained by z -> -beta z. The paper's 2 beta^k dist0 is looser.
double linear_rate_residual(double beta, Index k, double dist0);

/// alpha-averaged operator T = (1 - alpha) I + alpha N, N nonexpansive. F. Lieder, "Projection Based Methods
/// for Conic Linear Programming", 2018, bounds ||z^k - N z^k||; a step moves by alpha times it:
///   alpha dist0 sqrt( (k/(k+1))^k / ((k+1) alpha (1-alpha)) )   for 1/2 <= alpha <= (1 + sqrt(k/(k+1)))/2,
///   2 alpha (2 alpha - 1)^k dist0                               above it.
/// Attained by a rotation N of the plane with |1 - e^{i angle}|^2 = 1/((k+1) alpha (1-alpha)), and by N = -I.
/// For alpha < 1/2 the bound of alpha = 1/2, since T is 1/2-averaged too. The paper lacks the factor alpha
/// and prints (1/2)(2 alpha - 1)^k for the second case, which N = -I exceeds.
double averaged_rate_residual(double alpha, Index k, double dist0);

/// The number of step applications after which row k of a trace (||z^k - z^{k-1}||) is surely below the
/// tolerance.
std::optional<Index> linear_rate_steps(double beta, double dist0, double tolerance);
std::optional<Index> averaged_rate_steps(double alpha, double dist0, double tolerance);

/// The paper's estimate of dist0: 1.1 times the largest norm of a solution. An estimate.
double estimated_initial_distance(double largest_solution_norm);

}  // namespace surefoot::bounds
