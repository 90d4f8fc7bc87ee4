#include "surefoot/algorithms/adaptive_scs.hpp"

#include "surefoot/algorithms/detail/anderson.hpp"
#include "surefoot/algorithms/detail/scs_scaling.hpp"
#include "surefoot/algorithms/detail/scs_stopping.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace surefoot::algorithms {

using problems::Cones;
using problems::SparseMatrix;
using problems::table_row;

namespace {

// Constants of the solver.
constexpr Index test_interval = 25;
constexpr double scale_interval = 100;  // iterations between two changes, at least
constexpr double smallest_scale = 1e-6;
constexpr double largest_scale = 1e6;
constexpr double smallest_factor = 1e-3;
constexpr double largest_factor = 1e3;
constexpr double factor_damping = 0.25;
constexpr double smallest_part = 1e-3;  // of the root mean square that a row's size counts as
constexpr double tiniest = 1e-18;
constexpr double change_threshold = 3.1622776601683795;  // sqrt(10)

/// The sum of term(i, sum) over i < count, in four parts that do not wait for each other.
template <int W, class Term>
[[gnu::always_inline]] inline Lanes<W> sum_of(Index count, const Term& term) {
  using L = Lanes<W>;
  L parts[4] = {L(0.0), L(0.0), L(0.0), L(0.0)};
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    term(i, parts[0]);
    term(i + 1, parts[1]);
    term(i + 2, parts[2]);
    term(i + 3, parts[3]);
  }
  for (; i < count; ++i) term(i, parts[0]);
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

bool is_change(double factor) {
  return factor > change_threshold || factor < 1 / change_threshold;
}

}  // namespace

/// Data of a block in lane layout, and room to compute.
struct AdaptiveScs::Room final : Workspace {
  Buffer h;             // n + m: (c, b), normalised
  Buffer units;         // n + 2m: what turns u and s into x, y, s
  Buffer column_units;  // n: what turns Px and A'y into the problem's units
  Buffer product_unit;  // one per lane, as the next three
  Buffer size_b, size_c, size_A;
  SplittingSystem::Numbers own;
  Buffer factored;   // 1 + m: scale and f of the factors
  Buffer weights;    // m: gamma_i gamma_j of semidefinite cones, R_ij^(-1/2)
  Buffer r;          // n + m: (R + M)^{-1} h
  Buffer Rr;         // n + m
  Buffer quadratic;  // one per lane: t + r'Rr
  Buffer p;          // n + m + 1: p, then u~
  Buffer previous;   // n + m + 1: where the last step began
  Buffer kappa;      // one per lane
  Buffer Ax, gap;    // m
  Buffer scratch;    // n + m
  Buffer ratios;     // m, of one lane
  Buffer root;       // of one semidefinite cone
  Buffer before;     // the state, for lanes that have ended
  ScsScaling scaling;
  SemidefiniteRoom semidefinite;
  AndersonMemory memory;
};

AdaptiveScs::AdaptiveScs(problems::ConeProgram problem, ScsOptions options)
    : problem_(std::move(problem)), options_(options) {
  options_.validate();
  problem_.validate();
  require(!options_.system || *options_.system == SystemKind::kkt,
          "system: acceleration, adaptive scale and the stopping test need the kind kkt");
  instances_ = problem_.instances();
  n_ = problem_.variables();
  m_ = problem_.constraints();
  l_ = n_ + m_ + 1;
  system_ = std::make_unique<SplittingSystem>(problem_.P, problem_.A, true, SystemKind::kkt);
  for (int i = 0; i < static_cast<int>(n_); ++i) {
    if (system_->P().start[i] < system_->P().start[i + 1]) energetic_.push_back(i);
  }
}

AdaptiveScs::~AdaptiveScs() = default;

std::unique_ptr<Workspace> AdaptiveScs::make_workspace() const {
  auto room = std::make_unique<Room>();
  room->h = room->r = room->Rr = make_buffer(n_ + m_, W);
  room->units = make_buffer(n_ + 2 * m_, W);
  room->column_units = make_buffer(n_, W);
  room->product_unit = room->size_b = room->size_c = room->size_A = make_buffer(1, W);
  room->quadratic = room->kappa = make_buffer(1, W);
  room->own = system_->make_numbers();
  room->factored = make_buffer(1 + m_, W);
  room->weights = make_buffer(m_, W);
  room->p = room->previous = make_buffer(l_, W);
  room->Ax = room->gap = make_buffer(m_, W);
  room->scratch = make_buffer(n_ + m_, W);
  room->ratios = make_buffer(m_, 1);
  Index largest_order = 0;
  for (const Index order : problem_.cones.semidefinite) largest_order = std::max(largest_order, order);
  room->root = make_buffer(largest_order * (largest_order + 1) / 2 + largest_order, 1);
  if (options_.stop) room->before = make_buffer(state_size(), W);
  room->scaling = ScsScaling(n_, m_);
  room->semidefinite = SemidefiniteRoom(problem_.cones, W);
  if (options_.acceleration_lookback > 0) {
    room->memory =
        AndersonMemory(l_, {options_.acceleration_lookback, options_.acceleration_type_1,
                            options_.acceleration_regularization, options_.acceleration_relaxation});
  }
  return room;
}

void AdaptiveScs::load(Index first, Index count, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  require(count >= 1 && count <= W && is_within(first, count, instances_),
          "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first, instances_ - 1,
          Index{W});
  for (Index lane = 0; lane < W; ++lane) load_lane(first + std::min(lane, count - 1), lane, room);
  ScsScaling& scaling = room.scaling;
  if (options_.normalize) {
    normalise(system_->P(), system_->A(), problem_.cones, room.own.P.data(), room.own.A.data(), room.h.data(),
              scaling);
  }
  using L = Lanes<W>;
  const L one(1.0);
  const L sigma = L::load(scaling.sigma.data());
  for (Index j = 0; j < n_; ++j) {
    const L E = L::load(scaling.E.data() + j * W);
    (E / sigma).store(room.units.data() + j * W);
    (one / (E * sigma)).store(room.column_units.data() + j * W);
  }
  for (Index i = 0; i < m_; ++i) {
    const L D = L::load(scaling.D.data() + i * W);
    (D / sigma).store(room.units.data() + (n_ + i) * W);
    (one / (D * sigma)).store(room.units.data() + (n_ + m_ + i) * W);
  }
  (one / (sigma * sigma)).store(room.product_unit.data());
  std::fill(room.own.sigma.begin(), room.own.sigma.end(), options_.rho_x);
  std::fill_n(room.factored.begin(), W, options_.scale);
  std::fill(room.factored.begin() + W, room.factored.end(), 1.0);
  set_rho(room);
  system_->factor(room.own);  // the transposed matrix too
  use_factors(room);
}

void AdaptiveScs::load_lane(Index instance, Index lane, Room& room) const {
  const SparseMatrix& P = problem_.P_of(instance);
  const SparseMatrix& A = problem_.A_of(instance);
  const double* b = table_row(problem_.b, instance);
  const double* c = table_row(problem_.c, instance);
  gather_values(P, system_->P(), room.own.P.data() + lane, W);
  gather_values(A, system_->A(), room.own.A.data() + lane, W);
  ScsScaling& scaling = room.scaling;
  double size_A = 0;
  double size_b = 0;
  double size_c = 0;
  for (Index i = 0; i < m_; ++i) {
    size_b = std::max(size_b, std::abs(b[i]));
    room.h[(n_ + i) * W + lane] = b[i];
    scaling.D[i * W + lane] = 1;
    scaling.in_rows[i * W + lane] = 0;
  }
  for (Index j = 0; j < n_; ++j) {
    size_c = std::max(size_c, std::abs(c[j]));
    room.h[j * W + lane] = c[j];
    scaling.E[j * W + lane] = 1;
    double entries = 0;
    for (SparseMatrix::InnerIterator entry(A, j); entry; ++entry, ++entries) {
      size_A = std::max(size_A, std::abs(entry.value()));
      scaling.in_rows[entry.row() * W + lane] += 1;
    }
    for (SparseMatrix::InnerIterator entry(P, j); entry; ++entry) ++entries;
    scaling.in_columns[j * W + lane] = entries;
  }
  scaling.sigma[lane] = 1;
  room.size_b[lane] = size_b;
  room.size_c[lane] = size_c;
  room.size_A[lane] = size_A;
}

void AdaptiveScs::reset_notes(Batch z) const {
  std::fill_n(z.row(2 * l_ + m_), m_ * W, 1.0);
  std::fill_n(note(z, scale_note), note_rows * W, 0.0);
  std::fill_n(note(z, scale_note), W, options_.scale);
}

void AdaptiveScs::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, (2 * l_ + m_) * W, 0.0);
  std::fill_n(z.row(l_ - 1), W, 1.0);
  std::fill_n(z.row(2 * l_ - 1), W, 1.0);
  reset_notes(z);
}

void AdaptiveScs::read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const {
  const auto& room = static_cast<const Room&>(workspace);
  const double* tau = z.row(2 * l_ - 1);
  for (Index i = first; i < first + count; ++i) {
    const double* from = z.row(i < n_ + m_ ? l_ + i : l_ + i + 1);
    for (Index lane = 0; lane < W; ++lane) {
      out[(i - first) * W + lane] = from[lane] * room.units[i * W + lane] /
                                    (tau[lane] > tiniest || std::isnan(tau[lane]) ? tau[lane] : tiniest);
    }
  }
}

// As the package starts from x, y, s: mu = (x, y + R^{-1} s), eta = 1.
void AdaptiveScs::write(ConstBatch iterate, Workspace& workspace, Batch z) const {
  const auto& room = static_cast<const Room&>(workspace);
  reset_notes(z);
  for (Index i = 0; i < n_ + 2 * m_; ++i) {
    double* to = z.row(i < n_ + m_ ? l_ + i : l_ + i + 1);
    for (Index lane = 0; lane < W; ++lane) to[lane] = iterate.row(i)[lane] / room.units[i * W + lane];
  }
  std::fill_n(z.row(2 * l_ - 1), W, 1.0);
  std::copy_n(z.row(l_), l_ * W, z.data);
  for (Index i = 0; i < m_; ++i) {
    const double rho = options_.scale * (i < problem_.cones.zero ? options_.zero_factor : 1.0);
    for (Index lane = 0; lane < W; ++lane) z.row(n_ + i)[lane] += rho * z.row(2 * l_ + i)[lane];
  }
}

/// Factors for the scale and f that the state asks for. Lanes as before get the same bits.
void AdaptiveScs::follow_scale(ConstBatch z, Room& room) const {
  const double* scale = note(z, scale_note);
  const double* f = z.row(2 * l_ + m_);
  const bool same =
      std::memcmp(scale, room.factored.data(), W * sizeof(double)) == 0 &&
      std::memcmp(f, room.factored.data() + W, static_cast<std::size_t>(m_ * W) * sizeof(double)) == 0;
  if (same) return;
  std::copy_n(scale, W, room.factored.data());
  std::copy_n(f, m_ * W, room.factored.data() + W);
  set_rho(room);
  system_->factor_again(room.own);
  use_factors(room);
}

void AdaptiveScs::set_rho(Room& room) const {
  using L = Lanes<W>;
  const L scale = L::load(room.factored.data());
  for (Index i = 0; i < m_; ++i) {
    const L zero_factor(i < problem_.cones.zero ? options_.zero_factor : 1.0);
    (zero_factor * scale * L::load(room.factored.data() + (1 + i) * W)).store(room.own.rho.data() + i * W);
  }
}

/// r and weights of the factors as they are.
void AdaptiveScs::use_factors(Room& room) const {
  using L = Lanes<W>;
  const double* R = room.own.rho_inverse.data();
  problem_.cones.each_block([&](Index first, Index /*rows*/, Index order) {
    if (order == 0) return;
    const auto gamma = [&](Index i) {  // R_ii^(-1/4)
      const L diagonal = L::load(R + (first + i * order - i * (i - 1) / 2) * W);
      return L(1.0) / sqrt(sqrt(diagonal));
    };
    Index row = first;
    for (Index j = 0; j < order; ++j) {
      for (Index i = j; i < order; ++i, ++row) (gamma(i) * gamma(j)).store(room.weights.data() + row * W);
    }
  });
  system_->solve_kkt<W, true>(
      room.own,
      [&](int i) {
        const L value = L::load(room.h.data() + static_cast<Index>(i) * W);
        return i < static_cast<int>(n_) ? value : L(0.0) - value;
      },
      room.r.data());
  const L rho_x(options_.rho_x);
  L quadratic(options_.tau_factor);
  for (Index i = 0; i < n_ + m_; ++i) {
    const L value = L::load(room.r.data() + i * W);
    const L weighted = (i < n_ ? rho_x : L::load(R + (i - n_) * W)) * value;
    weighted.store(room.Rr.data() + i * W);
    quadratic.add_product(weighted, value);
  }
  quadratic.store(room.quadratic.data());
}

/// y (m x W) on the dual cone, in the norm of R.
void AdaptiveScs::project(double* y, Room& room) const {
  using L = Lanes<W>;
  const Cones& cones = problem_.cones;
  Index row = cones.zero;
  for (; row < cones.zero + cones.nonnegative; ++row) max(L::load(y + row * W), L(0.0)).store(y + row * W);
  for (const Index dimension : cones.second_order) {
    L squares(0.0);
    for (Index i = row + 1; i < row + dimension; ++i)
      squares.add_product(L::load(y + i * W), L::load(y + i * W));
    L top;
    L factor;
    second_order_projection(L::load(y + row * W), sqrt(squares), top, factor);
    top.store(y + row * W);
    for (Index i = row + 1; i < row + dimension; ++i) (factor * L::load(y + i * W)).store(y + i * W);
    row += dimension;
  }
  // Pi^R(y) = G^{-1} Pi(G y G) with R = G^2 G^2: the cone is the same in the coordinates R^(1/2) y.
  const double* weights = room.weights.data();
  for (const Index order : cones.semidefinite) {
    const Index rows = order * (order + 1) / 2;
    for (Index i = row; i < row + rows; ++i) (L::load(y + i * W) / L::load(weights + i * W)).store(y + i * W);
    project_semidefinite<W>(order, y + row * W, room.semidefinite);
    for (Index i = row; i < row + rows; ++i) (L::load(y + i * W) * L::load(weights + i * W)).store(y + i * W);
    row += rows;
  }
  if (cones.triples() > 0) project_dual_triples(cones, y + row * W, room.own.rho_inverse.data() + row * W, W);
}

/// u, s and the new v from v, and the residual.
void AdaptiveScs::splitting_step(Index k, Batch z, Room& room) const {
  using L = Lanes<W>;
  double* v = z.data;
  double* u = z.row(l_);
  double* s = z.row(2 * l_);
  double* p = room.p.data();
  const double* R = room.own.rho_inverse.data();
  const auto n = static_cast<int>(n_);
  const L rho_x(options_.rho_x);
  const L alpha(options_.alpha);
  system_->solve_kkt<W, true>(
      room.own,
      [&](int i) __attribute__((always_inline)) {
        const L value = L::load(v + static_cast<Index>(i) * W);
        if (i < n) return rho_x * value;
        return L(0.0) - L::load(R + static_cast<Index>(i - n) * W) * value;
      },
      p);
  const Index last = (l_ - 1) * W;
  const L eta = L::load(v + last);
  L tau_tilde(1.0);
  if (k > 0) {
    const double* Rr = room.Rr.data();
    L b = sum_of<W>(
        n_ + m_, [&](Index i, L & sum) __attribute__((always_inline)) {
          const L at = L::load(p + i * W);
          sum.add_product(L::load(Rr + i * W), L::load(v + i * W) - (at + at));
        });
    b.subtract_product(L(options_.tau_factor), eta);
    L energy(0.0);
    for (const int i : energetic_) {
      L sum(0.0);
      add_row_product<W, true>(system_->P(), room.own.P.data(), i, p, sum);
      energy.add_product(sum, L::load(p + static_cast<Index>(i) * W));
    }
    energy = max(energy, L(0.0) * energy);
    const L a = L::load(room.quadratic.data());
    const L root = sqrt(b * b + L(4.0) * a * energy);
    tau_tilde = where_greater(b, L(0.0), (energy + energy) / (b + root), (root - b) / (a + a));
  }
  tau_tilde.store(p + last);
  for (Index i = 0; i < n_ + m_; ++i) {
    const L u_tilde = L::load(p + i * W) - L::load(room.r.data() + i * W) * tau_tilde;
    u_tilde.store(p + i * W);
    (u_tilde + u_tilde - L::load(v + i * W)).store(u + i * W);
  }
  project(u + n_ * W, room);
  const L tau = k > 0 ? max(tau_tilde + tau_tilde - eta, L(0.0)) : L(1.0);
  tau.store(u + last);
  (L(options_.tau_factor) * (eta + tau - (tau_tilde + tau_tilde))).store(room.kappa.data());
  const L eta_new = eta + alpha * (tau - tau_tilde);
  eta_new.store(v + last);
  const L scale_old = L(1.0) / eta;
  const L scale_new = L(1.0) / eta_new;
  const double* units = room.units.data();
  const auto move = [&](Index i, const L& from, const L& u_tilde, const L& point, L& squares)
      __attribute__((always_inline)) {
    const L to = from + alpha * (point - u_tilde);
    to.store(v + i * W);
    const L change = (to * scale_new - from * scale_old) * L::load(units + i * W);
    squares.add_product(change, change);
  };
  L squares = sum_of<W>(
      n_, [&](Index i, L & sum) __attribute__((always_inline)) {
        move(i, L::load(v + i * W), L::load(p + i * W), L::load(u + i * W), sum);
      });
  squares += sum_of<W>(
      m_, [&](Index row, L & sum) __attribute__((always_inline)) {
        const Index i = n_ + row;
        const L from = L::load(v + i * W);
        const L u_tilde = L::load(p + i * W);
        const L point = L::load(u + i * W);
        (L::load(R + row * W) * (from + point - (u_tilde + u_tilde))).store(s + row * W);
        move(i, from, u_tilde, point, sum);
      });
  sqrt(squares).store(note(z, residual_note));
}

void AdaptiveScs::step(Index k, Batch z, Workspace& workspace, double* residual) const {
  using L = Lanes<W>;
  auto& room = static_cast<Room&>(workspace);
  std::array<bool, W> ended{};
  Index ended_lanes = 0;
  for (Index lane = 0; lane < W; ++lane) {
    ended[lane] = options_.stop && note(z, status_note)[lane] != 0;
    ended_lanes += ended[lane] ? 1 : 0;
  }
  double* held = note(z, residual_note);
  if (ended_lanes < W) {
    if (ended_lanes > 0) std::copy_n(z.data, state_size() * W, room.before.data());
    // Rows that the step does not read: divergence is never taken for success.
    const double* rest = z.row(l_);
    const L seen = sum_of<W>(
        state_size() - l_, [&](Index i, L & sum) __attribute__((always_inline)) {
          sum.add_product(L(0.0), L::load(rest + i * W));
        });
    // Only `watch` changes the scale of a run.
    if (k == 0 || (k - 1) % test_interval == 0) follow_scale(z, room);
    const bool accelerates = options_.acceleration_lookback > 0;
    const Index interval = options_.acceleration_interval;
    const AndersonNotes notes{note(z, points_note), note(z, accelerated_note), note(z, point_residual_note)};
    if (accelerates && k > 0 && k % interval == 0)
      room.memory.apply(k / interval, z.data, room.previous.data(), notes);
    // The step is homogeneous: the norm matters to the acceleration, and to what is tested.
    const bool takes_part = accelerates && (k % interval == 0 || (k + 1) % interval == 0);
    if (k > 0 && (takes_part || k % test_interval == 0 || problem_.cones.triples() > 0)) {
      double* v = z.data;
      const L squares = sum_of<W>(
          l_, [&](Index i, L & sum) __attribute__((always_inline)) {
            const L value = L::load(v + i * W);
            sum.add_product(value, value);
          });
      const L factor = L(std::sqrt(static_cast<double>(l_))) / sqrt(squares);
      for (Index i = 0; i < l_; ++i) (L::load(v + i * W) * factor).store(v + i * W);
    }
    if (takes_part) std::copy_n(z.data, l_ * W, room.previous.data());
    splitting_step(k, z, room);
    if (k % test_interval == 0 || k + 1 == options_.max_iters) watch(k, z, room);
    if (accelerates && k > 0 && k % interval == 0) room.memory.safeguard(z.data, room.previous.data(), notes);
    for (Index i = 0; ended_lanes > 0 && i < state_size(); ++i) {
      for (Index lane = 0; lane < W; ++lane) {
        if (ended[lane]) z.row(i)[lane] = room.before[i * W + lane];
      }
    }
    (L::load(held) + seen).store(held);
  }
  if (residual != nullptr) std::copy_n(held, W, residual);
}

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
void AdaptiveScs::watch(Index k, Batch z, Room& room) const {
  const bool at_interval = k % test_interval == 0;
  std::array<ScsSurvey, W> surveys;
  survey(z, room, surveys.data());
  bool adapted = false;
  for (Index lane = 0; lane < W; ++lane) {
    if (options_.check_termination && note(z, status_note)[lane] == 0) {
      SolverStatus status = SolverStatus::running;
      if (at_interval) {
        status = stopping_test(surveys[lane], options_,
                               {note(z, unbounded_note) + lane, note(z, infeasible_note) + lane});
      }
      const bool decided = status != SolverStatus::running;
      if (!decided && k + 1 == options_.max_iters) status = last_status(surveys[lane]);
      if (status != SolverStatus::running) end_lane(lane, status, decided ? k : k + 1, surveys[lane], z);
    }
    if (options_.stop && note(z, status_note)[lane] != 0) continue;
    if (options_.adaptive_scale && at_interval) {
      adapted = adapt_lane(k, lane, surveys[lane], z, room) || adapted;
    }
  }
  if (!adapted) return;
  // v so that R (v + u - 2 u~) is as before in the rows whose R has changed, then the step from there.
  for (Index lane = 0; lane < W; ++lane) {
    if (note(z, last_update_note)[lane] != static_cast<double>(k) || k == 0) continue;
    for (Index i = 0; i < m_; ++i) {
      const double rho = (i < problem_.cones.zero ? options_.zero_factor : 1.0) * note(z, scale_note)[lane] *
                         z.row(2 * l_ + m_ + i)[lane];
      const double u_tilde = room.p[(n_ + i) * W + lane];
      const double u = z.row(l_ + n_ + i)[lane];
      z.row(n_ + i)[lane] = z.row(2 * l_ + i)[lane] * rho + 2 * u_tilde - u + options_.alpha * (u - u_tilde);
    }
  }
}

void AdaptiveScs::end_lane(Index lane, SolverStatus status, Index iterations, const ScsSurvey& survey,
                           Batch z) const {
  note(z, status_note)[lane] = static_cast<double>(status);
  note(z, iterations_note)[lane] = static_cast<double>(iterations);
  note(z, end_scale_note)[lane] = note(z, scale_note)[lane];
  note(z, end_updates_note)[lane] = note(z, updates_note)[lane];
  note(z, primal_note)[lane] = reported(Quantity::prim_res, survey, options_);
  note(z, dual_note)[lane] = reported(Quantity::dual_res, survey, options_);
  note(z, gap_note)[lane] = reported(Quantity::duality_gap, survey, options_);
  note(z, objective_note)[lane] = objective_of(survey);
}

bool AdaptiveScs::adapt_lane(Index k, Index lane, const ScsSurvey& survey, Batch z, Room& room) const {
  double& scale = note(z, scale_note)[lane];
  double& balance = note(z, balance_note)[lane];
  double& balances = note(z, balances_note)[lane];
  balance += scale_balance(survey);
  balances += 1;
  const double factor = std::sqrt(std::exp(balance / balances));
  if (static_cast<double>(k) - note(z, last_update_note)[lane] < scale_interval) return false;
  const double wanted = std::clamp(scale * factor, smallest_scale, largest_scale);
  const bool changes = wanted != scale && is_change(factor);
  const bool by_rows = options_.adaptive_diag_scale && adapt_rows(lane, changes, z, room);
  if (!changes && !by_rows) return false;
  if (changes) scale = wanted;
  note(z, updates_note)[lane] += 1;
  note(z, last_update_note)[lane] = static_cast<double>(k);
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
  const double floor = std::max(smallest_part * std::sqrt(squares / static_cast<double>(m_)), tiniest);
  // The mean of the logarithms by products of a few, and the extremes: most often nothing is to be changed.
  constexpr Index few = 8;
  double sum = 0;
  double product = 1;
  double least = infinity;
  double most = 0;
  for (Index i = 0; i < m_; ++i) {
    const double residual = std::max(std::abs(room.gap[i * W + lane]), tiniest);
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
  const L inverse = L(1.0) / tau;
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

std::unique_ptr<Operator> make_scs(problems::ConeProgram problem, const ScsOptions& options) {
  if (options.watches()) return std::make_unique<AdaptiveScs>(std::move(problem), options);
  return std::make_unique<Scs>(std::move(problem), options);
}

}  // namespace surefoot::algorithms
