#include "surefoot/runs/solve_qp.hpp"

#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/runs/run.hpp"

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace surefoot::runs {

using problems::Matrix;
using problems::Qp;
using problems::SparseMatrix;
using problems::Table;
using problems::table_row;
using problems::Vector;

void QpSolveOptions::validate() const {
  require(tolerance > 0, "tolerance: is {}, must be > 0", tolerance);
  require(steps >= 1, "steps: is {}, must be >= 1", steps);
  require(rounds >= 1 && rounds <= 30, "rounds: is {}, must be in 1 .. 30", rounds);
  require(corrections >= 1, "corrections: is {}, must be >= 1", corrections);
}

double qp_error(const Qp& problem, Index instance, const Vector& x, const Vector& y) {
  const double* q = table_row(problem.q, instance);
  const double* l = table_row(problem.l, instance);
  const double* u = table_row(problem.u, instance);
  const SparseMatrix& A = problem.A_of(instance);
  const Vector curvature = problem.P_of(instance) * x;
  const Vector multipliers = A.transpose() * y;
  const Vector product = A * x;
  // Gradients and rows have scales of their own: those of the numbers that cancel there.
  double gradient_scale = 0;
  double gradient_error = 0;
  for (Index i = 0; i < curvature.size(); ++i) {
    gradient_error = std::max(gradient_error, std::abs(curvature[i] + multipliers[i] + q[i]));
    gradient_scale =
        std::max({gradient_scale, std::abs(q[i]), std::abs(curvature[i]), std::abs(multipliers[i])});
  }
  double row_scale = 0;
  for (Index i = 0; i < product.size(); ++i) {
    row_scale = std::max(row_scale, std::abs(product[i]));
    for (const double bound : {l[i], u[i]})
      if (std::isfinite(bound)) row_scale = std::max(row_scale, std::abs(bound));
  }
  const auto relative = [](double error, double scale) { return error > 0.0 ? error / scale : 0.0; };
  double error = relative(gradient_error, gradient_scale);
  for (Index i = 0; i < product.size(); ++i) {
    const auto slack = [&](double distance) { return relative(distance, row_scale); };
    error = std::max({error, slack(l[i] - product[i]), slack(product[i] - u[i])});
    const double size = relative(std::abs(y[i]), gradient_scale);
    if (y[i] > 0) error = std::max(error, std::min(size, slack(u[i] - product[i])));
    if (y[i] < 0) error = std::max(error, std::min(size, slack(product[i] - l[i])));
  }
  // std::max passes over NaN, so every number that went into it is looked at.
  const bool finite = curvature.allFinite() && multipliers.allFinite() && product.allFinite() &&
                      x.allFinite() && y.allFinite();
  return finite && std::isfinite(error) ? error : infinity;
}

namespace {

enum class Active : char { none, lower, upper };

bool is_identity(const SparseMatrix& A) {
  if (A.rows() != A.cols() || A.nonZeros() != A.rows()) return false;
  for (Index i = 0; i < A.rows(); ++i) {
    if (A.coeff(i, i) != 1.0) return false;
  }
  return true;
}

/// What every instance of a thread's share can use.
struct Instance {
  const SparseMatrix& P;
  const SparseMatrix& A;
  const Matrix* dense_P;  // for box constraints; may be null
  Eigen::Map<const Vector> q;
  Eigen::Map<const Vector> l;
  Eigen::Map<const Vector> u;
};

/// Box constraints: the free variables' system alone.
bool solve_active_box(const Instance& instance, const std::vector<Active>& active, Vector& x, Vector& y) {
  const Matrix& P = *instance.dense_P;
  const Index n = P.rows();
  std::vector<Index> free;
  x = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    if (active[i] == Active::none) {
      free.push_back(i);
    } else {
      x[i] = active[i] == Active::lower ? instance.l[i] : instance.u[i];
    }
  }
  const Vector rhs = -(instance.q + instance.P * x);
  const auto size = static_cast<Index>(free.size());
  if (size > 0) {
    const Matrix system = P(free, free);
    const Eigen::LLT<Matrix> cholesky(system);
    if (cholesky.info() != Eigen::Success) return false;
    const Vector right = rhs(free);
    Vector solution = cholesky.solve(right);
    solution += cholesky.solve(right - system * solution);
    for (Index i = 0; i < size; ++i) x[free[i]] = solution[i];
  }
  y = -(instance.P * x + instance.q);
  for (const Index i : free) y[i] = 0;
  return true;
}

/// Any constraints: [P A_J'; A_J 0], factored with a small regularisation that refinement removes. Refinement
/// begins at the (x, y) that comes in, so that where the solution is not unique a near one is found.
bool solve_active_rows(const Instance& instance, const std::vector<Active>& active, Vector& x, Vector& y) {
  const Index n = instance.P.rows();
  const Index m = instance.A.rows();
  std::vector<int> place(static_cast<std::size_t>(m), -1);
  std::vector<Index> rows;
  for (Index i = 0; i < m; ++i) {
    if (active[i] == Active::none) continue;
    place[i] = static_cast<int>(rows.size());
    rows.push_back(i);
  }
  const auto count = static_cast<Index>(rows.size());
  std::vector<Eigen::Triplet<double, int>> entries;
  for (Index column = 0; column < n; ++column) {
    for (SparseMatrix::InnerIterator entry(instance.P, column); entry; ++entry) {
      entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(column), entry.value());
    }
    for (SparseMatrix::InnerIterator entry(instance.A, column); entry; ++entry) {
      if (place[entry.row()] < 0) continue;
      const int row = static_cast<int>(n) + place[entry.row()];
      entries.emplace_back(row, static_cast<int>(column), entry.value());
      entries.emplace_back(static_cast<int>(column), row, entry.value());
    }
  }
  SparseMatrix exact(n + count, n + count);
  exact.setFromTriplets(entries.begin(), entries.end());
  const double regularisation = 1e-8;
  for (int i = 0; i < static_cast<int>(n + count); ++i) {
    entries.emplace_back(i, i, i < n ? regularisation : -regularisation);
  }
  SparseMatrix regular(n + count, n + count);
  regular.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<SparseMatrix> factor(regular);
  if (factor.info() != Eigen::Success) return false;
  Vector rhs(n + count);
  rhs.head(n) = -instance.q;
  for (Index i = 0; i < count; ++i) {
    rhs[n + i] = active[rows[i]] == Active::lower ? instance.l[rows[i]] : instance.u[rows[i]];
  }
  Vector solution(n + count);
  solution.head(n) = x;
  for (Index i = 0; i < count; ++i) solution[n + i] = y[rows[i]];
  double previous = infinity;
  for (int refinement = 0; refinement < 50; ++refinement) {
    const Vector residual = rhs - exact * solution;
    const double size = residual.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(size) || size >= 0.5 * previous) break;
    previous = size;
    solution += factor.solve(residual);
  }
  if (!solution.allFinite()) return false;
  x = solution.head(n);
  y = Vector::Zero(m);
  for (Index i = 0; i < count; ++i) y[rows[i]] = solution[n + i];
  return true;
}

/// Corrects the active set from an approximate (x, y, w); true with an accurate (x, y).
bool correct(const Qp& problem, Index index, const Instance& instance, const double* iterate,
             const QpSolveOptions& options, Vector& x, Vector& y) {
  const Index n = instance.P.rows();
  const Index m = instance.A.rows();
  std::vector<Active> active(static_cast<std::size_t>(m), Active::none);
  for (Index i = 0; i < m; ++i) {
    const double multiplier = iterate[n + i];
    const double value = iterate[n + m + i];
    if (instance.l[i] == instance.u[i] || value - instance.l[i] < -multiplier) {
      active[i] = Active::lower;
    } else if (instance.u[i] - value < multiplier) {
      active[i] = Active::upper;
    }
  }
  const Vector x_near = Eigen::Map<const Vector>(iterate, n);
  const Vector y_near = Eigen::Map<const Vector>(iterate + n, m);
  for (Index correction = 0; correction < options.corrections; ++correction) {
    x = x_near;
    y = y_near;
    const bool solved = instance.dense_P != nullptr ? solve_active_box(instance, active, x, y)
                                                    : solve_active_rows(instance, active, x, y);
    if (!solved) return false;
    const Vector product = instance.A * x;
    bool changed = false;
    for (Index i = 0; i < m; ++i) {
      if (instance.l[i] == instance.u[i]) continue;
      Active next = active[i];
      if (active[i] == Active::lower && y[i] > 0) next = Active::none;
      if (active[i] == Active::upper && y[i] < 0) next = Active::none;
      if (active[i] == Active::none && product[i] < instance.l[i]) next = Active::lower;
      if (active[i] == Active::none && product[i] > instance.u[i]) next = Active::upper;
      changed = changed || next != active[i];
      active[i] = next;
    }
    if (!changed || qp_error(problem, index, x, y) <= 1e-3 * options.tolerance) break;
  }
  return qp_error(problem, index, x, y) <= options.tolerance;
}

}  // namespace

Table solve_qp(const Qp& problem, const QpSolveOptions& options) {
  options.validate();
  problem.validate();
  const Index n = problem.variables();
  const Index m = problem.constraints();
  const Index count = problem.instances();
  const bool box = problem.A.size() == 1 && problem.P.size() == 1 && is_identity(problem.A[0]);
  const Matrix dense = box ? Matrix(problem.P[0]) : Matrix();
  algorithms::OsqpOptions osqp_options = algorithms::OsqpOptions::fixed();
  if (box) {
    osqp_options.scaling = 0;
    osqp_options.equality_factor = 1;
    osqp_options.loose_rho = 0;
    osqp_options.rho = std::clamp(0.5 * dense.diagonal().mean(), 1e-6, 1e6);
  }
  const algorithms::Osqp osqp(problem, osqp_options);
  Table solutions = Table::Zero(count, n + 2 * m);
  Table iterates = Table::Zero(count, n + 2 * m);
  std::vector<char> done(static_cast<std::size_t>(count), 0);
  Index left = count;
  const Part own = ranks().own_part(count);
  for (Index round = 0; round < options.rounds && left > 0; ++round) {
    RunOptions run_options;
    run_options.steps = options.steps << round;
    run_options.interrupt = options.interrupt;
    iterates = run_iterates(osqp, given_start(iterates), run_options);
    parallel_blocks(own.count, [&](Index place) {
      const Index i = own.first + place;
      if (done[i] != 0) return;
      if (options.interrupt) options.interrupt();
      const Instance instance{problem.P_of(i),
                              problem.A_of(i),
                              box ? &dense : nullptr,
                              Eigen::Map<const Vector>(table_row(problem.q, i), n),
                              Eigen::Map<const Vector>(table_row(problem.l, i), m),
                              Eigen::Map<const Vector>(table_row(problem.u, i), m)};
      Vector x;
      Vector y;
      if (!correct(problem, i, instance, iterates.data() + i * iterates.cols(), options, x, y)) return;
      Eigen::Map<Vector> row(solutions.data() + i * solutions.cols(), n + 2 * m);
      row.head(n) = x;
      row.segment(n, m) = y;
      row.tail(m) = (instance.A * x).cwiseMax(instance.l).cwiseMin(instance.u);
      done[i] = 1;
    });
    share_rows(solutions, own);
    Index first = 0;
    for (const std::string& part :
         ranks().all_gather({done.data() + own.first, static_cast<std::size_t>(own.count)})) {
      std::copy(part.begin(), part.end(), done.begin() + first);
      first += static_cast<Index>(part.size());
    }
    left = std::count(done.begin(), done.end(), 0);
  }
  const auto missing = std::find(done.begin(), done.end(), 0);
  require(missing == done.end(), "instance {}: no solution of accuracy {} found ({} of {} instances)",
          missing - done.begin(), options.tolerance, left, count);
  return solutions;
}

}  // namespace surefoot::runs
