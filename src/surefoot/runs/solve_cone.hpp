#pragma once

#include "surefoot/algorithms/scs.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/runs/run.hpp"

namespace surefoot::runs {

/// Accurate solutions of all instances by SCS itself (solve()), refused where they are not: the fixed-point
/// residual is absolute and says little of a problem whose numbers are tiny, so at the end |Px + A'y + c|
/// must be at most 1e-6 max |c_j|. Throws InputError naming the first instance that is not solved so well.
problems::Table solve_cone(const algorithms::Scs& op, const problems::ConeProgram& problem,
                           const SolveOptions& options = {});
/// The same by SCS with these settings, but for what it adapts and its stopping test: iterates as they have.
problems::Table solve_cone(const problems::ConeProgram& problem, const algorithms::ScsOptions& settings,
                           const SolveOptions& options = {});

}  // namespace surefoot::runs
