#include "surefoot/algorithms/osqp.hpp"

#include "surefoot/algorithms/detail/osqp_room.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace surefoot::algorithms {

using problems::Qp;
using problems::SparseMatrix;
using problems::table_row;
using problems::Vector;

namespace {

bool same_kinds_everywhere(const Qp& problem, const Vector& E) {
  const Index rows = std::max(problem.l.rows(), problem.u.rows());
  for (Index row = 0; row < problem.constraints(); ++row) {
    const OsqpRow first = row_kind(E[row] * problem.l(0, row), E[row] * problem.u(0, row));
    for (Index i = 1; i < rows; ++i) {
      if (row_kind(E[row] * table_row(problem.l, i)[row], E[row] * table_row(problem.u, i)[row]) != first) {
        return false;
      }
    }
  }
  return true;
}

bool is_identity(const SparseMatrix& matrix) {
  if (matrix.rows() != matrix.cols() || matrix.nonZeros() != matrix.rows()) return false;
  for (Index column = 0; column < matrix.cols(); ++column) {
    if (matrix.coeff(column, column) != 1.0) return false;
  }
  return true;
}

SparseMatrix scaled_matrix(const SparseMatrix& matrix, const Vector& left, const Vector& right,
                           double factor) {
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): changed through the iterator
  SparseMatrix result(matrix);
  for (Index column = 0; column < result.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator entry(result, column); entry; ++entry) {
      entry.valueRef() *= factor * left[entry.row()] * right[column];
    }
  }
  return result;
}

}  // namespace

Osqp::Osqp(Qp problem, OsqpOptions options) : problem_(std::move(problem)), options_(std::move(options)) {
  options_.validate();
  problem_.validate();
  instances_ = problem_.instances();
  n_ = problem_.variables();
  m_ = problem_.constraints();
  scaled_ = options_.scaling > 0;
  require(options_.reference_q.size() == 0 || options_.reference_q.size() == n_,
          "reference_q: has {} entries, must have {}", options_.reference_q.size(), n_);
  Equilibration scaling{Vector::Ones(n_), Vector::Ones(m_), 1.0};
  bool own = problem_.P.size() > 1 || problem_.A.size() > 1;
  // The scaling of an instance depends on its P, A and q: where all have the same, they have the same
  // factors.
  if (scaled_ && options_.scale_each) own = own || problem_.q.rows() > 1;
  if (scaled_ && !own) {
    Vector q = options_.reference_q.size() > 0 ? options_.reference_q : Vector(Vector::Zero(n_));
    if (options_.scale_each) q = Eigen::Map<const Vector>(problem_.q.data(), n_);
    scaling = equilibrate(problem_.P[0], problem_.A[0], q.data(), options_.scaling);
  }
  const bool kinds_matter = options_.equality_factor != 1 || options_.loose_rho != 0;
  if (!own && kinds_matter && !same_kinds_everywhere(problem_, scaling.E)) {
    require(!scaled_ || options_.scale_each, "l, u: equality rows differ between instances; set scale_each");
    own = true;
  }
  std::optional<SystemKind> kind = options_.system;
  if (options_.watches()) {
    require(!kind || *kind == SystemKind::kkt || *kind == SystemKind::sparse,
            "system: adaptive rho and the stopping test need the kind kkt or sparse");
    if (!kind) kind = SystemKind::kkt;
  }
  const bool kronecker = !own && !scaled_ && problem_.kronecker_factor.size() > 0 &&
                         is_identity(problem_.A[0]) && (!kind || *kind == SystemKind::kronecker);
  if (kronecker) kind = SystemKind::kronecker;
  require(kronecker || kind != SystemKind::kronecker,
          "system: kronecker needs a kronecker_factor, A = identity and no scaling");
  const bool delicate = options_.sigma < 1e-3 * options_.rho * std::max(1.0, options_.equality_factor);
  system_ = std::make_unique<SplittingSystem>(problem_.P, problem_.A, own, kind, delicate);
  if (own) return;
  shared_ = system_->make_numbers();
  const SparseMatrix P = scaled_matrix(problem_.P[0], scaling.D, scaling.D, scaling.cost);
  const SparseMatrix A = scaled_matrix(problem_.A[0], scaling.E, scaling.D, 1.0);
  gather_values(P, system_->P(), shared_.P.data());
  gather_values(A, system_->A(), shared_.A.data());
  std::fill(shared_.sigma.begin(), shared_.sigma.end(), options_.sigma);
  bool constant_rho = true;
  for (Index row = 0; row < m_; ++row) {
    shared_.rho[row] =
        row_rho(scaling.E[row] * problem_.l(0, row), scaling.E[row] * problem_.u(0, row), options_);
    constant_rho = constant_rho && shared_.rho[row] == shared_.rho[0];
  }
  if (kronecker) {
    require(constant_rho, "system: kronecker needs the same rho in all rows");
    system_->factor_kronecker(problem_.kronecker_factor, shared_);
  } else {
    system_->factor(shared_);
  }
  // Factors as a block of varied rho has them, to the bit: a lane does not see what its neighbours do.
  if (options_.watches()) system_->take_factors(system_->in_lanes(shared_), shared_);
  shared_cost_ = scaling.cost;
  units_ = make_buffer(n_ + 2 * m_, 1);
  for (Index i = 0; i < n_; ++i) units_[i] = scaling.D[i];
  for (Index i = 0; i < m_; ++i) units_[n_ + i] = scaling.E[i] / scaling.cost;
  for (Index i = 0; i < m_; ++i) units_[n_ + m_ + i] = 1 / scaling.E[i];
}

Osqp::~Osqp() = default;

void Osqp::change_vectors(const ChangeVectors& change) {
  require(!system_->own() && !(scaled_ && options_.scale_each && instances_ > 1),
          "change_vectors: instances have factors of their own; set scale_each to false");
  const std::array<Index, 3> rows{problem_.q.rows(), problem_.l.rows(), problem_.u.rows()};
  change(problem_.q, problem_.l, problem_.u);
  problems::require_shape(problem_.q, rows[0], n_, "q");
  problems::require_shape(problem_.l, rows[1], m_, "l");
  problems::require_shape(problem_.u, rows[2], m_, "u");
  require(rows == std::array{problem_.q.rows(), problem_.l.rows(), problem_.u.rows()},
          "change_vectors: the number of instances has changed");
  constexpr Index rows_at_once = 64;
  const Index most = *std::ranges::max_element(rows);
  parallel_blocks((most + rows_at_once - 1) / rows_at_once, [&](Index block) {
    const Index end = std::min(most, (block + 1) * rows_at_once);
    for (Index instance = block * rows_at_once; instance < end; ++instance) require_vectors(instance);
  });
}

void Osqp::require_vectors(Index instance) const {
  if (instance < problem_.q.rows()) {
    const double* q = table_row(problem_.q, instance);
    for (Index i = 0; i < n_; ++i)
      require(std::isfinite(q[i]), "q: entry {} of instance {} is {}", i, instance, q[i]);
  }
  if (instance >= std::max(problem_.l.rows(), problem_.u.rows())) return;
  const double* l = table_row(problem_.l, instance);
  const double* u = table_row(problem_.u, instance);
  for (Index i = 0; i < m_; ++i) {
    require(l[i] <= u[i] && l[i] < infinity && u[i] > -infinity,
            "l, u: entries {} of instance {} are {} and {}, which no number is between", i, instance, l[i],
            u[i]);
    const double unit = units_[n_ + m_ + i];
    require(row_rho(l[i] / unit, u[i] / unit, options_) == shared_.rho[i],
            "l, u: entries {} of instance {} are {} and {}, an equality in some instances and none in others",
            i, instance, l[i], u[i]);
  }
}

std::unique_ptr<Workspace> Osqp::make_workspace() const {
  auto room = std::make_unique<Room>();
  const Index W = width();
  room->q = make_buffer(n_, W);
  room->l = make_buffer(m_, W);
  room->u = make_buffer(m_, W);
  room->cost = Buffer(static_cast<std::size_t>(W), shared_cost_);
  if (system_->own()) {
    room->own = system_->make_numbers();
    std::fill(room->own.sigma.begin(), room->own.sigma.end(), options_.sigma);
    room->units = make_buffer(n_ + 2 * m_, W);
    room->raw_P = make_buffer(system_->P().entries(), W);
    room->raw_A = make_buffer(system_->A().entries(), W);
    room->raw_q = make_buffer(n_, W);
    room->scaling = LaneEquilibration(n_, m_);
  }
  room->difference = make_buffer(m_, W);
  room->x = make_buffer(n_ + m_, W);
  room->scratch = make_buffer(2 * n_ + m_, W);
  room->scratch.resize(room->scratch.size() + static_cast<std::size_t>(system_->scratch_size()));
  if (options_.watches()) {
    if (!system_->own()) room->varied = system_->in_lanes(shared_);
    room->rho = make_buffer(1, W);
    room->before = make_buffer(n_ + 2 * m_, W);
    room->residual = make_buffer(1, W);
  }
  return room;
}

double Osqp::first_rho() const {
  return std::clamp(options_.rho, osqp_smallest_rho, osqp_largest_rho);
}

void Osqp::load(Index first, Index count, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  const Index W = width();
  require(count >= 1 && count <= W && is_within(first, count, instances_),
          "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first, instances_ - 1, W);
  std::array<Index, osqp_most_lanes> instances{};
  for (Index lane = 0; lane < W; ++lane) instances[lane] = first + std::min(lane, count - 1);
  take(instances.data(), room);
  if (system_->own()) system_->factor_again(room.own);
  std::fill(room.rho.begin(), room.rho.end(), first_rho());
  std::fill(room.alpha.begin(), room.alpha.end(), options_.alpha);
  room.step_factors = nullptr;
  room.is_varied = false;
  room.is_stale = false;
}

void Osqp::reload(const Index* instances, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  take(instances, room);
  room.is_stale = system_->own();  // the next step factors, with the rho that it asks for
}

// A reload eliminates for all lanes, a step reads the entries of L twice. Measured: at once where an
// elimination is worth few steps, with a few lanes where it is worth tens of them.
Index Osqp::reload_lanes() const {
  if (!system_->own()) return 1;
  const Index steps = system_->factor_products() / std::max<Index>(1, 2 * system_->factor_entries());
  return std::clamp<Index>(steps / 8, 1, width() / 2);
}

void Osqp::take(const Index* instances, Room& room) const {
  const Index W = width();
  if (!system_->own()) {
    for (Index lane = 0; lane < W; ++lane) {
      if (instances[lane] < 0) continue;
      const double* q = table_row(problem_.q, instances[lane]);
      const double* l = table_row(problem_.l, instances[lane]);
      const double* u = table_row(problem_.u, instances[lane]);
      for (Index i = 0; i < n_; ++i) room.q[i * W + lane] = shared_cost_ * units_[i] * q[i];
      for (Index i = 0; i < m_; ++i) {
        room.l[i * W + lane] = l[i] / units_[n_ + m_ + i];
        room.u[i * W + lane] = u[i] / units_[n_ + m_ + i];
      }
    }
    return;
  }
  for (Index lane = 0; lane < W; ++lane) {
    const Index instance = instances[lane];
    if (instance < 0) continue;
    if (problem_.P.size() > 1 || !room.has_raw_matrices) {
      gather_values(problem_.P_of(instance), system_->P(), room.raw_P.data() + lane, W);
    }
    if (problem_.A.size() > 1 || !room.has_raw_matrices) {
      gather_values(problem_.A_of(instance), system_->A(), room.raw_A.data() + lane, W);
    }
    const double* q = table_row(problem_.q, instance);
    for (Index i = 0; i < n_; ++i) room.raw_q[i * W + lane] = q[i];
  }
  room.has_raw_matrices = true;
  scale_lanes(room);
  for (Index lane = 0; lane < W; ++lane) {
    if (instances[lane] < 0) continue;
    const double* l = table_row(problem_.l, instances[lane]);
    const double* u = table_row(problem_.u, instances[lane]);
    for (Index i = 0; i < m_; ++i) {
      const double scale = room.scaling.E[i * W + lane];
      const double lower = scale * l[i];
      const double upper = scale * u[i];
      room.l[i * W + lane] = lower;
      room.u[i * W + lane] = upper;
      room.own.rho[i * W + lane] = rho_of(row_kind(lower, upper), first_rho(), options_);
    }
  }
  system_->arrange(room.own);
}

// cost D P D, E A D, cost D q, and what turns states into iterates.
void Osqp::scale_lanes(Room& room) const {
  constexpr int W = 8;
  using L = Lanes<W>;
  const RowPattern& P = system_->P();
  const RowPattern& A = system_->A();
  LaneEquilibration& scaling = room.scaling;
  scaling.equilibrate(P, room.raw_P.data(), A, room.raw_A.data(), room.raw_q.data(), options_.scaling);
  const auto at = [](const Buffer& values, Index i) { return L::load(values.data() + i * W); };
  const L cost = at(scaling.cost, 0);
  cost.store(room.cost.data());
  for (Index i = 0; i < n_; ++i) {
    const L D = at(scaling.D, i);
    D.store(room.units.data() + i * W);
    (cost * D * at(room.raw_q, i)).store(room.q.data() + i * W);
    for (int k = P.start[i]; k < P.start[i + 1]; ++k) {
      (at(room.raw_P, k) * (cost * D * at(scaling.D, P.index[k]))).store(room.own.P.data() + Index{k} * W);
    }
  }
  for (Index i = 0; i < m_; ++i) {
    const L E = at(scaling.E, i);
    (E / cost).store(room.units.data() + (n_ + i) * W);
    (L(1.0) / E).store(room.units.data() + (n_ + m_ + i) * W);
    for (int k = A.start[i]; k < A.start[i + 1]; ++k) {
      (at(room.raw_A, k) * (E * at(scaling.D, A.index[k]))).store(room.own.A.data() + Index{k} * W);
    }
  }
}

void Osqp::reset_notes(Batch z) const {
  if (!options_.watches()) return;
  double* notes = z.row(iterate_size());
  std::fill_n(notes, note_rows * z.width, 0.0);
  std::fill_n(notes + rho_note * z.width, z.width, first_rho());
}

void Osqp::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, iterate_size() * z.width, 0.0);
  reset_notes(z);
}

template <int W, bool Own, bool Scaled, bool Varied>
void Osqp::step_lanes(double* z, Room& room, double* residual) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const SplittingSystem::Numbers& factors =
      factors_of_step<Own, Varied>(numbers, room.varied, room.step_factors);
  const double* rho = factors.rho.data();
  const double* rho_inverse = factors.rho_inverse.data();
  const double* units = Own ? room.units.data() : units_.data();
  const double* q = room.q.data();
  double* x = z;
  double* y = z + n_ * W;
  double* w = z + (n_ + m_) * W;
  double* difference = room.difference.data();
  double* x_tilde = room.x.data();
  // Stores of lanes may be to any object, as compilers see it: members would be read again after each.
  const Index n_all = n_;
  const Index m = m_;
  const double* l = room.l.data();
  const double* u = room.u.data();
  const L sigma(options_.sigma);
  const L alpha = room.alpha.empty() ? L(options_.alpha) : L::load(room.alpha.data());
  const bool kkt = system.kind() == SystemKind::kkt;
  if (kkt) {
    const auto n = static_cast<int>(n_);
    system.solve_kkt<W, Varied>(
        factors,
        [&](int i) __attribute__((always_inline)) {
          const Index place = static_cast<Index>(i) * W;
          if (i < n) return sigma * L::load(x + place) - L::load(q + place);
          return L::load(w + place - n * W) -
                 entry_value<W, Varied>(rho_inverse, i - n) * L::load(y + place - n * W);
        },
        x_tilde);
  } else {
    for (Index i = 0; i < m; ++i) {
      const L value =
          entry_value<W, Varied>(rho, static_cast<int>(i)) * L::load(w + i * W) - L::load(y + i * W);
      value.store(difference + i * W);
    }
    const RowPattern& At = system.A_transposed();
    const double* At_values = numbers.A_transposed.data();
    system.solve<W, Varied>(
        factors,
        [&](int i) __attribute__((always_inline)) {
          L sum = sigma * L::load(x + static_cast<Index>(i) * W) - L::load(q + static_cast<Index>(i) * W);
          add_row_product<W, Own>(At, At_values, i, difference, sum);
          return sum;
        },
        x_tilde, room.scratch.data());
  }
  L squares(0.0);
  for (Index i = 0; i < n_all; ++i) {
    const L change = alpha * (L::load(x_tilde + i * W) - L::load(x + i * W));
    (L::load(x + i * W) + change).store(x + i * W);
    if constexpr (Scaled) {
      const L own_units = change * entry_value<W, Own>(units, static_cast<int>(i));
      squares.add_product(own_units, own_units);
    } else {
      squares.add_product(change, change);
    }
  }
  const RowPattern& A = system.A();
  const double* A_values = numbers.A.data();
  L squares_y(0.0);
  L squares_w(0.0);
  for (Index i = 0; i < m; ++i) {
    const L w_old = L::load(w + i * W);
    const L y_old = L::load(y + i * W);
    const L step_size = entry_value<W, Varied>(rho, static_cast<int>(i));
    const L inverse_step_size = entry_value<W, Varied>(rho_inverse, static_cast<int>(i));
    L w_tilde(0.0);
    if (kkt) {  // A x~ = w + R^{-1} (nu - y)
      w_tilde = w_old + inverse_step_size * (L::load(x_tilde + (n_all + i) * W) - y_old);
    } else {
      add_row_product<W, Own>(A, A_values, i, x_tilde, w_tilde);
    }
    const L relaxed = w_old + alpha * (w_tilde - w_old);
    const L target = relaxed + inverse_step_size * y_old;
    const L w_new = min(max(target, L::load(l + i * W)), L::load(u + i * W));
    const L y_new = y_old + step_size * (relaxed - w_new);
    w_new.store(w + i * W);
    y_new.store(y + i * W);
    L y_change = y_new - y_old;
    L w_change = w_new - w_old;
    if constexpr (Scaled) {
      y_change *= entry_value<W, Own>(units, static_cast<int>(n_all + i));
      w_change *= entry_value<W, Own>(units, static_cast<int>(n_all + m + i));
    }
    squares_y.add_product(y_change, y_change);
    squares_w.add_product(w_change, w_change);
  }
  if (residual != nullptr) sqrt(squares + squares_y + squares_w).store(residual);
}

/// The step where A is the identity and K a Kronecker system, in one pass before and one after the solve.
template <bool SharedBounds>
void Osqp::step_identity(double* z, Room& room, double* residual) const {
  constexpr int W = 8;
  using L = Lanes<W>;
  const Index n = n_;
  const double* q = room.q.data();
  double* x = z;
  double* y = z + n * W;
  double* w = z + 2 * n * W;
  const L sigma(options_.sigma);
  const L alpha(options_.alpha);
  const L rho(shared_.rho[0]);
  const L rho_inverse(shared_.rho_inverse[0]);
  const double* l = SharedBounds ? problem_.l.data() : room.l.data();
  const double* u = SharedBounds ? problem_.u.data() : room.u.data();
  L squares(0.0);
  shared_.kronecker->solve_through(
      [&](Index i) __attribute__((always_inline)) {
        return (sigma * L::load(x + i * W) - L::load(q + i * W)) +
               (rho * L::load(w + i * W) - L::load(y + i * W));
      },
      [&](Index i, const L& x_tilde) __attribute__((always_inline)) {
        const L x_old = L::load(x + i * W);
        const L w_old = L::load(w + i * W);
        const L y_old = L::load(y + i * W);
        const L x_change = alpha * (x_tilde - x_old);
        const L relaxed = w_old + alpha * (x_tilde - w_old);
        const L target = relaxed + rho_inverse * y_old;
        const L w_new = min(max(target, entry_value<W, !SharedBounds>(l, static_cast<int>(i))),
                            entry_value<W, !SharedBounds>(u, static_cast<int>(i)));
        const L y_change = rho * (relaxed - w_new);
        const L w_change = w_new - w_old;
        (x_old + x_change).store(x + i * W);
        (y_old + y_change).store(y + i * W);
        w_new.store(w + i * W);
        squares.add_product(x_change, x_change);
        squares.add_product(y_change, y_change);
        squares.add_product(w_change, w_change);
      },
      room.scratch.data());
  if (residual != nullptr) sqrt(squares).store(residual);
}

void Osqp::plain_step(double* z, Room& room, double* residual) const {
  if (system_->kind() == SystemKind::kronecker) {
    if (problem_.l.rows() == 1 && problem_.u.rows() == 1) {
      step_identity<true>(z, room, residual);
    } else {
      step_identity<false>(z, room, residual);
    }
    return;
  }
  if (room.is_varied) {
    scaled_ ? step_lanes<8, false, true, true>(z, room, residual)
            : step_lanes<8, false, false, true>(z, room, residual);
    return;
  }
  with_lanes([&](auto W, auto own, auto scaled) {
    step_lanes<decltype(W)::value, decltype(own)::value, decltype(scaled)::value>(z, room, residual);
  });
}

void Osqp::step(Index /*k*/, Batch z, Workspace& workspace, double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  if (options_.watches()) {
    watched_step(z, room, residual);
  } else {
    plain_step(z.data, room, residual);
  }
}

void Osqp::read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const {
  const Index W = z.width;
  if (!scaled_) {
    std::copy_n(z.row(first), count * W, out);
    return;
  }
  const auto& room = static_cast<const Room&>(workspace);
  for (Index i = first; i < first + count; ++i) {
    for (Index lane = 0; lane < W; ++lane) {
      out[(i - first) * W + lane] = z.row(i)[lane] * (system_->own() ? room.units[i * W + lane] : units_[i]);
    }
  }
}

void Osqp::write(ConstBatch iterate, Workspace& workspace, Batch z) const {
  const auto& room = static_cast<const Room&>(workspace);
  const Index W = z.width;
  reset_notes(z);
  for (Index i = 0; i < iterate_size(); ++i) {
    for (Index lane = 0; lane < W; ++lane) {
      const double unit = !scaled_ ? 1.0 : system_->own() ? room.units[i * W + lane] : units_[i];
      z.row(i)[lane] = iterate.row(i)[lane] / unit;
    }
  }
}

}  // namespace surefoot::algorithms
