#include "surefoot/runs/solve_cone.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/problems/matrix.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::runs {

problems::Table solve_cone(const algorithms::Scs& op, const problems::ConeProgram& problem,
                           const SolveOptions& options) {
  constexpr double accuracy = 1e-6;
  problems::Table solutions = solve(op, options);
  RunOptions none;
  none.steps = 0;
  none.interrupt = options.interrupt;
  const std::vector<Trace> traces =
      run_traces(op, {quantity(algorithms::Quantity::dual_residual)}, given_start(solutions), none);
  const problems::Table& residuals = traces.front().values;
  for (Index i = 0; i < solutions.rows(); ++i) {
    const double* c = problems::table_row(problem.c, i);
    double scale = 0;
    for (Index j = 0; j < problem.variables(); ++j) scale = std::max(scale, std::abs(c[j]));
    // Where c = 0 there is nothing to compare with: the residual of SCS decides.
    const bool solved = scale == 0.0 || residuals(i, 0) <= accuracy * scale;
    require(solved,
            "instance {}: no accurate solution was found: |Px + A'y + c| is {} where the largest |c| is {}; "
            "scale the problem",
            i, residuals(i, 0), scale);
  }
  return solutions;
}

}  // namespace surefoot::runs
