#include "surefoot/algorithms/osqp.hpp"

#include "surefoot/algorithms/detail/equilibration.hpp"
#include "surefoot/algorithms/detail/osqp_stopping.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace surefoot::algorithms {

using problems::Qp;
using problems::SparseMatrix;
using problems::table_row;
using problems::Vector;

namespace {

// Constants of the solver.
constexpr double equality_width = 1e-4;
constexpr double infinite_bound = 1e30;
constexpr double loose_bound = infinite_bound * 1e-4;
constexpr double dead_zone = 1e-15;
constexpr Index most_lanes = 16;

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
  return row_rho(lower, upper, std::clamp(options.rho, osqp_smallest_rho, osqp_largest_rho), options);
}

double row_rho(double lower, double upper, double rho, const OsqpOptions& options) {
  const RowKind kind = kind_of(lower, upper);
  if (kind == RowKind::equality) return options.equality_factor * rho;
  if (kind == RowKind::loose && options.loose_rho > 0) return options.loose_rho;
  return rho;
}

OsqpOptions OsqpOptions::defaults() {
  OsqpOptions options;
  options.adaptive_rho = true;
  options.check_termination = 25;
  return options;
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
  const auto& [rho, sigma, alpha, equality_factor, loose_rho, scaling, scale_each, reference_q, system,
               adaptive_rho, adaptive_rho_interval, adaptive_rho_tolerance, check_termination, eps_abs,
               eps_rel, eps_prim_inf, eps_dual_inf, check_dualgap, scaled_termination, max_iter, stop] =
      options;
  Settings own{{"rho", rho},
               {"sigma", sigma},
               {"alpha", alpha},
               {"equality_factor", equality_factor},
               {"loose_rho", loose_rho},
               {"scaling", scaling},
               {"scale_each", scale_each},
               {"reference_q", std::vector<double>(reference_q.begin(), reference_q.end())},
               {"system", setting_of(system)},
               {"adaptive_rho", adaptive_rho}};
  const OsqpOptions usual;
  const bool own_tolerances =
      eps_abs != usual.eps_abs || eps_rel != usual.eps_rel || scaled_termination != usual.scaled_termination;
  if (!options.watches() && !own_tolerances) return {{"solver", "OSQP"}, {"settings", own}};
  const Settings others{{"adaptive_rho_interval", adaptive_rho_interval},
                        {"adaptive_rho_tolerance", adaptive_rho_tolerance},
                        {"check_termination", check_termination},
                        {"eps_abs", eps_abs},
                        {"eps_rel", eps_rel},
                        {"eps_prim_inf", eps_prim_inf},
                        {"eps_dual_inf", eps_dual_inf},
                        {"check_dualgap", check_dualgap},
                        {"scaled_termination", scaled_termination},
                        {"max_iter", max_iter},
                        {"stop", stop}};
  own.insert(own.end(), others.begin(), others.end());
  return {{"solver", "OSQP"}, {"settings", own}, {"package", std::string(emulated_osqp)}};
}

void OsqpOptions::validate() const {
  require(std::isfinite(rho) && rho > 0, "rho: is {}, must be > 0", rho);
  require(std::isfinite(sigma) && sigma > 0, "sigma: is {}, must be > 0", sigma);
  require(alpha > 0 && alpha < 2, "alpha: is {}, must be in (0, 2)", alpha);
  require(std::isfinite(equality_factor) && equality_factor > 0, "equality_factor: is {}, must be > 0",
          equality_factor);
  require(std::isfinite(loose_rho) && loose_rho >= 0, "loose_rho: is {}, must be >= 0", loose_rho);
  require(scaling >= 0 && scaling <= 1000, "scaling: is {}, must be in 0 .. 1000", scaling);
  require(adaptive_rho_interval >= 0, "adaptive_rho_interval: is {}, must be >= 0", adaptive_rho_interval);
  require(std::isfinite(adaptive_rho_tolerance) && adaptive_rho_tolerance >= 1,
          "adaptive_rho_tolerance: is {}, must be >= 1", adaptive_rho_tolerance);
  require(check_termination >= 0, "check_termination: is {}, must be >= 0", check_termination);
  require(std::isfinite(eps_abs) && eps_abs >= 0, "eps_abs: is {}, must be >= 0", eps_abs);
  require(std::isfinite(eps_rel) && eps_rel >= 0, "eps_rel: is {}, must be >= 0", eps_rel);
  require(eps_abs > 0 || eps_rel > 0, "eps_abs, eps_rel: both are 0, one must be > 0");
  require(std::isfinite(eps_prim_inf) && eps_prim_inf > 0, "eps_prim_inf: is {}, must be > 0", eps_prim_inf);
  require(std::isfinite(eps_dual_inf) && eps_dual_inf > 0, "eps_dual_inf: is {}, must be > 0", eps_dual_inf);
  require(max_iter >= 1, "max_iter: is {}, must be >= 1", max_iter);
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
  // With adaptive rho or a stopping test:
  SplittingSystem::Numbers varied;  // shared matrices with each lane's own rho
  bool is_varied = false;           // whether the lanes use it
  Buffer rho;                       // one per lane: of the factors
  Buffer before;                    // n + 2m: the iterate before the step
  Buffer residual;                  // one per lane
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
  std::fill(room.rho.begin(), room.rho.end(), first_rho());
  room.is_varied = false;
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

template <int W, bool Own, bool Scaled, bool Varied>
void Osqp::step_lanes(double* z, Room& room, double* residual) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const SplittingSystem::Numbers& factors = !Own && Varied ? room.varied : numbers;
  const double* rho = factors.rho.data();
  const double* rho_inverse = factors.rho_inverse.data();
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
    system.solve_kkt<W, Varied>(
        factors,
        [&](int i) __attribute__((always_inline)) {
          const Index place = static_cast<Index>(i) * W;
          if (i < n) return sigma * L::load(x + place) - L::load(q + place);
          return L::load(w + place - n * W) -
                 entry_value<W, Varied>(rho_inverse, i - n) * L::load(y + place - n * W);
        },
        x_tilde);
    // A x~ = w + R^{-1} (nu - y).
    for (Index i = 0; i < m_; ++i) {
      const L correction = L::load(x_tilde + (n_ + i) * W) - L::load(y + i * W);
      (L::load(w + i * W) + entry_value<W, Varied>(rho_inverse, static_cast<int>(i)) * correction)
          .store(difference + i * W);
    }
  } else {
    for (Index i = 0; i < m_; ++i) {
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
    const L step_size = entry_value<W, Varied>(rho, static_cast<int>(i));
    const L relaxed = w_old + alpha * (w_tilde - w_old);
    const L target = relaxed + entry_value<W, Varied>(rho_inverse, static_cast<int>(i)) * y_old;
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

void Osqp::step(Index k, Batch z, Workspace& workspace, double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  if (options_.watches()) {
    watched_step(k + 1, z, room, residual);
  } else {
    plain_step(z.data, room, residual);
  }
}

bool Osqp::tests_after(Index done) const {
  return done == options_.max_iter ||
         (options_.check_termination > 0 && done % options_.check_termination == 0);
}

// Factors for the rho that the state asks for. Lanes whose rho is as before get the same bits again.
void Osqp::follow_rho(const double* rho, Room& room) const {
  const Index W = width();
  if (std::memcmp(rho, room.rho.data(), static_cast<std::size_t>(W) * sizeof(double)) == 0) return;
  std::copy_n(rho, W, room.rho.data());
  const bool own = system_->own();
  room.is_varied = !own && std::any_of(rho, rho + W, [&](double value) { return value != first_rho(); });
  if (!own && !room.is_varied) return;
  SplittingSystem::Numbers& numbers = own ? room.own : room.varied;
  for (Index i = 0; i < m_; ++i) {
    for (Index lane = 0; lane < W; ++lane) {
      numbers.rho[i * W + lane] = row_rho(room.l[i * W + lane], room.u[i * W + lane], rho[lane], options_);
    }
  }
  system_->factor_again(numbers);
}

void Osqp::watched_step(Index done, Batch z, Room& room, double* residual) const {
  const Index W = z.width;
  double* notes = z.row(iterate_size());
  double* held = notes + residual_note * W;
  const double* status = notes + status_note * W;
  std::array<bool, most_lanes> ended{};
  Index ended_lanes = 0;
  for (Index lane = 0; lane < W; ++lane) {
    ended[lane] = options_.stop && status[lane] != 0;
    ended_lanes += ended[lane] ? 1 : 0;
  }
  if (ended_lanes < W) {
    follow_rho(notes + rho_note * W, room);
    if (ended_lanes > 0 || tests_after(done)) std::copy_n(z.data, iterate_size() * W, room.before.data());
    plain_step(z.data, room, room.residual.data());
    for (Index i = 0; ended_lanes > 0 && i < iterate_size(); ++i) {
      for (Index lane = 0; lane < W; ++lane) {
        if (ended[lane]) z.row(i)[lane] = room.before[i * W + lane];
      }
    }
    for (Index lane = 0; lane < W; ++lane) {
      double seen = 0;  // a note that is not a number ends the run as one of the iterate does
      for (Index i = 0; i < note_rows; ++i) seen += 0 * notes[i * W + lane];
      held[lane] = (ended[lane] ? held[lane] : room.residual[lane]) + seen;
    }
    watch(done, z, room);
  }
  if (residual != nullptr) std::copy_n(held, W, residual);
}

// In the order of the package: the stopping test, then rho.
void Osqp::watch(Index done, Batch z, Room& room) const {
  const Index W = z.width;
  double* notes = z.row(iterate_size());
  const double* status = notes + status_note * W;
  const bool tests =
      tests_after(done) && std::any_of(status, status + W, [](double value) { return value == 0; });
  const Index interval = options_.adaptive_rho_interval > 0 ? options_.adaptive_rho_interval
                         : options_.check_termination > 0   ? 4 * options_.check_termination
                                                            : 100;
  const bool adapts = options_.adaptive_rho && done % interval == 0;
  if (!tests && !adapts) return;
  std::array<OsqpSurvey, most_lanes> surveys;
  with_lanes([&](auto lanes, auto own, auto scaled) {
    survey_lanes<decltype(lanes)::value, decltype(own)::value, decltype(scaled)::value>(z.data, room,
                                                                                        surveys.data());
  });
  if (tests) test_for_end(done, z, room, surveys.data());
  if (!adapts) return;
  for (Index lane = 0; lane < W; ++lane) {
    if (options_.stop && status[lane] != 0) continue;
    double& rho = notes[rho_note * W + lane];
    const double estimate = rho_estimate(rho, surveys[lane].scaled);
    if (estimate > rho * options_.adaptive_rho_tolerance ||
        estimate < rho / options_.adaptive_rho_tolerance) {
      rho = estimate;
      notes[updates_note * W + lane] += 1;
    }
  }
}

void Osqp::test_for_end(Index done, Batch z, Room& room, const OsqpSurvey* surveys) const {
  const Index W = z.width;
  double* notes = z.row(iterate_size());
  std::array<OsqpDirection, most_lanes> directions;
  const bool last = done == options_.max_iter;
  bool pass = true;
  for (Index lane = 0; lane < W; ++lane) {
    pass = pass && (notes[status_note * W + lane] != 0 || residuals_pass(surveys[lane], options_));
  }
  if (!pass) {
    with_lanes([&](auto lanes, auto own, auto scaled) {
      direction_lanes<decltype(lanes)::value, decltype(own)::value, decltype(scaled)::value>(
          z.data, room, directions.data());
    });
  }
  for (Index lane = 0; lane < W; ++lane) {
    if (notes[status_note * W + lane] != 0) continue;
    const OsqpSurvey& survey = surveys[lane];
    SolverStatus status = stopping_test(survey, directions[lane], options_, false);
    if (status == SolverStatus::running && last) {
      status = stopping_test(survey, directions[lane], options_, true);
      if (status == SolverStatus::running) status = SolverStatus::maximum_iterations_reached;
    }
    if (status == SolverStatus::running) continue;
    notes[status_note * W + lane] = static_cast<double>(status);
    notes[iterations_note * W + lane] = static_cast<double>(done);
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
    const L above = where_greater(upper, L(loose_bound), zero, max(multiplier, zero));
    const L below = where_greater(L(-loose_bound), lower, zero, min(multiplier, zero));
    upper_sum.add_product(min(upper, L(infinite_bound)), where_greater(L(dead_zone), above, zero, above));
    lower_sum.add_product(max(lower, L(-infinite_bound)), where_greater(below, L(-dead_zone), zero, below));
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
    const L above = where_greater(upper, L(loose_bound), zero, max(change, zero));
    const L below = where_greater(L(-loose_bound), lower, zero, min(change, zero));
    const L projected = above + below;
    projected.store(dy + i * W);
    grow(size_dy, projected / unit(n_ + m_ + i));
    support.add_product(min(upper, L(infinite_bound)), above);
    support.add_product(max(lower, L(-infinite_bound)), below);
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
    beyond = max(where_greater(L(loose_bound), upper, sum, zero), beyond);
    beyond = max(where_greater(lower, L(-loose_bound), zero - sum, zero), beyond);
  }
  const L cost = L::load(room.cost.data());
  for (int lane = 0; lane < W; ++lane) {
    directions[lane] = {size_dy[lane], support[lane], Atdy[lane],   size_dx[lane],
                        qdx[lane],     Pdx[lane],     beyond[lane], cost[lane]};
  }
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
  reset_notes(z);
  for (Index i = 0; i < iterate_size(); ++i) {
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
  if (quantity == Quantity::unsolved) {
    const double* status = z.row(iterate_size() + status_note);
    for (Index lane = 0; lane < z.width; ++lane) {
      value[lane] = status[lane] == static_cast<double>(SolverStatus::solved) ? 0.0 : 1.0;
    }
    return;
  }
  with_lanes([&](auto W, auto own, auto scaled) {
    if (quantity > Quantity::largest_error) {
      std::array<OsqpSurvey, most_lanes> surveys;
      survey_lanes<decltype(W)::value, decltype(own)::value, decltype(scaled)::value>(z.data, room,
                                                                                      surveys.data());
      for (Index lane = 0; lane < z.width; ++lane) {
        value[lane] = reported(quantity, surveys[lane], options_) + surveys[lane].poison;
      }
      return;
    }
    const auto one = [&](Quantity wanted, double* numbers) {
      measure_lanes<decltype(W)::value, decltype(own)::value, decltype(scaled)::value>(wanted, z.data, room,
                                                                                       numbers);
    };
    measure_optimality<decltype(W)::value>(quantity, one, value);
  });
}

}  // namespace surefoot::algorithms
