#include "surefoot/algorithms/detail/osqp_room.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

// What OSQP does beside its steps: the stopping test and adaptive rho.
namespace surefoot::algorithms {

namespace {

constexpr double dead_zone = 1e-15;
// The kinds of systems that can be factored again in lanes have eight.
constexpr Index watched_lanes = 8;

}  // namespace

/// What happens in which lane after the next step.
struct Osqp::Due {
  std::array<bool, watched_lanes> ended{};  ///< stays as it is
  std::array<bool, watched_lanes> tests{};
  std::array<bool, watched_lanes> adapts{};
  std::array<double, watched_lanes> done{};  ///< steps, with the next
  Index ended_lanes = 0;
  bool any_test = false;
  bool any_change = false;
};

Osqp::Due Osqp::due_after(const double* steps, const double* status) const {
  constexpr Index W = watched_lanes;
  const auto last = static_cast<double>(options_.max_iter);
  const auto check = static_cast<double>(options_.check_termination);
  const auto change = static_cast<double>(options_.rho_interval());
  const auto is_multiple = [](double number, double of) { return number == of * std::floor(number / of); };
  Due due;
  double asked = -1;  // lanes have mostly made the same number of steps
  bool is_test = false;
  bool is_change = false;
  for (Index lane = 0; lane < W; ++lane) {
    const double done = steps[lane] + 1;
    if (!(done == asked)) {
      is_test = done == last || (check > 0 && is_multiple(done, check));
      is_change = options_.adaptive_rho && is_multiple(done, change);
      asked = done;
    }
    const bool ended = options_.stop && status[lane] != 0;
    due.done[lane] = done;
    due.ended[lane] = ended;
    due.tests[lane] = is_test && status[lane] == 0;
    due.adapts[lane] = is_change && !ended;
  }
  for (Index lane = 0; lane < W; ++lane) {
    due.ended_lanes += due.ended[lane] ? 1 : 0;
    due.any_test = due.any_test || due.tests[lane];
    due.any_change = due.any_change || due.adapts[lane];
  }
  return due;
}

// Factors for the rho that the state asks for. Lanes whose rho is as before get the same bits again.
void Osqp::follow_rho(const double* rho, Room& room) const {
  const Index W = width();
  const bool same = std::memcmp(rho, room.rho.data(), static_cast<std::size_t>(W) * sizeof(double)) == 0;
  if (same && !room.is_stale) return;
  std::copy_n(rho, W, room.rho.data());
  room.is_stale = false;
  const bool own = system_->own();
  room.is_varied = !own && std::any_of(rho, rho + W, [&](double value) { return value != first_rho(); });
  if (own || room.is_varied) factor_lanes(rho, room);
}

// Of the rows of each lane, with its rho.
void Osqp::factor_lanes(const double* rho, Room& room) const {
  const Index W = width();
  SplittingSystem::Numbers& numbers = system_->own() ? room.own : room.varied;
  for (Index i = 0; i < m_; ++i) {
    for (Index lane = 0; lane < W; ++lane) {
      const OsqpRow kind = row_kind(room.l[i * W + lane], room.u[i * W + lane]);
      numbers.rho[i * W + lane] = rho_of(kind, rho[lane], options_);
    }
  }
  system_->factor_again(numbers);
}

void Osqp::watched_step(Batch z, Room& room, double* residual) const {
  constexpr Index W = watched_lanes;
  using L = Lanes<W>;
  double* notes = z.row(iterate_size());
  double* held = notes + residual_note * W;
  double* steps = notes + steps_note * W;
  const Due due = due_after(steps, notes + status_note * W);
  if (due.ended_lanes < W) {
    follow_rho(notes + rho_note * W, room);
    if (due.ended_lanes > 0 || due.any_test) std::copy_n(z.data, iterate_size() * W, room.before.data());
    plain_step(z.data, room, room.residual.data());
    for (Index i = 0; due.ended_lanes > 0 && i < iterate_size(); ++i) {
      for (Index lane = 0; lane < W; ++lane) {
        if (due.ended[lane]) z.row(i)[lane] = room.before[i * W + lane];
      }
    }
    // A note that is not a number ends the run as one of the iterate does.
    L seen(0.0);
    for (Index i = 0; i < note_rows; ++i) seen.add_product(L(0.0), L::load(notes + i * W));
    for (Index lane = 0; lane < W; ++lane) {
      held[lane] = (due.ended[lane] ? held[lane] : room.residual[lane]) + seen[static_cast<int>(lane)];
      steps[lane] = due.ended[lane] ? steps[lane] : due.done[lane];
    }
    watch(due, z, room);
  }
  if (residual != nullptr) std::copy_n(held, W, residual);
}

// In the order of the package: the stopping test, then rho.
void Osqp::watch(const Due& due, Batch z, Room& room) const {
  if (!due.any_test && !due.any_change) return;
  const Index W = z.width;
  double* notes = z.row(iterate_size());
  const double* status = notes + status_note * W;
  std::array<OsqpSurvey, osqp_most_lanes> surveys;
  survey(z.data, room, surveys.data());
  if (due.any_test) test_for_end(due, z, room, surveys.data());
  for (Index lane = 0; lane < W; ++lane) {
    if (!due.adapts[lane] || (options_.stop && status[lane] != 0)) continue;
    double& rho = notes[rho_note * W + lane];
    const double estimate = rho_estimate(rho, surveys[lane].scaled);
    if (estimate > rho * options_.adaptive_rho_tolerance ||
        estimate < rho / options_.adaptive_rho_tolerance) {
      rho = estimate;
      notes[updates_note * W + lane] += 1;
    }
  }
}

void Osqp::survey(const double* z, Room& room, OsqpSurvey* surveys) const {
  with_lanes([&](auto lanes, auto own, auto scaled) {
    survey_lanes<decltype(lanes)::value, decltype(own)::value, decltype(scaled)::value>(z, room, surveys);
  });
}

void Osqp::test_for_end(const Due& due, Batch z, Room& room, const OsqpSurvey* surveys) const {
  const Index W = z.width;
  double* notes = z.row(iterate_size());
  std::array<OsqpDirection, osqp_most_lanes> directions;
  bool pass = true;
  for (Index lane = 0; lane < W; ++lane) {
    pass = pass && (!due.tests[lane] || residuals_pass(surveys[lane], options_));
  }
  if (!pass) {
    with_lanes([&](auto lanes, auto own, auto scaled) {
      direction_lanes<decltype(lanes)::value, decltype(own)::value, decltype(scaled)::value>(
          z.data, room, directions.data());
    });
  }
  for (Index lane = 0; lane < W; ++lane) {
    if (!due.tests[lane]) continue;
    const OsqpSurvey& survey = surveys[lane];
    SolverStatus status = stopping_test(survey, directions[lane], options_, false);
    if (status == SolverStatus::running && due.done[lane] == static_cast<double>(options_.max_iter)) {
      status = stopping_test(survey, directions[lane], options_, true);
      if (status == SolverStatus::running) status = SolverStatus::maximum_iterations_reached;
    }
    if (status == SolverStatus::running) continue;
    notes[status_note * W + lane] = static_cast<double>(status);
    notes[iterations_note * W + lane] = due.done[lane];
    notes[end_rho_note * W + lane] = notes[rho_note * W + lane];
    notes[end_updates_note * W + lane] = notes[updates_note * W + lane];
    notes[primal_note * W + lane] = survey.tested.primal;
    notes[dual_note * W + lane] = survey.tested.dual;
    notes[gap_note * W + lane] = (survey.xPx + survey.qx + survey.support) / survey.cost;
    notes[objective_note * W + lane] = (0.5 * survey.xPx + survey.qx) / survey.cost;
  }
}

Ending Osqp::ending(ConstBatch z, Index lane) const {
  require(options_.watches(), "osqp: has no stopping test with these settings");
  const auto note = [&](Note which) { return z.row(iterate_size() + which)[lane]; };
  Ending ending;
  ending.rho = note(rho_note);
  ending.rho_updates = static_cast<Index>(note(updates_note));
  ending.status = static_cast<SolverStatus>(static_cast<int>(note(status_note)));
  if (ending.status == SolverStatus::running) return ending;
  ending.iterations = static_cast<Index>(note(iterations_note));
  ending.rho = note(end_rho_note);
  ending.rho_updates = static_cast<Index>(note(end_updates_note));
  ending.primal_residual = note(primal_note);
  ending.dual_residual = note(dual_note);
  ending.duality_gap = note(gap_note);
  ending.objective = note(objective_note);
  return ending;
}

bool Osqp::finished(ConstBatch z, Index count) const {
  if (!options_.stop) return false;
  const double* status = z.row(iterate_size() + status_note);
  return std::none_of(status, status + count, [](double value) { return value == 0; });
}

// A running maximum passes over NaN, as that of the package does.
template <int W, bool Own, bool Scaled>
void Osqp::survey_lanes(const double* z, Room& room, OsqpSurvey* surveys) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const double* units = Own ? room.units.data() : units_.data();
  const double* x = z;
  const double* y = z + n_ * W;
  const double* w = z + (n_ + m_) * W;
  const bool in_units = Scaled && !options_.scaled_termination;
  const L zero(0.0);
  const auto grow = [&](L & largest, const L& value) __attribute__((always_inline)) {
    largest = max(max(value, zero - value), largest);
  };
  struct Sizes {
    L residual{0.0}, first{0.0}, second{0.0}, third{0.0};
  };
  Sizes dual, dual_tested, primal, primal_tested;
  L xPx(0.0), qx(0.0), upper_sum(0.0), lower_sum(0.0), poison(0.0);
  double* Px = room.x.data();
  system.multiply_P<W, Own>(numbers, x, Px, room.scratch.data());
  for (Index i = 0; i < n_; ++i) {
    const L product = L::load(Px + i * W);
    const L q = L::load(room.q.data() + i * W);
    const L point = L::load(x + i * W);
    L Aty(0.0);
    add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), i, y, Aty);
    const L residual = q + product + Aty;
    grow(dual.residual, residual);
    grow(dual.first, q);
    grow(dual.second, Aty);
    grow(dual.third, product);
    if (in_units) {
      const L inverse = L(1.0) / entry_value<W, Own>(units, static_cast<int>(i));
      grow(dual_tested.residual, residual * inverse);
      grow(dual_tested.first, q * inverse);
      grow(dual_tested.second, Aty * inverse);
      grow(dual_tested.third, product * inverse);
    }
    xPx.add_product(product, point);
    qx.add_product(q, point);
    poison.add_product(zero, residual);
  }
  for (Index i = 0; i < m_; ++i) {
    L Ax(0.0);
    add_row_product<W, Own>(system.A(), numbers.A.data(), i, x, Ax);
    const L copy = L::load(w + i * W);
    const L residual = Ax - copy;
    grow(primal.residual, residual);
    grow(primal.first, copy);
    grow(primal.second, Ax);
    if (in_units) {
      const L unit = entry_value<W, Own>(units, static_cast<int>(n_ + m_ + i));
      grow(primal_tested.residual, residual * unit);
      grow(primal_tested.first, copy * unit);
      grow(primal_tested.second, Ax * unit);
    }
    const L lower = L::load(room.l.data() + i * W);
    const L upper = L::load(room.u.data() + i * W);
    const L multiplier = L::load(y + i * W);
    const L above = where_greater(upper, L(osqp_loose_bound), zero, max(multiplier, zero));
    const L below = where_greater(L(-osqp_loose_bound), lower, zero, min(multiplier, zero));
    upper_sum.add_product(min(upper, L(osqp_infinite_bound)),
                          where_greater(L(dead_zone), above, zero, above));
    lower_sum.add_product(max(lower, L(-osqp_infinite_bound)),
                          where_greater(below, L(-dead_zone), zero, below));
    poison.add_product(zero, residual);
  }
  const L support = upper_sum + lower_sum;
  const L cost = L::load(room.cost.data());
  for (int lane = 0; lane < W; ++lane) {
    OsqpSurvey& survey = surveys[lane];
    const auto sizes = [lane](const Sizes& of_primal, const Sizes& of_dual, double factor) {
      return OsqpSizes{of_primal.residual[lane],     of_dual.residual[lane] * factor,
                       of_primal.first[lane],        of_primal.second[lane],
                       of_dual.first[lane] * factor, of_dual.second[lane] * factor,
                       of_dual.third[lane] * factor};
    };
    survey.scaled = sizes(primal, dual, 1.0);
    survey.tested = in_units ? sizes(primal_tested, dual_tested, 1 / cost[lane]) : survey.scaled;
    survey.xPx = xPx[lane];
    survey.qx = qx[lane];
    survey.support = support[lane];
    survey.cost = cost[lane];
    survey.poison = poison[lane];
  }
}

template <int W, bool Own, bool Scaled>
void Osqp::direction_lanes(const double* z, Room& room, OsqpDirection* directions) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const double* units = Own ? room.units.data() : units_.data();
  const bool in_units = Scaled && !options_.scaled_termination;
  const L zero(0.0);
  const auto unit = [&](Index i) __attribute__((always_inline)) {
    return in_units ? entry_value<W, Own>(units, static_cast<int>(i)) : L(1.0);
  };
  const auto grow = [&](L & largest, const L& value) __attribute__((always_inline)) {
    largest = max(max(value, zero - value), largest);
  };
  double* dx = room.x.data();             // n
  double* dy = room.difference.data();    // m
  double* product = room.scratch.data();  // n
  L size_dx(0.0), qdx(0.0);
  for (Index i = 0; i < n_; ++i) {
    const L change = L::load(z + i * W) - L::load(room.before.data() + i * W);
    change.store(dx + i * W);
    grow(size_dx, change * unit(i));
    qdx.add_product(L::load(room.q.data() + i * W), change);
  }
  L size_dy(0.0), support(0.0);
  for (Index i = 0; i < m_; ++i) {
    const L lower = L::load(room.l.data() + i * W);
    const L upper = L::load(room.u.data() + i * W);
    const L change = L::load(z + (n_ + i) * W) - L::load(room.before.data() + (n_ + i) * W);
    const L above = where_greater(upper, L(osqp_loose_bound), zero, max(change, zero));
    const L below = where_greater(L(-osqp_loose_bound), lower, zero, min(change, zero));
    const L projected = above + below;
    projected.store(dy + i * W);
    grow(size_dy, projected / unit(n_ + m_ + i));
    support.add_product(min(upper, L(osqp_infinite_bound)), above);
    support.add_product(max(lower, L(-osqp_infinite_bound)), below);
  }
  system.multiply_P<W, Own>(numbers, dx, product, room.scratch.data() + n_ * W);
  L Atdy(0.0), Pdx(0.0), beyond(0.0);
  for (Index i = 0; i < n_; ++i) {
    L sum(0.0);
    add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), i, dy, sum);
    grow(Atdy, sum / unit(i));
    grow(Pdx, L::load(product + i * W) / unit(i));
  }
  for (Index i = 0; i < m_; ++i) {
    L sum(0.0);
    add_row_product<W, Own>(system.A(), numbers.A.data(), i, dx, sum);
    sum *= unit(n_ + m_ + i);
    const L lower = L::load(room.l.data() + i * W);
    const L upper = L::load(room.u.data() + i * W);
    beyond = max(where_greater(L(osqp_loose_bound), upper, sum, zero), beyond);
    beyond = max(where_greater(lower, L(-osqp_loose_bound), zero - sum, zero), beyond);
  }
  const L cost = L::load(room.cost.data());
  for (int lane = 0; lane < W; ++lane) {
    directions[lane] = {size_dy[lane], support[lane], Atdy[lane],   size_dx[lane],
                        qdx[lane],     Pdx[lane],     beyond[lane], cost[lane]};
  }
}

}  // namespace surefoot::algorithms
