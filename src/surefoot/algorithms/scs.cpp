#include "surefoot/algorithms/scs.hpp"

#include "surefoot/algorithms/detail/scs_stopping.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

namespace surefoot::algorithms {

using problems::ConeProgram;
using problems::Cones;
using problems::table_row;

/// Data of a block in lane layout, and room to compute.
struct Scs::Room final : Workspace {
  Buffer h;                      // n + m: (c, b)
  Buffer r;                      // n + m
  Buffer g;                      // n + m: R(r - 2 (R + M')^{-1} R r), so that r'R(mu - 2p) = mu'g
  Buffer quadratic;              // one per lane: t + r'Rr
  SplittingSystem::Numbers own;  // if own
  Buffer p;                      // n + m: p, then u~
  Buffer scratch;
  SemidefiniteRoom semidefinite;
  bool keep = false;
  bool stepped = false;
  Buffer kept;          // x, y, s of the last step (n + 2m), divided by tau
  Buffer before;        // n + m + 1, made by the first vjp: the state before the step, rescaled
  Buffer factor;        // one per lane: of the rescaling
  Buffer point;         // n + m: p, then 2u~ - mu
  Buffer back;          // n + m: derivative by p
  Buffer energy_slope;  // n: P p_x
  Buffer projected;     // m: Pi of the point's rows of y
  Buffer by_r;          // n + m: derivative by r
  // Settings and factors of the step, by lane:
  Buffer scale, alpha;
  Buffer next_scale;  // of the next step
  Buffer divisor;     // what tau has divided the kept point by
  const SplittingSystem::Numbers* numbers = nullptr;
  bool in_lanes = false;            // the numbers are
  SplittingSystem::Numbers varied;  // shared matrices with each lane's own scale; made by make_room()
};

Scs::Scs(ConeProgram problem, ScsOptions options) : problem_(std::move(problem)), options_(options) {
  options_.validate();
  require(!options_.watches(),
          "options: normalisation, acceleration, adaptive scale and the stopping test "
          "are of AdaptiveScs");
  problem_.validate();
  instances_ = problem_.instances();
  n_ = problem_.variables();
  m_ = problem_.constraints();
  const bool own = problem_.P.size() > 1 || problem_.A.size() > 1;
  require(options_.system != SystemKind::kronecker, "system: cone programs have no kronecker kind");
  const bool delicate = options_.rho_x < 1e-3 * options_.scale * std::max(1.0, options_.zero_factor);
  system_ = std::make_unique<SplittingSystem>(problem_.P, problem_.A, own, options_.system, delicate);
  for (int i = 0; i < static_cast<int>(n_); ++i) {
    if (system_->P().start[i] < system_->P().start[i + 1]) energetic_.push_back(i);
  }
  if (own) return;
  shared_ = system_->make_numbers();
  gather_values(problem_.P[0], system_->P(), shared_.P.data());
  gather_values(problem_.A[0], system_->A(), shared_.A.data());
  std::fill(shared_.sigma.begin(), shared_.sigma.end(), options_.rho_x);
  for (Index i = 0; i < m_; ++i) {
    shared_.rho[i] = options_.scale * (i < problem_.cones.zero ? options_.zero_factor : 1.0);
  }
  system_->factor(shared_);
}

Scs::~Scs() = default;

std::unique_ptr<Workspace> Scs::make_workspace() const {
  auto room = std::make_unique<Room>();
  const Index W = width();
  room->h = make_buffer(n_ + m_, W);
  room->r = make_buffer(n_ + m_, W);
  room->g = make_buffer(n_ + m_, W);
  room->quadratic = make_buffer(1, W);
  if (system_->own()) room->own = system_->make_numbers();
  room->p = make_buffer(n_ + m_, W);
  room->scratch = make_buffer(n_ + m_, W);
  room->scratch.resize(room->scratch.size() + static_cast<std::size_t>(system_->scratch_size()));
  room->semidefinite = SemidefiniteRoom(problem_.cones, W);
  room->scale = room->next_scale = make_buffer(1, W);
  std::fill(room->scale.begin(), room->scale.end(), options_.scale);
  std::fill(room->next_scale.begin(), room->next_scale.end(), options_.scale);
  room->alpha = room->divisor = make_buffer(1, W);
  std::fill(room->alpha.begin(), room->alpha.end(), options_.alpha);
  return room;
}

template <class Call>
void Scs::with_lanes(const Room& room, const Call& call) const {
  if (system_->kind() == SystemKind::dense) {
    call(std::integral_constant<int, 16>(), std::false_type());
  } else if (room.in_lanes) {
    call(std::integral_constant<int, 8>(), std::true_type());
  } else {
    call(std::integral_constant<int, 8>(), std::false_type());
  }
}

void Scs::load(Index first, Index count, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  const Index W = width();
  require(count >= 1 && count <= W && is_within(first, count, instances_),
          "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first, instances_ - 1, W);
  room.keep = false;
  room.stepped = false;
  room.numbers = system_->own() ? &room.own : &shared_;
  room.in_lanes = system_->own();
  std::fill(room.scale.begin(), room.scale.end(), options_.scale);
  for (Index lane = 0; lane < W; ++lane) {
    const Index instance = first + std::min(lane, count - 1);
    const double* b = table_row(problem_.b, instance);
    const double* c = table_row(problem_.c, instance);
    for (Index i = 0; i < n_; ++i) room.h[i * W + lane] = c[i];
    for (Index i = 0; i < m_; ++i) room.h[(n_ + i) * W + lane] = b[i];
    if (!system_->own()) continue;
    gather_values(problem_.P_of(instance), system_->P(), room.own.P.data() + lane, W);
    gather_values(problem_.A_of(instance), system_->A(), room.own.A.data() + lane, W);
    for (Index i = 0; i < n_; ++i) room.own.sigma[i * W + lane] = options_.rho_x;
    for (Index i = 0; i < m_; ++i) {
      room.own.rho[i * W + lane] = options_.scale * (i < problem_.cones.zero ? options_.zero_factor : 1.0);
    }
  }
  if (system_->own()) system_->factor(room.own);
  with_lanes(room,
             [&](auto lanes, auto own) { load_lanes<decltype(lanes)::value, decltype(own)::value>(room); });
}

/// v in place: (R + M)^{-1} R v for sign = 1, (R + M')^{-1} R v for sign = -1; v is (n + m) x W.
/// K v_x = rho_x v_x - sign A' v_y, then v_y += sign R_y^{-1} A v_x.
template <int W, bool Own>
void Scs::solve_embedding(Room& room, double sign, double* v) const {
  using L = Lanes<W>;
  const SplittingSystem::Numbers& numbers = *room.numbers;
  const L signs(sign);
  const L rho_x(options_.rho_x);
  double* solution = room.p.data();
  if (system_->kind() == SystemKind::kkt) {
    const auto n = static_cast<int>(n_);
    system_->solve_kkt<W, Own>(
        numbers,
        [&](int i) {
          const L value = L::load(v + static_cast<Index>(i) * W);
          if (i < n) return rho_x * value;
          return L(0.0) - signs * entry_value<W, Own>(numbers.rho_inverse.data(), i - n) * value;
        },
        solution);
    for (Index i = 0; i < n_ + m_; ++i) {
      const L value = L::load(solution + i * W);
      (i < n_ ? value : signs * value).store(v + i * W);
    }
    return;
  }
  system_->solve<W, Own>(
      numbers,
      [&](int i) {
        L sum(0.0);
        add_row_product<W, Own>(system_->A_transposed(), numbers.A_transposed.data(), i, v + n_ * W, sum);
        return rho_x * L::load(v + static_cast<Index>(i) * W) - signs * sum;
      },
      solution, room.scratch.data());
  std::copy_n(solution, n_ * W, v);
  for (Index i = 0; i < m_; ++i) {
    L sum(0.0);
    add_row_product<W, Own>(system_->A(), numbers.A.data(), i, v, sum);
    (L::load(v + (n_ + i) * W) + signs * entry_value<W, Own>(numbers.rho.data(), static_cast<int>(i)) * sum)
        .store(v + (n_ + i) * W);
  }
}

/// r = (R + M)^{-1} h, its square, and g.
template <int W, bool Own>
void Scs::load_lanes(Room& room) const {
  using L = Lanes<W>;
  const SplittingSystem::Numbers& numbers = *room.numbers;
  double* r = room.r.data();
  double* g = room.g.data();
  const auto R = [&](Index i) {
    return i < n_ ? L(options_.rho_x)
                  : entry_value<W, Own>(numbers.rho_inverse.data(), static_cast<int>(i - n_));
  };
  for (Index i = 0; i < n_ + m_; ++i) (L::load(room.h.data() + i * W) / R(i)).store(r + i * W);
  solve_embedding<W, Own>(room, 1.0, r);
  std::copy_n(r, (n_ + m_) * W, g);
  solve_embedding<W, Own>(room, -1.0, g);
  L quadratic(options_.tau_factor);
  for (Index i = 0; i < n_ + m_; ++i) {
    const L value = L::load(r + i * W);
    const L s = L::load(g + i * W);
    quadratic.add_product(R(i) * value, value);
    (R(i) * (value - (s + s))).store(g + i * W);
  }
  quadratic.store(room.quadratic.data());
}

void Scs::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, (n_ + m_) * z.width, 0.0);
  std::fill_n(z.row(n_ + m_), z.width, 1.0);
  std::fill_n(z.row(n_ + m_) + z.width, returned_size() * z.width, 0.0);
}

namespace {

/// Brings lanes whose eta has left [2^-10, 2^10] back to the norm sqrt(rows), up to a power of two.
/// `factors`, if not null, receives the power of each lane.
void rescale(double* z, Index rows, Index W, double* factors = nullptr) {
  double* eta = z + (rows - 1) * W;
  for (Index lane = 0; lane < W; ++lane) {
    if (eta[lane] >= 0x1p-10 && eta[lane] <= 0x1p10) continue;
    double squares = 0;
    for (Index i = 0; i < rows; ++i) squares += z[i * W + lane] * z[i * W + lane];
    if (!(squares > 0) || !std::isfinite(squares)) continue;
    const int exponent = std::ilogb(std::sqrt(static_cast<double>(rows) / squares));
    if (exponent >= -1 && exponent <= 1) continue;
    const double factor = std::ldexp(1.0, exponent);
    for (Index i = 0; i < rows; ++i) z[i * W + lane] *= factor;
    if (factors != nullptr) factors[lane] = factor;
  }
}

/// The root t = tau~ >= 0 of a t^2 + b t - energy = 0, each form where it does not cancel, and its
/// discriminant's root 2at + b, which its derivatives are divided by.
template <int W>
struct Homogenising {
  [[gnu::always_inline]] Homogenising(const Lanes<W>& a, const Lanes<W>& b, const Lanes<W>& energy)
      : root(sqrt(b * b + Lanes<W>(4.0) * a * energy)),
        tau_tilde(where_greater(b, Lanes<W>(0.0), (energy + energy) / (b + root), (root - b) / (a + a))) {}
  Lanes<W> root;
  Lanes<W> tau_tilde;
};

}  // namespace

template <int W, bool Own, bool Keep>
void Scs::step_lanes(Index k, double* z, Room& room, [[maybe_unused]] double* kept, double* residual) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = *room.numbers;
  const Cones& cones = problem_.cones;
  if (k > 0) rescale(z, n_ + m_ + 1, W);
  double* mu_x = z;
  double* mu_y = z + n_ * W;
  double* eta_place = z + (n_ + m_) * W;
  double* p_x = room.p.data();
  double* p_y = room.p.data() + n_ * W;
  const double* r_x = room.r.data();
  const double* r_y = room.r.data() + n_ * W;
  const L rho_x(options_.rho_x);
  const L alpha = L::load(room.alpha.data());

  // K p_x = rho_x mu_x - A' mu_y; along the way mu'g.
  const double* g_x = room.g.data();
  const double* g_y = room.g.data() + n_ * W;
  L dot(0.0);
  for (Index i = 0; i < m_; ++i) dot.add_product(L::load(mu_y + i * W), L::load(g_y + i * W));
  const bool kkt = system.kind() == SystemKind::kkt;
  if (kkt) {
    const auto n = static_cast<int>(n_);
    for (Index i = 0; i < n_; ++i) dot.add_product(L::load(mu_x + i * W), L::load(g_x + i * W));
    system.solve_kkt<W, Own>(
        numbers,
        [&](int i) __attribute__((always_inline)) {
          const L mu = L::load(mu_x + static_cast<Index>(i) * W);
          if (i < n) return rho_x * mu;
          return L(0.0) - entry_value<W, Own>(numbers.rho_inverse.data(), i - n) * mu;
        },
        p_x);
  } else {
    const RowPattern& At = system.A_transposed();
    const double* At_values = numbers.A_transposed.data();
    system.solve<W, Own>(
        numbers,
        [&](int i) __attribute__((always_inline)) {
          const Index place = static_cast<Index>(i) * W;
          const L mu = L::load(mu_x + place);
          dot.add_product(mu, L::load(g_x + place));
          L sum(0.0);
          add_row_product<W, Own>(At, At_values, i, mu_y, sum);
          return rho_x * mu - sum;
        },
        p_x, room.scratch.data());
  }

  // tau~: p'R(p - mu) = -p_x'P p_x, since (R + M) p = R mu and the skew part vanishes.
  const L eta = L::load(eta_place);
  L tau_tilde(1.0);
  if (k > 0) {
    L energy(0.0);
    const RowPattern& P = system.P();
    for (const int i : energetic_) {
      L sum(0.0);
      add_row_product<W, Own>(P, numbers.P.data(), i, p_x, sum);
      energy.add_product(sum, L::load(p_x + static_cast<Index>(i) * W));
    }
    energy = max(energy, L(0.0) * energy);
    tau_tilde =
        Homogenising<W>(L::load(room.quadratic.data()), dot - L(options_.tau_factor) * eta, energy).tau_tilde;
  }
  const L tau = max(L(2.0) * tau_tilde - eta, L(0.0));
  const L eta_new = eta + alpha * (tau - tau_tilde);
  eta_new.store(eta_place);

  const L scale_old = L(1.0) / eta;
  const L scale_new = L(1.0) / eta_new;
  const L divisor = scs_divisor(tau);
  if constexpr (Keep) divisor.store(room.divisor.data());
  [[maybe_unused]] const L inverse_tau = L(1.0) / divisor;
  [[maybe_unused]] double* kept_x = kept;
  [[maybe_unused]] double* kept_y = Keep ? kept + n_ * W : nullptr;
  [[maybe_unused]] double* kept_s = Keep ? kept + (n_ + m_) * W : nullptr;
  const L inverse_other = L::load(room.scale.data());
  const L inverse_zero = inverse_other * L(options_.zero_factor);
  [[maybe_unused]] const L weight_other = L(1.0) / inverse_other;
  L squares(0.0);

  // x: Pi is the identity, so that u - u~ = u~ - mu.
  for (Index i = 0; i < n_; ++i) {
    const L mu = L::load(mu_x + i * W);
    const L u_tilde = L::load(p_x + i * W) - L::load(r_x + i * W) * tau_tilde;
    const L mu_new = mu + alpha * (u_tilde - mu);
    mu_new.store(mu_x + i * W);
    const L change = mu_new * scale_new - mu * scale_old;
    squares.add_product(change, change);
    if constexpr (Keep) ((u_tilde + u_tilde - mu) * inverse_tau).store(kept_x + i * W);
  }
  // y: u~ = p_y - r_y tau~ with p_y = mu_y + R_y^{-1} A p_x, then u = Pi(2u~ - mu).
  const RowPattern& A = system.A();
  const double* A_values = numbers.A.data();
  const auto u_tilde_of = [&](Index i, const L& mu, const L& inverse) __attribute__((always_inline)) {
    if (kkt) return L::load(p_y + i * W) - L::load(r_y + i * W) * tau_tilde;
    L sum(0.0);
    add_row_product<W, Own>(A, A_values, i, p_x, sum);
    return mu + inverse * sum - L::load(r_y + i * W) * tau_tilde;
  };
  const auto finish_row = [&](Index i, const L& mu, const L& u_tilde, const L& u)
      __attribute__((always_inline)) {
    const L mu_new = mu + alpha * (u - u_tilde);
    mu_new.store(mu_y + i * W);
    const L change = mu_new * scale_new - mu * scale_old;
    squares.add_product(change, change);
    if constexpr (Keep) {
      (u * inverse_tau).store(kept_y + i * W);
      (weight_other * (u - (u_tilde + u_tilde - mu)) * inverse_tau).store(kept_s + i * W);
    }
  };
  Index row = 0;
  for (; row < cones.zero; ++row) {
    const L mu = L::load(mu_y + row * W);
    const L u_tilde = u_tilde_of(row, mu, inverse_zero);
    finish_row(row, mu, u_tilde, u_tilde + u_tilde - mu);
  }
  for (; row < cones.zero + cones.nonnegative; ++row) {
    const L mu = L::load(mu_y + row * W);
    const L u_tilde = u_tilde_of(row, mu, inverse_other);
    finish_row(row, mu, u_tilde, max(u_tilde + u_tilde - mu, L(0.0)));
  }
  for (const Index dimension : cones.second_order) {
    const L first_mu = L::load(mu_y + row * W);
    const L first_u = u_tilde_of(row, first_mu, inverse_other);
    L norm(0.0);
    for (Index i = row + 1; i < row + dimension; ++i) {
      const L mu = L::load(mu_y + i * W);
      const L u_tilde = u_tilde_of(i, mu, inverse_other);
      const L point = u_tilde + u_tilde - mu;
      u_tilde.store(p_y + i * W);
      norm.add_product(point, point);
    }
    L top;
    L factor;
    second_order_projection(first_u + first_u - first_mu, sqrt(norm), top, factor);
    finish_row(row, first_mu, first_u, top);
    for (Index i = row + 1; i < row + dimension; ++i) {
      const L mu = L::load(mu_y + i * W);
      const L u_tilde = L::load(p_y + i * W);
      finish_row(i, mu, u_tilde, factor * (u_tilde + u_tilde - mu));
    }
    row += dimension;
  }
  for (const Index order : cones.semidefinite) {
    const Index dimension = order * (order + 1) / 2;
    double* point = room.scratch.data();
    for (Index i = row; i < row + dimension; ++i) {
      const L mu = L::load(mu_y + i * W);
      const L u_tilde = u_tilde_of(i, mu, inverse_other);
      u_tilde.store(p_y + i * W);
      (u_tilde + u_tilde - mu).store(point + (i - row) * W);
    }
    project_semidefinite<W>(order, point, room.semidefinite);
    for (Index i = row; i < row + dimension; ++i) {
      finish_row(i, L::load(mu_y + i * W), L::load(p_y + i * W), L::load(point + (i - row) * W));
    }
    row += dimension;
  }
  if (cones.triples() > 0) {
    double* point = room.scratch.data();
    for (Index i = row; i < m_; ++i) {
      const L mu = L::load(mu_y + i * W);
      const L u_tilde = u_tilde_of(i, mu, inverse_other);
      u_tilde.store(p_y + i * W);
      (u_tilde + u_tilde - mu).store(point + (i - row) * W);
    }
    project_dual_triples(cones, point, W);
    for (Index i = row; i < m_; ++i)
      finish_row(i, L::load(mu_y + i * W), L::load(p_y + i * W), L::load(point + (i - row) * W));
  }
  if (residual != nullptr) sqrt(squares).store(residual);
}

void Scs::step(Index k, Batch z, Workspace& workspace, double* residual) const {
  advance(k, z, static_cast<Room&>(workspace), residual);
}

void Scs::advance(Index k, Batch z, Room& room, double* residual) const {
  room.stepped = true;
  double* kept = kept_in(z.data, room);
  with_lanes(room, [&](auto lanes, auto own) {
    constexpr int W = decltype(lanes)::value;
    constexpr bool Own = decltype(own)::value;
    if (kept != nullptr) {
      // The point before is not used, but divergence is never taken for success.
      using L = Lanes<W>;
      double* eta = z.row(n_ + m_);
      L seen[2] = {L::load(eta), L(0.0)};
      const Index rows = returned_size();
      for (Index i = 0; i + 1 < rows; i += 2) {
        seen[0] += L(0.0) * L::load(kept + i * W);
        seen[1] += L(0.0) * L::load(kept + (i + 1) * W);
      }
      if (rows % 2 != 0) seen[0] += L(0.0) * L::load(kept + (rows - 1) * W);
      (seen[0] + seen[1]).store(eta);
      step_lanes<W, Own, true>(k, z.data, room, kept, residual);
    } else {
      step_lanes<W, Own, false>(k, z.data, room, kept, residual);
    }
  });
}

double* Scs::kept_in(double* z, Room& room) const {
  if (options_.returned) return z + (n_ + m_ + 1) * width();
  return room.keep ? room.kept.data() : nullptr;
}

// With (m, e) the cotangent of (mu+, eta+), D the derivative of Pi at 2u~ - mu and o = 1 where tau > 0:
//   d u~ = alpha (2 D m - m),   d tau~ = alpha (2 o - 1) e - r'd u~,
//   d mu = m - alpha D m + R (R + M')^{-1} (d u~ + d energy) - (tau~ / root) d tau~ g,
//   d eta = e - alpha o e + t (tau~ / root) d tau~,   d energy = (d tau~ / root) 2 P p_x,
// root = 2 a tau~ + b from a tau~^2 + b tau~ = p_x'P p_x with b = mu'g - t eta; tau~ is constant for k = 0.
//
// Where the state has (x, y, s) = (w_x, Pi(w_y), (Pi(w_y) - w_y) / scale) / T, w = 2u~ - mu and T the
// divisor, with the cotangent (c_x, c_y, c_s), and mu_y+ has (scale' / scale - 1) (Pi(w_y) - w_y), with d =
// (scale' / scale - 1) m_y + c_s / (scale T) the derivative by Pi(w_y) - w_y: alpha m becomes alpha m + (c_x,
// c_y + d) / T in D m, of which d is taken in the rows of y, and tau gets -(c_x'x + c_y'y + c_s's) / T.
//
// With l = (R + M')^{-1} (all of the derivative by p) and q = (R + M')^{-1} (all of that by r), where p = (R
// + M)^{-1} R mu, r = (R + M)^{-1} h, a = t + r'R r and b = r'R (mu - 2p) - t eta, the derivative by R_i is
//   l_i (mu_i - p_i) - q_i r_i + r_i^2 d a + r_i (mu_i - 2 p_i) d b,   R_i = 1 / (scale ..) in the rows of y.
template <int W, bool Own>
void Scs::vjp_lanes(Index k, double* cotangent, double* d_settings, Room& room) const {
  using L = Lanes<W>;
  const SplittingSystem::Numbers& numbers = *room.numbers;
  const Index rows = n_ + m_;
  const bool kept = options_.returned;
  const double* mu = room.before.data();
  const L eta = L::load(mu + rows * W);
  const double* r = room.r.data();
  const double* g = room.g.data();
  double* point = room.point.data();
  double* back = room.back.data();
  double* projected_point = room.projected.data();
  const L alpha = L::load(room.alpha.data());
  const L scale = L::load(room.scale.data());
  const L next_scale = L::load(room.next_scale.data());
  const L carried = next_scale / scale - L(1.0);
  const L zero(0.0);
  const double* by_x = cotangent + (rows + 1) * W;
  const double* by_y = by_x + n_ * W;
  const double* by_s = by_y + m_ * W;

  std::copy_n(mu, rows * W, point);
  solve_embedding<W, Own>(room, 1.0, point);
  L tau_tilde(1.0);
  L inverse_root(0.0);
  if (k > 0) {
    L dot(0.0);
    for (Index i = 0; i < rows; ++i) dot.add_product(L::load(mu + i * W), L::load(g + i * W));
    L energy(0.0);
    for (const int i : energetic_) {
      L sum(0.0);
      add_row_product<W, Own>(system_->P(), numbers.P.data(), i, point, sum);
      sum.store(room.energy_slope.data() + static_cast<Index>(i) * W);
      energy.add_product(sum, L::load(point + static_cast<Index>(i) * W));
    }
    energy = max(energy, zero * energy);
    const Homogenising<W> solved(L::load(room.quadratic.data()), dot - L(options_.tau_factor) * eta, energy);
    tau_tilde = solved.tau_tilde;
    inverse_root = where_greater(solved.root, zero, L(1.0) / solved.root, zero);
  }
  const L tau = max(L(2.0) * tau_tilde - eta, zero);
  const L inverse_divisor = L(1.0) / scs_divisor(tau);
  for (Index i = 0; i < rows; ++i) {
    const L u_tilde = L::load(point + i * W) - L::load(r + i * W) * tau_tilde;
    (u_tilde + u_tilde - L::load(mu + i * W)).store(point + i * W);
    L::load(cotangent + i * W).store(back + i * W);
  }
  const auto by_gap = [&](Index i) {  // of the row i of y: d above
    return carried * L::load(cotangent + (n_ + i) * W) + L::load(by_s + i * W) * inverse_divisor / scale;
  };
  L by_alpha(0.0);
  L by_carry(0.0);       // by scale' / scale
  L by_scale_of_s(0.0);  // times -scale
  L by_divisor(0.0);     // times -T
  if (kept) {
    std::copy_n(point + n_ * W, m_ * W, projected_point);
    project_dual_cone(problem_.cones, projected_point, W, room.semidefinite);
    for (Index i = 0; i < n_; ++i) {
      const L by = L::load(by_x + i * W);
      by_divisor.add_product(by, L::load(point + i * W));
      (L::load(back + i * W) + by * inverse_divisor / alpha).store(back + i * W);
    }
    for (Index i = 0; i < m_; ++i) {
      const L by = L::load(by_y + i * W);
      const L u = L::load(projected_point + i * W);
      const L gap = u - L::load(point + (n_ + i) * W);
      by_divisor.add_product(by, u);
      by_scale_of_s.add_product(L::load(by_s + i * W) * inverse_divisor / scale, gap);
      by_carry.add_product(L::load(cotangent + (n_ + i) * W), gap);
      double* place = back + (n_ + i) * W;
      (L::load(place) + (by * inverse_divisor + by_gap(i)) / alpha).store(place);
    }
    by_divisor = by_divisor * inverse_divisor + by_scale_of_s;
  }
  project_dual_cone_vjp(problem_.cones, point + n_ * W, back + n_ * W, W, room.semidefinite);

  L by_tau(0.0);
  for (Index i = 0; i < rows; ++i) {
    const L m = L::load(cotangent + i * W);
    const L projected = L::load(back + i * W);
    if (d_settings != nullptr) {  // u - u~
      const L u = i < n_ ? L::load(point + i * W) : L::load(projected_point + (i - n_) * W);
      by_alpha.add_product(m, u - L(0.5) * (L::load(point + i * W) + L::load(mu + i * W)));
    }
    L by_u_tilde = alpha * (projected + projected - m);
    L by_mu = m - alpha * projected;
    if (kept && i >= n_) {
      const L gap = by_gap(i - n_);
      by_u_tilde = by_u_tilde - (gap + gap);
      by_mu += gap;
    }
    by_mu.store(cotangent + i * W);
    by_u_tilde.store(back + i * W);
    by_tau.subtract_product(L::load(r + i * W), by_u_tilde);
  }
  const L e = L::load(cotangent + rows * W);
  if (d_settings != nullptr) by_alpha.add_product(e, tau - tau_tilde);
  const L own_tau = kept ? alpha * e - by_divisor * inverse_divisor : alpha * e;
  const L open = where_greater(tau_tilde + tau_tilde, eta, own_tau, zero);
  L by_eta = e - open;
  L by_a(0.0);
  L by_b(0.0);
  const auto R = [&](Index i) {
    return i < n_ ? L(options_.rho_x)
                  : entry_value<W, Own>(numbers.rho_inverse.data(), static_cast<int>(i - n_));
  };
  const auto p = [&](Index i) {
    return L(0.5) * (L::load(point + i * W) + L::load(mu + i * W)) + L::load(r + i * W) * tau_tilde;
  };
  if (d_settings != nullptr) {
    for (Index i = 0; i < rows; ++i)
      (zero - tau_tilde * L::load(back + i * W)).store(room.by_r.data() + i * W);
  }
  if (k > 0) {
    by_tau += open + open - alpha * e;
    const L by_energy = by_tau * inverse_root;
    by_b = zero - tau_tilde * by_energy;
    by_a = tau_tilde * by_b;
    by_eta.subtract_product(L(options_.tau_factor), by_b);
    for (const int i : energetic_) {
      const Index at = static_cast<Index>(i) * W;
      L sum = L::load(back + at);
      sum.add_product(by_energy + by_energy, L::load(room.energy_slope.data() + at));
      sum.store(back + at);
    }
    for (Index i = 0; i < rows; ++i) {
      L sum = L::load(cotangent + i * W);
      sum.add_product(by_b, L::load(g + i * W));
      sum.store(cotangent + i * W);
    }
    if (d_settings != nullptr) {
      for (Index i = 0; i < rows; ++i) {
        const L at = p(i);
        const L of_r = L::load(r + i * W);
        double* place = room.by_r.data() + i * W;
        (L::load(place) + R(i) * ((of_r + of_r) * by_a + (L::load(mu + i * W) - (at + at)) * by_b))
            .store(place);
      }
    }
  }
  for (Index i = 0; i < rows; ++i) (L::load(back + i * W) / R(i)).store(back + i * W);
  solve_embedding<W, Own>(room, -1.0, back);
  const L factor = L::load(room.factor.data());
  for (Index i = 0; i < rows; ++i) {
    (factor * (L::load(cotangent + i * W) + R(i) * L::load(back + i * W))).store(cotangent + i * W);
  }
  (factor * by_eta).store(cotangent + rows * W);
  if (d_settings == nullptr) return;

  double* by_r = room.by_r.data();
  for (Index i = 0; i < rows; ++i) (L::load(by_r + i * W) / R(i)).store(by_r + i * W);
  solve_embedding<W, Own>(room, -1.0, by_r);
  L by_weights(0.0);  // times -scale
  for (Index i = n_; i < rows; ++i) {
    const L of_r = L::load(r + i * W);
    const L of_mu = L::load(mu + i * W);
    const L at = p(i);
    // The solve with g has the part of b in l.
    const L l = L::load(back + i * W) + by_b * (L::load(g + i * W) / R(i) - of_r);
    const L by_R = l * (of_mu - at) - L::load(by_r + i * W) * of_r + of_r * of_r * by_a +
                   of_r * (of_mu - (at + at)) * by_b;
    by_weights.add_product(R(i), by_R);
  }
  const L inverse_scale = L(1.0) / scale;
  (zero - inverse_scale * (by_weights + by_scale_of_s + by_carry * next_scale * inverse_scale))
      .store(d_settings);
  by_alpha.store(d_settings + W);
  (by_carry * inverse_scale).store(d_settings + 2 * W);
}

void Scs::pull_back(Index k, ConstBatch z, Batch cotangent, double* d_settings, Room& room) const {
  const Index rows = n_ + m_ + 1;
  const Index W = z.width;
  if (room.before.empty()) {
    room.before = make_buffer(rows, W);
    room.factor = make_buffer(1, W);
    room.point = room.back = room.by_r = make_buffer(n_ + m_, W);
    room.energy_slope = make_buffer(n_, W);
    room.projected = make_buffer(m_, W);
  }
  std::copy_n(z.data, rows * W, room.before.data());
  std::fill(room.factor.begin(), room.factor.end(), 1.0);
  const bool converts = k == 0 && d_settings != nullptr;
  if (converts) {
    for (Index i = 0; i < m_ * W; ++i)
      room.before[n_ * W + i] += (room.scale[i % W] - options_.scale) * z.row(rows + n_ + m_)[i] *
                                 (i < problem_.cones.zero * W ? 0 : 1);
  }
  if (k > 0) rescale(room.before.data(), rows, W, room.factor.data());
  with_lanes(room, [&](auto lanes, auto own) {
    vjp_lanes<decltype(lanes)::value, decltype(own)::value>(k, cotangent.data, d_settings, room);
  });
  std::fill_n(cotangent.row(rows), returned_size() * W, 0.0);
  if (!converts) return;
  for (Index i = problem_.cones.zero * W; i < m_ * W; ++i) {
    const double by_mu = cotangent.row(n_)[i];
    cotangent.row(rows + n_ + m_)[i] = (room.scale[i % W] - options_.scale) * by_mu;
    d_settings[i % W] += by_mu * z.row(rows + n_ + m_)[i];
  }
}

void Scs::step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  pull_back(k, z, cotangent, nullptr, static_cast<Room&>(workspace));
}

std::vector<StepSetting> Scs::step_settings() const {
  require(options_.returned, "solver: a schedule of SCS is of steps that keep what the solver returns");
  require(system_->kind() == SystemKind::sparse || system_->kind() == SystemKind::kkt,
          "system: schedules need the kind sparse or kkt, not {}", to_string(system_->kind()));
  return {{"scale", options_.scale}, {"alpha", options_.alpha, 2.0}};
}

std::shared_ptr<const void> Scs::prepared(std::span<const double> settings) const {
  if (system_->own()) return nullptr;
  auto numbers = std::make_shared<SplittingSystem::Numbers>(shared_);
  for (Index i = 0; i < m_; ++i)
    numbers->rho[i] = settings[0] * (i < problem_.cones.zero ? options_.zero_factor : 1.0);
  system_->factor(*numbers);
  return numbers;
}

void Scs::make_room(Workspace& workspace) const {
  if (!system_->own()) static_cast<Room&>(workspace).varied = system_->in_lanes(shared_);
}

void Scs::take_settings(const StepValues& settings, Room& room) const {
  const Index W = width();
  const bool same = std::equal(settings.lanes, settings.lanes + W, room.scale.begin());
  std::copy_n(settings.lanes, W, room.scale.data());
  std::copy_n(settings.lanes + W, W, room.alpha.data());
  std::copy_n(settings.next, W, room.next_scale.data());
  const auto* shared = static_cast<const SplittingSystem::Numbers*>(settings.shared);
  SplittingSystem::Numbers& own = system_->own() ? room.own : room.varied;
  const bool are_there = same && room.numbers == &own;
  room.numbers = shared != nullptr ? shared : &own;
  room.in_lanes = shared == nullptr;
  if (shared == nullptr && !are_there) {
    for (Index i = 0; i < m_; ++i) {
      for (Index lane = 0; lane < W; ++lane)
        own.rho[i * W + lane] = room.scale[lane] * (i < problem_.cones.zero ? options_.zero_factor : 1.0);
    }
    system_->factor_again(own);
  }
  if (same) return;
  with_lanes(room,
             [&](auto lanes, auto in) { load_lanes<decltype(lanes)::value, decltype(in)::value>(room); });
}

void Scs::convert_start(double* z, const Room& room) const {
  const Index W = width();
  double* mu_y = z + n_ * W;
  const double* s = z + (n_ + m_ + 1 + n_ + m_) * W;
  for (Index i = problem_.cones.zero * W; i < m_ * W; ++i)
    mu_y[i] += (room.scale[i % W] - options_.scale) * s[i];
}

void Scs::step_with(Index k, const StepValues& settings, Batch z, Workspace& workspace,
                    double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  const Index W = width();
  take_settings(settings, room);
  const auto is_usual = [&](double scale) { return scale == options_.scale; };
  if (k == 0 && !std::all_of(room.scale.begin(), room.scale.end(), is_usual)) convert_start(z.data, room);
  advance(k, z, room, residual);
  if (std::equal(room.scale.begin(), room.scale.end(), room.next_scale.begin())) return;
  double* mu_y = z.row(n_);
  const double* s = z.row(n_ + m_ + 1 + n_ + m_);
  for (Index i = problem_.cones.zero * W; i < m_ * W; ++i)
    mu_y[i] += (room.next_scale[i % W] - room.scale[i % W]) * s[i] * room.divisor[i % W];
}

void Scs::step_with_vjp(Index k, const StepValues& settings, ConstBatch z, Batch cotangent,
                        double* d_settings, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  take_settings(settings, room);
  pull_back(k, z, cotangent, d_settings, room);
}

// With f = A x + s - b and d = P x + c + A'y, of the longer one: x takes A'f / |f| and s takes f / |f|, or x
// takes P d / |d| and y takes A d / |d|.
template <int W, bool Own>
void Scs::optimality_vjp_lanes(const double* x, const double* d_value, double* cotangent, Room& room) const {
  using L = Lanes<W>;
  const SplittingSystem::Numbers& numbers = *room.numbers;
  const double* y = x + n_ * W;
  const double* s = y + m_ * W;
  double* dual = room.p.data();
  double* primal = dual + n_ * W;
  L primal_squares(0.0);
  L dual_squares(0.0);
  for (Index i = 0; i < n_; ++i) {
    L gradient = L::load(room.h.data() + i * W);
    add_row_product<W, Own>(system_->P(), numbers.P.data(), i, x, gradient);
    add_row_product<W, Own>(system_->A_transposed(), numbers.A_transposed.data(), i, y, gradient);
    dual_squares.add_product(gradient, gradient);
    gradient.store(dual + i * W);
  }
  for (Index i = 0; i < m_; ++i) {
    L gap = L::load(s + i * W) - L::load(room.h.data() + (n_ + i) * W);
    add_row_product<W, Own>(system_->A(), numbers.A.data(), i, x, gap);
    primal_squares.add_product(gap, gap);
    gap.store(primal + i * W);
  }
  const L zero(0.0);
  const L seed = L::load(d_value);
  const L primal_seed = where_greater(primal_squares, dual_squares, seed / sqrt(primal_squares), zero);
  const L dual_share = where_greater(dual_squares, zero, seed / sqrt(dual_squares), zero);
  const L dual_seed = where_greater(primal_squares, dual_squares, zero, dual_share);
  for (Index i = 0; i < n_; ++i) (dual_seed * L::load(dual + i * W)).store(dual + i * W);
  for (Index i = 0; i < m_; ++i) (primal_seed * L::load(primal + i * W)).store(primal + i * W);
  for (Index i = 0; i < n_; ++i) {
    L sum = L::load(cotangent + i * W);
    add_row_product<W, Own>(system_->P(), numbers.P.data(), i, dual, sum);
    add_row_product<W, Own>(system_->A_transposed(), numbers.A_transposed.data(), i, primal, sum);
    sum.store(cotangent + i * W);
  }
  for (Index i = 0; i < m_; ++i) {
    double* by_y = cotangent + (n_ + i) * W;
    double* by_s = by_y + m_ * W;
    L product = L::load(by_y);
    add_row_product<W, Own>(system_->A(), numbers.A.data(), i, dual, product);
    product.store(by_y);
    (L::load(by_s) + L::load(primal + i * W)).store(by_s);
  }
}

void Scs::measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                      Workspace& workspace) const {
  if (quantity != Quantity::optimality_residual || !options_.returned)
    return DifferentiableStep::measure_vjp(quantity, k, z, d_value, cotangent, workspace);
  auto& room = static_cast<Room&>(workspace);
  const Index first = n_ + m_ + 1;
  with_lanes(room, [&](auto lanes, auto own) {
    optimality_vjp_lanes<decltype(lanes)::value, decltype(own)::value>(z.row(first), d_value,
                                                                       cotangent.row(first), room);
  });
}

void Scs::read(ConstBatch z, Workspace& /*workspace*/, Index first, Index count, double* out) const {
  const Index W = z.width;
  if (options_.returned) {
    std::copy_n(z.row(n_ + m_ + 1 + first), count * W, out);
    return;
  }
  const double* eta = z.row(n_ + m_);
  for (Index i = 0; i < count; ++i) {
    const double* from = z.row(first + i);
    for (Index lane = 0; lane < W; ++lane) out[i * W + lane] = from[lane] / eta[lane];
  }
}

void Scs::write(ConstBatch iterate, Workspace& /*workspace*/, Batch z) const {
  std::copy_n(iterate.data, (n_ + m_) * z.width, z.data);
  std::fill_n(z.row(n_ + m_), z.width, 1.0);
  if (!options_.returned) return;
  std::copy_n(iterate.data, returned_size() * z.width, z.row(n_ + m_ + 1));
  for (Index i = 0; i < m_; ++i) {
    const double inverse = options_.scale * (i < problem_.cones.zero ? options_.zero_factor : 1.0);
    for (Index lane = 0; lane < z.width; ++lane)
      z.row(n_ + i)[lane] += inverse * iterate.row(n_ + m_ + i)[lane];
  }
}

void Scs::start_from(ConstBatch numbers, Batch z, Workspace& workspace) const {
  if (!options_.returned) return write(numbers, workspace, z);
  start(z, workspace);
  std::copy_n(numbers.data, (n_ + m_) * z.width, z.data);
}

void Scs::start_from_vjp(ConstBatch /*numbers*/, ConstBatch cotangent, Batch derivative,
                         Workspace& /*workspace*/) const {
  std::copy_n(cotangent.data, (n_ + m_) * cotangent.width, derivative.data);
}

void Scs::prepare_measures(Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  room.keep = true;
  if (!options_.returned && room.kept.empty()) room.kept = make_buffer(n_ + 2 * m_, width());
}

/// Before any step: x = mu_x / eta, y = Pi(mu_y / eta), s = R_y (y - mu_y / eta).
void Scs::keep_start(ConstBatch z, Room& room) const {
  const Index W = width();
  read(z, room, 0, n_ + m_, room.kept.data());
  double* y = room.kept.data() + n_ * W;
  double* s = y + m_ * W;
  std::copy_n(y, m_ * W, s);
  project_dual_cone(problem_.cones, y, W, room.semidefinite);
  for (Index i = 0; i < m_ * W; ++i) s[i] = i < problem_.cones.zero * W ? 0 : (y[i] - s[i]) / options_.scale;
}

void Scs::solution(Workspace& workspace, double* x, double* y, double* s) const {
  const auto& room = static_cast<const Room&>(workspace);
  require(!options_.returned, "solution: it is what read() gives");
  require(room.keep && room.stepped, "solution: prepare_measures() and a step must come first");
  const Index W = width();
  std::copy_n(room.kept.data(), n_ * W, x);
  std::copy_n(room.kept.data() + n_ * W, m_ * W, y);
  std::copy_n(room.kept.data() + (n_ + m_) * W, m_ * W, s);
}

template <int W, bool Own>
void Scs::measure_lanes(Quantity quantity, const double* x, Room& room, double* value) const {
  using L = Lanes<W>;
  const SplittingSystem::Numbers& numbers = *room.numbers;
  const double* y = x + n_ * W;
  const double* s = y + m_ * W;
  const double* c = room.h.data();
  const double* b = c + n_ * W;
  L result(0.0);
  if (quantity > Quantity::largest_error) {
    std::array<ScsSurvey, W> surveys;
    const auto unit = [](Index /*row*/) { return L(1.0); };
    survey_lanes<W, Own>(*system_, numbers, x, y, s, L(1.0), b, c, unit, unit, L(1.0), nullptr, nullptr,
                         room.scratch.data(), surveys.data());
    L size_b(0.0);
    L size_c(0.0);
    for (Index i = 0; i < m_; ++i) size_b = max(size_b, max(L::load(b + i * W), L(0.0) - L::load(b + i * W)));
    for (Index i = 0; i < n_; ++i) size_c = max(size_c, max(L::load(c + i * W), L(0.0) - L::load(c + i * W)));
    for (int lane = 0; lane < W; ++lane) {
      surveys[lane].b = size_b[lane];
      surveys[lane].c = size_c[lane];
      value[lane] = reported(quantity, surveys[lane], options_) + surveys[lane].poison;
    }
    return;
  }
  if (quantity == Quantity::objective || quantity == Quantity::dual_residual) {
    for (Index i = 0; i < n_; ++i) {
      L gradient(0.0);
      add_row_product<W, Own>(system_->P(), numbers.P.data(), i, x, gradient);
      if (quantity == Quantity::objective) {
        result.add_product(L::load(x + i * W), L(0.5) * gradient + L::load(c + i * W));
      } else {
        gradient += L::load(c + i * W);
        add_row_product<W, Own>(system_->A_transposed(), numbers.A_transposed.data(), i, y, gradient);
        result.add_product(gradient, gradient);
      }
    }
    if (quantity == Quantity::dual_residual) result = sqrt(result);
    result.store(value);
    return;
  }
  double* gap = room.scratch.data();
  for (Index i = 0; i < m_; ++i) {
    L product(0.0);
    add_row_product<W, Own>(system_->A(), numbers.A.data(), i, x, product);
    if (quantity == Quantity::primal_residual) {
      product += L::load(s + i * W) - L::load(b + i * W);
      result.add_product(product, product);
    } else {
      (L::load(b + i * W) - product).store(gap + i * W);
      result += L(0.0) * product;  // carries NaN
    }
  }
  if (quantity == Quantity::primal_residual) {
    sqrt(result).store(value);
  } else {
    cone_violation(problem_.cones, gap, W, room.semidefinite, value);
    (L::load(value) + result).store(value);
  }
}

void Scs::measure(Quantity quantity, Index /*k*/, ConstBatch z, Workspace& workspace, double* value) const {
  auto& room = static_cast<Room&>(workspace);
  require(room.keep, "measure: prepare_measures() must come first");
  if (!room.stepped && !options_.returned) keep_start(z, room);
  const double* kept = options_.returned ? z.row(n_ + m_ + 1) : room.kept.data();
  with_lanes(room, [&](auto lanes, auto own) {
    const auto one = [&](Quantity wanted, double* numbers) {
      measure_lanes<decltype(lanes)::value, decltype(own)::value>(wanted, kept, room, numbers);
    };
    measure_optimality<decltype(lanes)::value>(quantity, one, value);
  });
}

}  // namespace surefoot::algorithms
