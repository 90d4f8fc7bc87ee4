#include "surefoot/algorithms/osqp.hpp"

#include "surefoot/algorithms/equilibration.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace surefoot::algorithms {

using problems::Qp;
using problems::SparseMatrix;
using problems::table_row;
using problems::Vector;

namespace {

// Constants of the solver.
constexpr double rho_smallest = 1e-6;
constexpr double rho_largest = 1e6;
constexpr double equality_width = 1e-4;
constexpr double loose_bound = 1e30 * 1e-4;

enum class RowKind { loose, inequality, equality };

RowKind kind_of(double lower, double upper) {
  if (lower < -loose_bound && upper > loose_bound) return RowKind::loose;
  if (upper - lower < equality_width) return RowKind::equality;
  return RowKind::inequality;
}

bool same_kinds_everywhere(const Qp& problem, const Vector& E) {
  const Index rows = std::max(problem.l.rows(), problem.u.rows());
  for (Index row = 0; row < problem.constraints(); ++row) {
    const RowKind first = kind_of(E[row] * problem.l(0, row), E[row] * problem.u(0, row));
    for (Index i = 1; i < rows; ++i) {
      if (kind_of(E[row] * table_row(problem.l, i)[row], E[row] * table_row(problem.u, i)[row]) != first) {
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

double row_rho(double lower, double upper, const OsqpOptions& options) {
  const RowKind kind = kind_of(lower, upper);
  const double rho = std::clamp(options.rho, rho_smallest, rho_largest);
  if (kind == RowKind::equality) return options.equality_factor * rho;
  if (kind == RowKind::loose && options.loose_rho > 0) return options.loose_rho;
  return rho;
}

OsqpOptions OsqpOptions::paper() {
  OsqpOptions options;
  options.rho = options.sigma = options.alpha = 1;
  options.equality_factor = 1;
  options.loose_rho = 0;
  options.scaling = 0;
  return options;
}

// Taken apart by all fields, so that a new one cannot be left out unseen.
Settings settings_of(const OsqpOptions& options) {
  const auto& [rho, sigma, alpha, equality_factor, loose_rho, scaling, scale_each, reference_q, system] =
      options;
  return {{"solver", "OSQP"},
          {"settings", Settings{{"rho", rho},
                                {"sigma", sigma},
                                {"alpha", alpha},
                                {"equality_factor", equality_factor},
                                {"loose_rho", loose_rho},
                                {"scaling", scaling},
                                {"scale_each", scale_each},
                                {"reference_q", std::vector<double>(reference_q.begin(), reference_q.end())},
                                {"system", setting_of(system)},
                                {"adaptive_rho", false}}}};
}

void OsqpOptions::validate() const {
  require(std::isfinite(rho) && rho > 0, "rho: is {}, must be > 0", rho);
  require(std::isfinite(sigma) && sigma > 0, "sigma: is {}, must be > 0", sigma);
  require(alpha > 0 && alpha < 2, "alpha: is {}, must be in (0, 2)", alpha);
  require(std::isfinite(equality_factor) && equality_factor > 0, "equality_factor: is {}, must be > 0",
          equality_factor);
  require(std::isfinite(loose_rho) && loose_rho >= 0, "loose_rho: is {}, must be >= 0", loose_rho);
  require(scaling >= 0 && scaling <= 1000, "scaling: is {}, must be in 0 .. 1000", scaling);
}

/// Data of a block in lane layout, and room to compute.
struct Osqp::Room final : Workspace {
  Buffer q, l, u;                // scaled
  Buffer units;                  // n + 2m: what turns a state into an iterate, if each instance's own
  Buffer cost;                   // one per lane
  SplittingSystem::Numbers own;  // if own
  Buffer difference;             // m: R w - y, or w~ of the kkt kind
  Buffer x;                      // n + m: x~, and the multipliers nu of the kkt kind
  Buffer scratch;
  Buffer ahead;  // n + 2m, made by the first vjp: the state after the step
  Buffer back;   // n: right-hand side of the transposed solve
  Index count = 0;
};

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
  if (scaled_ && options_.scale_each) {
    own = own || instances_ > 1;
  }
  if (scaled_ && !own) {
    Vector q = options_.reference_q.size() > 0 ? options_.reference_q : Vector(Vector::Zero(n_));
    if (options_.scale_each) q = Eigen::Map<const Vector>(problem_.q.data(), n_);  // a single instance
    scaling = equilibrate(problem_.P[0], problem_.A[0], q.data(), options_.scaling);
  }
  const bool kinds_matter = options_.equality_factor != 1 || options_.loose_rho != 0;
  if (!own && kinds_matter && !same_kinds_everywhere(problem_, scaling.E)) {
    require(!scaled_, "l, u: equality rows differ between instances; set scale_each");
    own = true;
  }
  std::optional<SystemKind> kind = options_.system;
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
  shared_cost_ = scaling.cost;
  units_ = make_buffer(n_ + 2 * m_, 1);
  for (Index i = 0; i < n_; ++i) units_[i] = scaling.D[i];
  for (Index i = 0; i < m_; ++i) units_[n_ + i] = scaling.E[i] / scaling.cost;
  for (Index i = 0; i < m_; ++i) units_[n_ + m_ + i] = 1 / scaling.E[i];
}

Osqp::~Osqp() = default;

std::unique_ptr<Workspace> Osqp::make_workspace() const {
  auto room = std::make_unique<Room>();
  const Index W = width();
  room->q = make_buffer(n_, W);
  room->l = make_buffer(m_, W);
  room->u = make_buffer(m_, W);
  room->cost = Buffer(static_cast<std::size_t>(W), shared_cost_);
  if (system_->own()) {
    room->own = system_->make_numbers();
    room->units = make_buffer(n_ + 2 * m_, W);
  }
  room->difference = make_buffer(m_, W);
  room->x = make_buffer(n_ + m_, W);
  room->scratch = make_buffer(2 * n_ + m_, W);
  room->scratch.resize(room->scratch.size() + static_cast<std::size_t>(system_->scratch_size()));
  return room;
}

void Osqp::load(Index first, Index count, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  const Index W = width();
  require(count >= 1 && count <= W && is_within(first, count, instances_),
          "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first, instances_ - 1, W);
  room.count = count;
  for (Index lane = 0; lane < W; ++lane) {
    const Index instance = first + std::min(lane, count - 1);
    const double* q = table_row(problem_.q, instance);
    const double* l = table_row(problem_.l, instance);
    const double* u = table_row(problem_.u, instance);
    if (!system_->own()) {
      for (Index i = 0; i < n_; ++i) room.q[i * W + lane] = shared_cost_ * units_[i] * q[i];
      for (Index i = 0; i < m_; ++i) {
        room.l[i * W + lane] = l[i] / units_[n_ + m_ + i];
        room.u[i * W + lane] = u[i] / units_[n_ + m_ + i];
      }
      continue;
    }
    const SparseMatrix& P = problem_.P_of(instance);
    const SparseMatrix& A = problem_.A_of(instance);
    const Equilibration scaling = equilibrate(P, A, q, options_.scaling);
    gather_values(scaled_matrix(P, scaling.D, scaling.D, scaling.cost), system_->P(),
                  room.own.P.data() + lane, W);
    gather_values(scaled_matrix(A, scaling.E, scaling.D, 1.0), system_->A(), room.own.A.data() + lane, W);
    room.cost[lane] = scaling.cost;
    for (Index i = 0; i < n_; ++i) {
      room.units[i * W + lane] = scaling.D[i];
      room.q[i * W + lane] = scaling.cost * scaling.D[i] * q[i];
      room.own.sigma[i * W + lane] = options_.sigma;
    }
    for (Index i = 0; i < m_; ++i) {
      room.units[(n_ + i) * W + lane] = scaling.E[i] / scaling.cost;
      room.units[(n_ + m_ + i) * W + lane] = 1 / scaling.E[i];
      const double lower = scaling.E[i] * l[i];
      const double upper = scaling.E[i] * u[i];
      room.l[i * W + lane] = lower;
      room.u[i * W + lane] = upper;
      room.own.rho[i * W + lane] = row_rho(lower, upper, options_);
    }
  }
  if (system_->own()) system_->factor(room.own);
}

void Osqp::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, z.rows * z.width, 0.0);
}

template <class Call>
void Osqp::with_lanes(const Call& call) const {
  using Yes = std::true_type;
  using No = std::false_type;
  if (system_->kind() == SystemKind::dense) {
    const std::integral_constant<int, 16> W;
    scaled_ ? call(W, No{}, Yes{}) : call(W, No{}, No{});
  } else {
    const std::integral_constant<int, 8> W;
    if (system_->own()) {
      scaled_ ? call(W, Yes{}, Yes{}) : call(W, Yes{}, No{});
    } else {
      scaled_ ? call(W, No{}, Yes{}) : call(W, No{}, No{});
    }
  }
}

template <int W, bool Own, bool Scaled>
void Osqp::step_lanes(double* z, Room& room, double* residual) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const double* rho = numbers.rho.data();
  const double* rho_inverse = numbers.rho_inverse.data();
  const double* units = Own ? room.units.data() : units_.data();
  const double* q = room.q.data();
  double* x = z;
  double* y = z + n_ * W;
  double* w = z + (n_ + m_) * W;
  double* difference = room.difference.data();
  double* x_tilde = room.x.data();
  const L sigma(options_.sigma);
  const L alpha(options_.alpha);
  const bool kkt = system.kind() == SystemKind::kkt;
  if (kkt) {
    const auto n = static_cast<int>(n_);
    system.solve_kkt<W, Own>(
        numbers,
        [&](int i) __attribute__((always_inline)) {
          const Index place = static_cast<Index>(i) * W;
          if (i < n) return sigma * L::load(x + place) - L::load(q + place);
          return L::load(w + place - n * W) -
                 entry_value<W, Own>(rho_inverse, i - n) * L::load(y + place - n * W);
        },
        x_tilde);
    // A x~ = w + R^{-1} (nu - y).
    for (Index i = 0; i < m_; ++i) {
      const L correction = L::load(x_tilde + (n_ + i) * W) - L::load(y + i * W);
      (L::load(w + i * W) + entry_value<W, Own>(rho_inverse, static_cast<int>(i)) * correction)
          .store(difference + i * W);
    }
  } else {
    for (Index i = 0; i < m_; ++i) {
      const L value = entry_value<W, Own>(rho, static_cast<int>(i)) * L::load(w + i * W) - L::load(y + i * W);
      value.store(difference + i * W);
    }
    const RowPattern& At = system.A_transposed();
    const double* At_values = numbers.A_transposed.data();
    system.solve<W, Own>(
        numbers,
        [&](int i) __attribute__((always_inline)) {
          L sum = sigma * L::load(x + static_cast<Index>(i) * W) - L::load(q + static_cast<Index>(i) * W);
          add_row_product<W, Own>(At, At_values, i, difference, sum);
          return sum;
        },
        x_tilde, room.scratch.data());
  }
  L squares(0.0);
  for (Index i = 0; i < n_; ++i) {
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
  for (Index i = 0; i < m_; ++i) {
    L w_tilde(0.0);
    if (kkt) {
      w_tilde = L::load(difference + i * W);
    } else {
      add_row_product<W, Own>(A, A_values, i, x_tilde, w_tilde);
    }
    const L w_old = L::load(w + i * W);
    const L y_old = L::load(y + i * W);
    const L step_size = entry_value<W, Own>(rho, static_cast<int>(i));
    const L relaxed = w_old + alpha * (w_tilde - w_old);
    const L target = relaxed + entry_value<W, Own>(rho_inverse, static_cast<int>(i)) * y_old;
    const L w_new = min(max(target, L::load(room.l.data() + i * W)), L::load(room.u.data() + i * W));
    const L y_new = y_old + step_size * (relaxed - w_new);
    w_new.store(w + i * W);
    y_new.store(y + i * W);
    L y_change = y_new - y_old;
    L w_change = w_new - w_old;
    if constexpr (Scaled) {
      y_change *= entry_value<W, Own>(units, static_cast<int>(n_ + i));
      w_change *= entry_value<W, Own>(units, static_cast<int>(n_ + m_ + i));
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

void Osqp::step(Index /*k*/, Batch z, Workspace& workspace, double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  if (system_->kind() == SystemKind::kronecker) {
    if (problem_.l.rows() == 1 && problem_.u.rows() == 1) {
      step_identity<true>(z.data, room, residual);
    } else {
      step_identity<false>(z.data, room, residual);
    }
    return;
  }
  with_lanes([&](auto W, auto own, auto scaled) {
    step_lanes<decltype(W)::value, decltype(own)::value, decltype(scaled)::value>(z.data, room, residual);
  });
}

// With (a, b, c) the cotangent of (x+, y+, w+) and e = c - R b where w+ was not clipped, else 0:
//   v = R b + e,   g = K^{-1} (alpha a + alpha A'v),
//   d x = (1 - alpha) a + sigma g,   d y = b + R^{-1} e - A g,   d w = (1 - alpha) v + R A g.
template <int W, bool Own>
void Osqp::vjp_lanes(const double* w_new, double* cotangent, Room& room) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  double* a = cotangent;
  double* b = cotangent + n_ * W;
  double* c = cotangent + (n_ + m_) * W;
  double* v = room.difference.data();
  double* back = room.back.data();
  double* g = room.x.data();
  const L alpha(options_.alpha);
  const L rest(1 - options_.alpha);
  const L sigma(options_.sigma);
  for (Index i = 0; i < m_; ++i) {
    const L rho = entry_value<W, Own>(numbers.rho.data(), static_cast<int>(i));
    const L point = L::load(w_new + i * W);
    const L by_y = L::load(b + i * W);
    const L free = L::load(c + i * W) - rho * by_y;
    const L above = where_greater(point, L::load(room.l.data() + i * W), free, L(0.0));
    const L inside = where_greater(L::load(room.u.data() + i * W), point, above, L(0.0));
    const L by_v = rho * by_y + inside;
    (by_y + entry_value<W, Own>(numbers.rho_inverse.data(), static_cast<int>(i)) * inside).store(b + i * W);
    (rest * by_v).store(c + i * W);
    by_v.store(v + i * W);
  }
  for (Index i = 0; i < n_; ++i) {
    L sum = L::load(a + i * W);
    add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), i, v, sum);
    (alpha * sum).store(back + i * W);
  }
  if (system.kind() == SystemKind::kkt) {
    const auto n = static_cast<int>(n_);
    system.solve_kkt<W, Own>(
        numbers, [&](int i) { return i < n ? L::load(back + static_cast<Index>(i) * W) : L(0.0); }, g);
  } else {
    system.solve<W, Own>(
        numbers, [&](int i) { return L::load(back + static_cast<Index>(i) * W); }, g, room.scratch.data());
  }
  for (Index i = 0; i < n_; ++i) (rest * L::load(a + i * W) + sigma * L::load(g + i * W)).store(a + i * W);
  for (Index i = 0; i < m_; ++i) {
    L product(0.0);
    add_row_product<W, Own>(system.A(), numbers.A.data(), i, g, product);
    (L::load(b + i * W) - product).store(b + i * W);
    (L::load(c + i * W) + entry_value<W, Own>(numbers.rho.data(), static_cast<int>(i)) * product)
        .store(c + i * W);
  }
}

void Osqp::step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  if (room.ahead.empty()) {
    room.ahead = make_buffer(n_ + 2 * m_, width());
    room.back = make_buffer(n_, width());
  }
  std::copy_n(z.data, z.rows * z.width, room.ahead.data());
  step(k, {room.ahead.data(), z.rows, z.width}, workspace, nullptr);
  with_lanes([&](auto W, auto own, auto) {
    vjp_lanes<decltype(W)::value, decltype(own)::value>(room.ahead.data() + (n_ + m_) * decltype(W)::value,
                                                        cotangent.data, room);
  });
}

void Osqp::start_from(ConstBatch numbers, Batch z, Workspace& workspace) const {
  const auto& room = static_cast<const Room&>(workspace);
  std::copy_n(numbers.data, n_ * z.width, z.data);
  with_lanes([&](auto width_constant, auto own, auto) {
    constexpr int W = decltype(width_constant)::value;
    constexpr bool Own = decltype(own)::value;
    using L = Lanes<W>;
    const double* rho = (Own ? room.own : shared_).rho.data();
    for (Index i = 0; i < m_; ++i) {
      const L v = L::load(numbers.row(n_ + i));
      const L w = min(L::load(room.u.data() + i * W), max(L::load(room.l.data() + i * W), v));
      (entry_value<W, Own>(rho, static_cast<int>(i)) * (v - w)).store(z.row(n_ + i));
      w.store(z.row(n_ + m_ + i));
    }
  });
}

void Osqp::start_from_vjp(ConstBatch numbers, ConstBatch cotangent, Batch derivative,
                          Workspace& workspace) const {
  const auto& room = static_cast<const Room&>(workspace);
  std::copy_n(cotangent.data, n_ * cotangent.width, derivative.data);
  with_lanes([&](auto width_constant, auto own, auto) {
    constexpr int W = decltype(width_constant)::value;
    constexpr bool Own = decltype(own)::value;
    using L = Lanes<W>;
    const double* rho = (Own ? room.own : shared_).rho.data();
    for (Index i = 0; i < m_; ++i) {
      const L v = L::load(numbers.row(n_ + i));
      const L by_w = L::load(cotangent.row(n_ + m_ + i));
      const L clipped = entry_value<W, Own>(rho, static_cast<int>(i)) * L::load(cotangent.row(n_ + i));
      const L above = where_greater(v, L::load(room.l.data() + i * W), by_w, clipped);
      where_greater(L::load(room.u.data() + i * W), v, above, clipped).store(derivative.row(n_ + i));
    }
  });
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
  for (Index i = 0; i < z.rows; ++i) {
    for (Index lane = 0; lane < W; ++lane) {
      const double unit = !scaled_ ? 1.0 : system_->own() ? room.units[i * W + lane] : units_[i];
      z.row(i)[lane] = iterate.row(i)[lane] / unit;
    }
  }
}

template <int W, bool Own, bool Scaled>
void Osqp::measure_lanes(Quantity quantity, const double* z, Room& room, double* value) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const double* units = Own ? room.units.data() : units_.data();
  const double* x = z;
  const double* y = z + n_ * W;
  const double* w = z + (n_ + m_) * W;
  const L cost = L::load(room.cost.data());
  L result(0.0);
  if (quantity == Quantity::objective || quantity == Quantity::dual_residual) {
    double* Px = room.x.data();
    system.multiply_P<W, Own>(numbers, x, Px, room.scratch.data());
    for (Index i = 0; i < n_; ++i) {
      const L q = L::load(room.q.data() + i * W);
      L gradient = L::load(Px + i * W);
      if (quantity == Quantity::objective) {
        result.add_product(L::load(x + i * W), L(0.5) * gradient + q);
      } else {
        gradient += q;
        add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), i, y, gradient);
        gradient = gradient / (cost * entry_value<W, Own>(units, static_cast<int>(i)));
        result.add_product(gradient, gradient);
      }
    }
    result = quantity == Quantity::objective ? result / cost : sqrt(result);
  } else {
    L poison(0.0);
    for (Index i = 0; i < m_; ++i) {
      L product(0.0);
      add_row_product<W, Own>(system.A(), numbers.A.data(), i, x, product);
      const L unit = entry_value<W, Own>(units, static_cast<int>(n_ + m_ + i));
      if (quantity == Quantity::primal_residual) {
        const L gap = (product - L::load(w + i * W)) * unit;
        result.add_product(gap, gap);
      } else {
        const L below = (L::load(room.l.data() + i * W) - product) * unit;
        const L above = (product - L::load(room.u.data() + i * W)) * unit;
        result = max(result, max(above, below));
        poison.add_product(L(0.0), product);  // a running maximum passes over NaN
      }
    }
    result = quantity == Quantity::primal_residual ? sqrt(result) : result + poison;
  }
  result.store(value);
}

void Osqp::measure(Quantity quantity, Index /*k*/, ConstBatch z, Workspace& workspace, double* value) const {
  auto& room = static_cast<Room&>(workspace);
  with_lanes([&](auto W, auto own, auto scaled) {
    const auto one = [&](Quantity wanted, double* numbers) {
      measure_lanes<decltype(W)::value, decltype(own)::value, decltype(scaled)::value>(wanted, z.data, room,
                                                                                       numbers);
    };
    measure_optimality<decltype(W)::value>(quantity, one, value);
  });
}

}  // namespace surefoot::algorithms
