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
  RunOptions once;  // y is known after a step
  once.steps = 1;
  once.interrupt = options.interrupt;
  const std::vector<Trace> traces =
      run_traces(op, {quantity(algorithms::Quantity::dual_residual)}, given_start(solutions), once);
  const problems::Vector residuals = traces.front().values.rightCols(1);
  for (Index i = 0; i < solutions.rows(); ++i) {
    const double* c = problems::table_row(problem.c, i);
    double scale = 0;
    for (Index j = 0; j < problem.variables(); ++j) scale = std::max(scale, std::abs(c[j]));
    // Where c = 0 there is nothing to compare with: the residual of SCS decides.
    const bool solved = scale == 0.0 || residuals[i] <= accuracy * scale;
    require(solved,
            "instance {}: no accurate solution was found: |Px + A'y + c| is {} where the largest |c| is {}; "
            "scale the problem",
            i, residuals[i], scale);
  }
  return solutions;
}

problems::Table solve_cone(const problems::ConeProgram& problem, const algorithms::ScsOptions& settings,
                           const SolveOptions& options) {
  algorithms::ScsOptions plain = settings;
  plain.normalize = plain.adaptive_scale = plain.check_termination = plain.stop = false;
  plain.acceleration_lookback = 0;
  return solve_cone(algorithms::Scs(problem, plain), problem, options);
}

}  // namespace surefoot::runs
