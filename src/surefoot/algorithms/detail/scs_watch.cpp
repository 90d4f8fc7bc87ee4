#include "surefoot/algorithms/detail/scs_room.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

// What SCS does beside its steps: the stopping test, adaptive scales, and what is measured of a point.
namespace surefoot::algorithms {

namespace {

// Constants of the solver.
constexpr double scale_interval = 100;  // iterations between two changes, at least
constexpr double smallest_scale = 1e-6;
constexpr double largest_scale = 1e6;
constexpr double smallest_factor = 1e-3;
constexpr double largest_factor = 1e3;
constexpr double factor_damping = 0.25;
constexpr double smallest_part = 1e-3;  // of the root mean square that a row's size counts as
constexpr double tiniest_residual = 1e-18;
constexpr double change_threshold = 3.1622776601683795;  // sqrt(10)

bool is_change(double factor) {
  return factor > change_threshold || factor < 1 / change_threshold;
}

}  // namespace

void AdaptiveScs::survey(ConstBatch z, Room& room, ScsSurvey* surveys) const {
  using L = Lanes<W>;
  const double* x = z.row(l_);
  const double* row_units = room.units.data() + (n_ + m_) * W;
  survey_lanes<W, true>(
      *system_, room.own, x, x + n_ * W, z.row(2 * l_), L::load(z.row(2 * l_ - 1)), room.h.data() + n_ * W,
      room.h.data(), [&](Index i) __attribute__((always_inline)) { return L::load(row_units + i * W); },
      [&](Index j) __attribute__((always_inline)) { return L::load(room.column_units.data() + j * W); },
      L::load(room.product_unit.data()), room.Ax.data(), room.gap.data(), room.scratch.data(), surveys);
  for (Index lane = 0; lane < W; ++lane) {
    ScsSurvey& one = surveys[lane];
    one.kappa = std::abs(room.kappa[lane]) * room.product_unit[lane];
    one.b = room.size_b[lane];
    one.c = room.size_c[lane];
    one.A = room.size_A[lane];
    one.smallest = room.product_unit[lane];
  }
}

// In the order of the package: the stopping test, then the scale.
void AdaptiveScs::watch(const Due& due, Batch z, Room& room) const {
  std::array<ScsSurvey, W> surveys;
  survey(z, room, surveys.data());
  for (Index lane = 0; lane < W; ++lane) {
    if (due.ended[lane] || !(due.tests[lane] || due.last[lane])) continue;
    const double k = note(z, steps_note)[lane] - 1;
    if (options_.check_termination && note(z, status_note)[lane] == 0) {
      SolverStatus status = SolverStatus::running;
      if (due.tests[lane]) {
        status = stopping_test(surveys[lane], options_,
                               {note(z, unbounded_note) + lane, note(z, infeasible_note) + lane});
      }
      const bool decided = status != SolverStatus::running;
      if (!decided && due.last[lane]) status = last_status(surveys[lane]);
      if (status != SolverStatus::running) end_lane(lane, status, decided ? k : k + 1, surveys[lane], z);
    }
    if (options_.stop && note(z, status_note)[lane] != 0) continue;
    if (!options_.adaptive_scale || !due.tests[lane]) continue;
    if (!adapt_lane(k, lane, surveys[lane], z, room)) continue;
    // v so that R (v + u - 2 u~) is as before in the rows whose R has changed, then the step from there.
    for (Index i = 0; i < m_; ++i) {
      const double rho = (i < problem_.cones.zero ? options_.zero_factor : 1.0) * note(z, scale_note)[lane] *
                         z.row(2 * l_ + m_ + i)[lane];
      const double u_tilde = room.p[(n_ + i) * W + lane];
      const double u = z.row(l_ + n_ + i)[lane];
      z.row(n_ + i)[lane] = z.row(2 * l_ + i)[lane] * rho + 2 * u_tilde - u + options_.alpha * (u - u_tilde);
    }
  }
}

void AdaptiveScs::end_lane(Index lane, SolverStatus status, double iterations, const ScsSurvey& survey,
                           Batch z) const {
  note(z, status_note)[lane] = static_cast<double>(status);
  note(z, iterations_note)[lane] = iterations;
  note(z, end_scale_note)[lane] = note(z, scale_note)[lane];
  note(z, end_updates_note)[lane] = note(z, updates_note)[lane];
  note(z, primal_note)[lane] = reported(Quantity::prim_res, survey, options_);
  note(z, dual_note)[lane] = reported(Quantity::dual_res, survey, options_);
  note(z, gap_note)[lane] = reported(Quantity::duality_gap, survey, options_);
  note(z, objective_note)[lane] = objective_of(survey);
}

bool AdaptiveScs::adapt_lane(double iteration, Index lane, const ScsSurvey& survey, Batch z,
                             Room& room) const {
  double& scale = note(z, scale_note)[lane];
  double& balance = note(z, balance_note)[lane];
  double& balances = note(z, balances_note)[lane];
  balance += scale_balance(survey);
  balances += 1;
  const double factor = std::sqrt(std::exp(balance / balances));
  if (iteration - note(z, last_update_note)[lane] < scale_interval) return false;
  const double wanted = std::clamp(scale * factor, smallest_scale, largest_scale);
  const bool changes = wanted != scale && is_change(factor);
  const bool by_rows = options_.adaptive_diag_scale && adapt_rows(lane, changes, z, room);
  if (!changes && !by_rows) return false;
  if (changes) scale = wanted;
  note(z, updates_note)[lane] += 1;
  note(z, last_update_note)[lane] = iteration;
  balance = balances = 0;
  note(z, points_note)[lane] = 0;
  note(z, accelerated_note)[lane] = 0;
  return true;
}

/// f_i times the damped ratio of the row's relative residual to their geometric mean, where that is a change
/// or `anyway`.
bool AdaptiveScs::adapt_rows(Index lane, bool anyway, Batch z, Room& room) const {
  const double tau = z.row(2 * l_ - 1)[lane];
  double* ratios = room.ratios.data();
  const auto size_of = [&](Index i) {
    return std::max({std::abs(room.Ax[i * W + lane]), std::abs(z.row(2 * l_ + i)[lane]),
                     std::abs(room.h[(n_ + i) * W + lane]) * tau});
  };
  double squares = 0;
  for (Index i = 0; i < m_; ++i) squares += size_of(i) * size_of(i);
  const double floor =
      std::max(smallest_part * std::sqrt(squares / static_cast<double>(m_)), tiniest_residual);
  // The mean of the logarithms by products of a few, and the extremes: most often nothing is to be changed.
  constexpr Index few = 8;
  double sum = 0;
  double product = 1;
  double least = infinity;
  double most = 0;
  for (Index i = 0; i < m_; ++i) {
    const double residual = std::max(std::abs(room.gap[i * W + lane]), tiniest_residual);
    const double ratio = residual / std::max(size_of(i), floor);
    ratios[i] = ratio;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    product *= ratio;
    if (i % few == few - 1 || i + 1 == m_) {
      sum += std::log(product);
      product = 1;
    }
  }
  const double mean = sum / static_cast<double>(m_);
  const auto step_of = [&](double ratio) { return std::exp(factor_damping * (std::log(ratio) - mean)); };
  if (!anyway && !is_change(step_of(least)) && !is_change(step_of(most))) return false;
  const auto factor_of = [&](Index i) {
    return std::clamp(z.row(2 * l_ + m_ + i)[lane] * step_of(ratios[i]), smallest_factor, largest_factor);
  };
  bool changes = anyway;
  for (Index i = 0; i < m_ && !changes; ++i) changes = is_change(factor_of(i) / z.row(2 * l_ + m_ + i)[lane]);
  if (!changes) return false;
  double* f = z.row(2 * l_ + m_);
  for (Index i = 0; i < m_; ++i) f[i * W + lane] = factor_of(i);
  problem_.cones.each_block([&](Index first, Index rows, Index order) {
    if (order > 1) {
      double* block = room.root.data();
      for (Index i = 0; i < rows; ++i) block[i] = f[(first + i) * W + lane];
      fit_semidefinite_weights(order, smallest_factor, largest_factor, block, block + rows);
      for (Index i = 0; i < rows; ++i) f[(first + i) * W + lane] = block[i];
      return;
    }
    double total = 0;
    for (Index i = 0; i < rows; ++i) total += f[(first + i) * W + lane];
    for (Index i = 0; i < rows; ++i) f[(first + i) * W + lane] = total / static_cast<double>(rows);
  });
  return true;
}

Ending AdaptiveScs::ending(ConstBatch z, Index lane) const {
  require(options_.check_termination, "scs: has no stopping test with these settings");
  const auto noted = [&](Note which) { return note(z, which)[lane]; };
  Ending ending;
  ending.status = static_cast<SolverStatus>(static_cast<int>(noted(status_note)));
  if (ending.status == SolverStatus::running) {
    ending.rho = noted(scale_note);
    ending.rho_updates = static_cast<Index>(noted(updates_note));
    return ending;
  }
  ending.iterations = static_cast<Index>(noted(iterations_note));
  ending.primal_residual = noted(primal_note);
  ending.dual_residual = noted(dual_note);
  ending.duality_gap = noted(gap_note);
  ending.objective = noted(objective_note);
  ending.rho = noted(end_scale_note);
  ending.rho_updates = static_cast<Index>(noted(end_updates_note));
  return ending;
}

bool AdaptiveScs::finished(ConstBatch z, Index count) const {
  if (!options_.stop) return false;
  const double* status = note(z, status_note);
  return std::all_of(status, status + count, [](double value) { return value != 0; });
}

void AdaptiveScs::measure_one(Quantity quantity, ConstBatch z, Room& room, double* value) const {
  using L = Lanes<W>;
  const double* u = z.row(l_);
  const double* s = z.row(2 * l_);
  const L tau = L::load(z.row(2 * l_ - 1));
  const L inverse = L(1.0) / scs_divisor(tau);
  const double* row_units = room.units.data() + (n_ + m_) * W;
  L result(0.0);
  if (quantity == Quantity::dual_residual) {
    for (Index j = 0; j < n_; ++j) {
      L sum = tau * L::load(room.h.data() + j * W);
      add_row_product<W, true>(system_->P(), room.own.P.data(), j, u, sum);
      add_row_product<W, true>(system_->A_transposed(), room.own.A_transposed.data(), j, u + n_ * W, sum);
      sum = sum * L::load(room.column_units.data() + j * W) * inverse;
      result.add_product(sum, sum);
    }
    sqrt(result).store(value);
    return;
  }
  double* rows = room.scratch.data();
  for (Index i = 0; i < m_; ++i) {
    L sum = L(0.0) - tau * L::load(room.h.data() + (n_ + i) * W);
    add_row_product<W, true>(system_->A(), room.own.A.data(), i, u, sum);
    if (quantity == Quantity::primal_residual) sum += L::load(s + i * W);
    sum = sum * L::load(row_units + i * W) * inverse;
    (L(0.0) - sum).store(rows + i * W);
    result.add_product(sum, quantity == Quantity::primal_residual ? sum : L(0.0));  // or carries NaN
  }
  if (quantity == Quantity::primal_residual) {
    sqrt(result).store(value);
  } else {
    cone_violation(problem_.cones, rows, W, room.semidefinite, value);
    (L::load(value) + result).store(value);
  }
}

void AdaptiveScs::measure(Quantity quantity, Index /*k*/, ConstBatch z, Workspace& workspace,
                          double* value) const {
  auto& room = static_cast<Room&>(workspace);
  if (quantity == Quantity::unsolved) {
    const double* status = note(z, status_note);
    for (Index lane = 0; lane < W; ++lane)
      value[lane] = status[lane] == static_cast<double>(SolverStatus::solved) ? 0.0 : 1.0;
    return;
  }
  if (quantity == Quantity::objective || quantity > Quantity::largest_error) {
    std::array<ScsSurvey, W> surveys;
    survey(z, room, surveys.data());
    for (Index lane = 0; lane < W; ++lane) {
      value[lane] = (quantity == Quantity::objective ? objective_of(surveys[lane])
                                                     : reported(quantity, surveys[lane], options_)) +
                    surveys[lane].poison;
    }
    return;
  }
  measure_optimality<W>(
      quantity, [&](Quantity wanted, double* numbers) { measure_one(wanted, z, room, numbers); }, value);
}

}  // namespace surefoot::algorithms
