#pragma once

#include "surefoot/core/types.hpp"

#include <string_view>

namespace surefoot::algorithms {

/// What a solver's own stopping test says of a run. Numbers up to 9 are those of the osqp package; the others
/// are what scs says.
enum class SolverStatus {
  running = 0,
  solved = 1,
  solved_inaccurate = 2,
  primal_infeasible = 3,
  primal_infeasible_inaccurate = 4,
  dual_infeasible = 5,
  dual_infeasible_inaccurate = 6,
  maximum_iterations_reached = 7,
  non_convex = 9,
  infeasible = 11,
  unbounded = 12,
  solved_at_last = 13,
  infeasible_at_last = 14,
  unbounded_at_last = 15,
  failed = 16,
};
inline constexpr int largest_status = static_cast<int>(SolverStatus::failed);
/// As the package writes it: "solved", "primal infeasible".
std::string_view to_string(SolverStatus status);

/// The run of one instance when the stopping test ended it, or the last iteration that is allowed. Numbers
/// are in the problem's own units, norms are the largest entry.
struct Ending {
  SolverStatus status = SolverStatus::running;
  Index iterations = 0;  ///< where it ended; 0: it did not
  double primal_residual = infinity;
  double dual_residual = infinity;
  double duality_gap = infinity;
  double objective = infinity;
  double rho = 0;         ///< of SCS its scale; then, or now
  Index rho_updates = 0;  ///< until then, or now
};

/// Whether the stopping test itself ended the run, exactly: neither the last iteration nor ten times the
/// tolerances.
bool is_decided(SolverStatus status);

}  // namespace surefoot::algorithms
