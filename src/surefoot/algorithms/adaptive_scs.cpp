#include "surefoot/algorithms/adaptive_scs.hpp"

#include "surefoot/algorithms/detail/scs_room.hpp"
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

constexpr double test_interval = 25;
constexpr double tiniest = 1e-18;

bool is_multiple(double number, double of) {
  return number == of * std::floor(number / of);
}

}  // namespace

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
  room->p = make_buffer(n_ + m_, W);
  room->previous = make_buffer(l_, W);
  room->Ax = room->gap = make_buffer(m_, W);
  room->scratch = make_buffer(n_ + m_, W);
  room->ratios = make_buffer(m_, 1);
  Index largest_order = 0;
  for (const Index order : problem_.cones.semidefinite) largest_order = std::max(largest_order, order);
  room->root = make_buffer(largest_order * (largest_order + 1) / 2 + largest_order, 1);
  if (options_.stop) {
    room->before = make_buffer(state_size(), W);
    room->raw_P = room->own.P;
    room->raw_A = room->own.A;
    room->raw_h = room->h;
  }
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
  std::array<Index, W> instances{};
  for (Index lane = 0; lane < W; ++lane) instances[lane] = first + std::min(lane, count - 1);
  take(instances.data(), room);
  std::fill(room.own.sigma.begin(), room.own.sigma.end(), options_.rho_x);
  std::fill_n(room.factored.begin(), W, options_.scale);
  std::fill(room.factored.begin() + W, room.factored.end(), 1.0);
  set_rho(room);
  system_->factor(room.own);  // the transposed matrix too
  use_factors(room);
  room.is_stale = false;
  room.calls = 0;
}

void AdaptiveScs::reload(const Index* instances, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  take(instances, room);
  system_->arrange(room.own);
  room.is_stale = true;  // the next step factors, with the scales that it asks for
}

void AdaptiveScs::take(const Index* instances, Room& room) const {
  if (options_.stop) {
    std::copy(room.raw_P.begin(), room.raw_P.end(), room.own.P.begin());
    std::copy(room.raw_A.begin(), room.raw_A.end(), room.own.A.begin());
    std::copy(room.raw_h.begin(), room.raw_h.end(), room.h.begin());
  }
  ScsScaling& scaling = room.scaling;
  std::fill(scaling.D.begin(), scaling.D.end(), 1.0);
  std::fill(scaling.E.begin(), scaling.E.end(), 1.0);
  std::fill(scaling.sigma.begin(), scaling.sigma.end(), 1.0);
  for (Index lane = 0; lane < W; ++lane) {
    if (instances[lane] >= 0) load_lane(instances[lane], lane, room);
  }
  if (options_.stop) {
    std::copy(room.own.P.begin(), room.own.P.end(), room.raw_P.begin());
    std::copy(room.own.A.begin(), room.own.A.end(), room.raw_A.begin());
    std::copy(room.h.begin(), room.h.end(), room.raw_h.begin());
  }
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
    scaling.in_rows[i * W + lane] = 0;
  }
  for (Index j = 0; j < n_; ++j) {
    size_c = std::max(size_c, std::abs(c[j]));
    room.h[j * W + lane] = c[j];
    double entries = 0;
    for (SparseMatrix::InnerIterator entry(A, j); entry; ++entry, ++entries) {
      size_A = std::max(size_A, std::abs(entry.value()));
      scaling.in_rows[entry.row() * W + lane] += 1;
    }
    for (SparseMatrix::InnerIterator entry(P, j); entry; ++entry) ++entries;
    scaling.in_columns[j * W + lane] = entries;
  }
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
  if (same && !room.is_stale) return;
  room.is_stale = false;
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

/// y (m x W) on the dual cone, in the norm of R; rows after those of the zero and nonnegative cones.
void AdaptiveScs::project(double* y, Room& room) const {
  using L = Lanes<W>;
  const Cones& cones = problem_.cones;
  Index row = cones.zero + cones.nonnegative;
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
void AdaptiveScs::splitting_step(const Due& due, Batch z, Room& room) const {
  using L = Lanes<W>;
  double* v = z.data;
  double* u = z.row(l_);
  double* s = z.row(2 * l_);
  double* p = room.p.data();
  const double* R = room.own.rho_inverse.data();
  const double* r = room.r.data();
  const auto n = static_cast<int>(n_);
  const Index m = m_;
  const Index rows = n + m;
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
  const Index last = rows * W;
  const L eta = L::load(v + last);
  const double* Rr = room.Rr.data();
  L b = lane_sum<W>(
      rows, [&](Index i, L & sum) __attribute__((always_inline)) {
        L doubled = L::load(v + i * W);
        doubled.subtract_product(L(2.0), L::load(p + i * W));
        sum.add_product(L::load(Rr + i * W), doubled);
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
  L tau_tilde = where_greater(b, L(0.0), (energy + energy) / (b + root), (root - b) / (a + a));
  L tau = max(tau_tilde + tau_tilde - eta, L(0.0));
  if (due.any_first) {
    const L first = L::load(due.first);
    tau_tilde = where_greater(first, L(0.0), L(1.0), tau_tilde);
    tau = where_greater(first, L(0.0), L(1.0), tau);
  }
  tau.store(u + last);
  (L(options_.tau_factor) * (eta + tau - (tau_tilde + tau_tilde))).store(room.kappa.data());
  const L eta_new = eta + alpha * (tau - tau_tilde);
  eta_new.store(v + last);
  const L scale_old = L(1.0) / eta;
  const L scale_new = L(1.0) / eta_new;
  const double* units = room.units.data();
  const auto u_tilde_of = [&](Index i) __attribute__((always_inline)) {
    L value = L::load(p + i * W);
    value.subtract_product(L::load(r + i * W), tau_tilde);
    return value;
  };
  const auto move = [&](Index i, const L& from, const L& u_tilde, const L& point, L& squares)
      __attribute__((always_inline)) {
    L to = from;
    to.add_product(alpha, point - u_tilde);
    to.store(v + i * W);
    L change = to * scale_new;
    change.subtract_product(from, scale_old);
    change *= L::load(units + i * W);
    squares.add_product(change, change);
  };
  const auto finish_row = [&](Index row, const L& from, const L& u_tilde, const L& point, L& squares)
      __attribute__((always_inline)) {
    (L::load(R + row * W) * (from + point - (u_tilde + u_tilde))).store(s + row * W);
    move(n + row, from, u_tilde, point, squares);
  };
  // Rows whose projection is their own are done in one pass.
  L squares = lane_sum<W>(
      n, [&](Index i, L & sum) __attribute__((always_inline)) {
        const L from = L::load(v + i * W);
        const L u_tilde = u_tilde_of(i);
        const L point = u_tilde + u_tilde - from;
        point.store(u + i * W);
        move(i, from, u_tilde, point, sum);
      });
  const auto one_by_one = [&](Index row, L & sum, const auto& projected) __attribute__((always_inline)) {
    const L from = L::load(v + (n + row) * W);
    const L u_tilde = u_tilde_of(n + row);
    const L point = projected(u_tilde + u_tilde - from);
    u_tilde.store(p + (n + row) * W);
    point.store(u + (n + row) * W);
    finish_row(row, from, u_tilde, point, sum);
  };
  const Index zero = problem_.cones.zero;
  const Index simple = zero + problem_.cones.nonnegative;
  squares += lane_sum<W>(
      zero, [&](Index row, L & sum) __attribute__((always_inline)) {
        one_by_one(
            row, sum, [](const L& value) __attribute__((always_inline)) { return value; });
      });
  squares += lane_sum<W>(
      simple - zero, [&](Index row, L & sum) __attribute__((always_inline)) {
        one_by_one(
            zero + row, sum,
            [](const L& value) __attribute__((always_inline)) { return max(value, L(0.0)); });
      });
  for (Index i = n + simple; i < rows; ++i) {
    const L u_tilde = u_tilde_of(i);
    u_tilde.store(p + i * W);
    (u_tilde + u_tilde - L::load(v + i * W)).store(u + i * W);
  }
  project(u + n * W, room);
  squares += lane_sum<W>(
      m - simple, [&](Index i, L & sum) __attribute__((always_inline)) {
        const Index row = simple + i;
        finish_row(row, L::load(v + (n + row) * W), L::load(p + (n + row) * W), L::load(u + (n + row) * W),
                   sum);
      });
  sqrt(squares).store(note(z, residual_note));
}

AdaptiveScs::Due AdaptiveScs::due_at(const double* steps, const double* status) const {
  const bool has_memory = options_.acceleration_lookback > 0;
  const auto interval = static_cast<double>(options_.acceleration_interval);
  const bool always_rescaled = problem_.cones.triples() > 0;
  Due due;
  double asked = -1;  // lanes have mostly made the same number of steps
  bool tests = false;
  bool is_last = false;
  bool rescaled = false;
  for (Index lane = 0; lane < W; ++lane) {
    due.ended[lane] = options_.stop && status[lane] != 0;
    if (due.ended[lane]) {
      ++due.ended_lanes;
      continue;
    }
    const double k = steps[lane];
    if (!(k == asked)) {
      const bool begins = has_memory && is_multiple(k, interval);
      const bool remembers = begins || (has_memory && is_multiple(k + 1, interval));
      tests = is_multiple(k, test_interval);
      is_last = k + 1 == static_cast<double>(options_.max_iters);
      rescaled = k > 0 && (remembers || tests || always_rescaled);
      due.follows = due.follows || k == 0 || is_multiple(k - 1, test_interval);
      due.watches = due.watches || tests || is_last;
      due.any_first = due.any_first || k == 0;
      due.any_rescaled = due.any_rescaled || rescaled;
      due.accelerates = due.accelerates || (begins && k > 0);
      due.remembers = due.remembers || remembers;
      asked = k;
    }
    due.tests[lane] = tests;
    due.last[lane] = is_last;
    due.first[lane] = k == 0 ? 1 : 0;
    due.rescaled[lane] = rescaled ? 1 : 0;
  }
  return due;
}

/// v to the norm sqrt(n + m + 1): it matters to the acceleration and to what is tested, the step is
/// homogeneous.
void AdaptiveScs::rescale(const Due& due, Batch z, Room& room) const {
  using L = Lanes<W>;
  double* v = z.data;
  const Index rows = l_;
  const L squares = lane_sum<W>(
      rows, [&](Index i, L & sum) __attribute__((always_inline)) {
        const L value = L::load(v + i * W);
        sum.add_product(value, value);
      });
  const L factor = where_greater(L::load(due.rescaled), L(0.0),
                                 L(std::sqrt(static_cast<double>(rows))) / sqrt(squares), L(1.0));
  double* previous = room.previous.data();
  for (Index i = 0; i < rows; ++i) {
    const L value = L::load(v + i * W) * factor;
    value.store(v + i * W);
    value.store(previous + i * W);
  }
}

void AdaptiveScs::step(Index /*k*/, Batch z, Workspace& workspace, double* residual) const {
  using L = Lanes<W>;
  auto& room = static_cast<Room&>(workspace);
  double* steps = note(z, steps_note);
  const Due due = due_at(steps, note(z, status_note));
  double* held = note(z, residual_note);
  const Index size = state_size();
  if (due.ended_lanes < W) {
    if (due.ended_lanes > 0) std::copy_n(z.data, size * W, room.before.data());
    // Rows that the step does not read: divergence is never taken for success.
    const double* rest = z.row(l_);
    const L seen = lane_sum<W>(
        size - l_, [&](Index i, L & sum)
                       __attribute__((always_inline)) { sum.add_product(L(0.0), L::load(rest + i * W)); });
    // Only `watch` changes the scale of a run.
    if (room.is_stale || due.follows) follow_scale(z, room);
    const AndersonNotes notes{note(z, points_note), note(z, accelerated_note), note(z, point_residual_note)};
    if (due.accelerates) {
      room.memory.apply(room.calls++, z.data, room.previous.data(), notes);
      for (Index lane = 0; due.any_first && lane < W; ++lane) {
        if (due.first[lane] != 0) notes.count[lane] = notes.accelerated[lane] = notes.residual[lane] = 0;
      }
    }
    if (due.any_rescaled) {
      rescale(due, z, room);
    } else if (due.remembers) {
      std::copy_n(z.data, l_ * W, room.previous.data());
    }
    splitting_step(due, z, room);
    (L::load(steps) + L(1.0)).store(steps);
    if (due.watches) watch(due, z, room);
    if (due.accelerates) room.memory.safeguard(z.data, room.previous.data(), notes);
    if (due.ended_lanes > 0) {
      alignas(64) double ended[W];
      for (Index lane = 0; lane < W; ++lane) ended[lane] = due.ended[lane] ? 1 : 0;
      const L is_ended = L::load(ended);
      for (Index i = 0; i < size; ++i) {
        where_greater(is_ended, L(0.0), L::load(room.before.data() + i * W), L::load(z.row(i)))
            .store(z.row(i));
      }
    }
    (L::load(held) + seen).store(held);
  }
  if (residual != nullptr) std::copy_n(held, W, residual);
}

std::unique_ptr<Operator> make_scs(problems::ConeProgram problem, const ScsOptions& options) {
  if (options.watches()) return std::make_unique<AdaptiveScs>(std::move(problem), options);
  return std::make_unique<Scs>(std::move(problem), options);
}

}  // namespace surefoot::algorithms
