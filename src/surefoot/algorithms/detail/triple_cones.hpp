#pragma once

#include "surefoot/problems/cone_program.hpp"

#include <array>

namespace surefoot::algorithms {

using Triple = std::array<double, 3>;

/// The projection of (x, y, z) on the exponential cone, the closure of {y > 0, y exp(x/y) <= z}: a root in
/// one variable (H. Friberg, "Projection onto the exponential cone: a univariate root-finding problem",
/// Optimization Methods and Software 38, 2023), with the shortcuts and tolerances of the SCS package (3.3).
/// NaN gives NaN.
Triple project_exponential(const Triple& v);
/// On its dual.
Triple project_dual_exponential(const Triple& v);
/// On {x, y >= 0, x^a y^(1-a) >= |z|}, or for -a on the dual of that: Newton's method to 1e-9, as SCS has it
/// (L. Hien, "Differential properties of Euclidean projection onto power cone", Math. Methods of OR 82,
/// 2015).
Triple project_power(const Triple& v, double exponent);

/// The cone of three rows with this number, in the order of problems::Cones.
Triple project_triple(const problems::Cones& cones, Index number, const Triple& v);
/// Its dual: v + Pi_K(-v).
Triple project_dual_triple(const problems::Cones& cones, Index number, const Triple& v);

}  // namespace surefoot::algorithms
