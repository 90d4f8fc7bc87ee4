#include "surefoot/algorithms/detail/osqp_room.hpp"

#include <algorithm>

namespace surefoot::algorithms {

// With (a, b, c) the cotangent of (x+, y+, w+) and e = c - R b where w+ was not clipped, else 0:
//   v = R b + e,   g = K^{-1} (alpha a + alpha A'v),
//   d x = (1 - alpha) a + sigma g,   d y = b + R^{-1} e - A g,   d w = (1 - alpha) v + R A g,
// and with t = w~ - w = (R^{-1} (y+ - y) + w+ - w) / alpha, over the rows whose rho follows rho:
//   d log rho = b'(y+ - y) - e'R^{-1} y - (A g)'R t,   d alpha = a'(x+ - x) / alpha + v't.
template <int W, bool Own, bool Varied>
void Osqp::vjp_lanes(const double* z, double* cotangent, double* d_settings, Room& room) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const SplittingSystem::Numbers& factors =
      factors_of_step<Own, Varied>(numbers, room.varied, room.step_factors);
  const double* ahead = room.ahead.data();
  const double* w_new = ahead + (n_ + m_) * W;
  double* a = cotangent;
  double* b = cotangent + n_ * W;
  double* c = cotangent + (n_ + m_) * W;
  double* v = room.difference.data();
  double* back = room.back.data();
  double* g = room.x.data();
  const L alpha = room.alpha.empty() ? L(options_.alpha) : L::load(room.alpha.data());
  const L rest = L(1.0) - alpha;
  const L sigma(options_.sigma);
  const L loose_follows(options_.loose_rho > 0 ? 0.0 : 1.0);
  const auto follows = [&](Index i) {  // 0 where the row's rho stays when rho changes
    const L below =
        where_greater(L(-osqp_loose_bound), L::load(room.l.data() + i * W), loose_follows, L(1.0));
    return where_greater(L::load(room.u.data() + i * W), L(osqp_loose_bound), below, L(1.0));
  };
  const auto y_change = [&](Index i) { return L::load(ahead + (n_ + i) * W) - L::load(z + (n_ + i) * W); };
  const auto w_change = [&](Index i) { return L::load(w_new + i * W) - L::load(z + (n_ + m_ + i) * W); };
  L by_log_rho(0.0);
  L by_alpha(0.0);  // times alpha
  for (Index i = 0; i < m_; ++i) {
    const L rho = entry_value<W, Varied>(factors.rho.data(), static_cast<int>(i));
    const L rho_inverse = entry_value<W, Varied>(factors.rho_inverse.data(), static_cast<int>(i));
    const L point = L::load(w_new + i * W);
    const L by_y = L::load(b + i * W);
    const L free = L::load(c + i * W) - rho * by_y;
    const L above = where_greater(point, L::load(room.l.data() + i * W), free, L(0.0));
    const L inside = where_greater(L::load(room.u.data() + i * W), point, above, L(0.0));
    const L by_v = rho * by_y + inside;
    if (d_settings != nullptr) {
      const L change = y_change(i);
      by_log_rho += follows(i) * (by_y * change - inside * rho_inverse * L::load(z + (n_ + i) * W));
      by_alpha.add_product(by_v, rho_inverse * change + w_change(i));
    }
    (by_y + rho_inverse * inside).store(b + i * W);
    (rest * by_v).store(c + i * W);
    by_v.store(v + i * W);
  }
  for (Index i = 0; i < n_; ++i) {
    const L by_x = L::load(a + i * W);
    if (d_settings != nullptr) by_alpha.add_product(by_x, L::load(ahead + i * W) - L::load(z + i * W));
    L sum = by_x;
    add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), i, v, sum);
    (alpha * sum).store(back + i * W);
  }
  if (system.kind() == SystemKind::kkt) {
    const auto n = static_cast<int>(n_);
    system.solve_kkt<W, Varied>(
        factors, [&](int i) { return i < n ? L::load(back + static_cast<Index>(i) * W) : L(0.0); }, g);
  } else {
    system.solve<W, Varied>(
        factors, [&](int i) { return L::load(back + static_cast<Index>(i) * W); }, g, room.scratch.data());
  }
  for (Index i = 0; i < n_; ++i) (rest * L::load(a + i * W) + sigma * L::load(g + i * W)).store(a + i * W);
  L by_factors(0.0);  // times alpha
  for (Index i = 0; i < m_; ++i) {
    const L rho = entry_value<W, Varied>(factors.rho.data(), static_cast<int>(i));
    L product(0.0);
    add_row_product<W, Own>(system.A(), numbers.A.data(), i, g, product);
    if (d_settings != nullptr) by_factors.add_product(follows(i) * product, y_change(i) + rho * w_change(i));
    (L::load(b + i * W) - product).store(b + i * W);
    (L::load(c + i * W) + rho * product).store(c + i * W);
  }
  if (d_settings == nullptr) return;
  ((by_log_rho - by_factors / alpha) / L::load(room.rho.data())).store(d_settings);
  (by_alpha / alpha).store(d_settings + W);
}

void Osqp::pull_back(ConstBatch z, Batch cotangent, double* d_settings, Room& room) const {
  if (room.ahead.empty()) {
    room.ahead = make_buffer(n_ + 2 * m_, width());
    room.back = make_buffer(n_, width());
  }
  std::copy_n(z.data, (n_ + 2 * m_) * z.width, room.ahead.data());
  plain_step(room.ahead.data(), room, nullptr);
  if (room.is_varied) {
    vjp_lanes<8, false, true>(z.data, cotangent.data, d_settings, room);
    return;
  }
  with_lanes([&](auto W, auto own, auto) {
    vjp_lanes<decltype(W)::value, decltype(own)::value>(z.data, cotangent.data, d_settings, room);
  });
}

void Osqp::step_vjp(Index /*k*/, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  pull_back(z, cotangent, nullptr, static_cast<Room&>(workspace));
}

// With r = units (A x - w) and s = (P x + q + A'y) / (cost D), of the longer one: x takes A'units r / |r| and
// w its opposite, or x takes P s' and y A s', s' = s / (cost D |s|).
template <int W, bool Own, bool Scaled>
void Osqp::optimality_vjp_lanes(const double* z, const double* d_value, double* cotangent, Room& room) const {
  using L = Lanes<W>;
  const SplittingSystem& system = *system_;
  const SplittingSystem::Numbers& numbers = Own ? room.own : shared_;
  const double* units = Own ? room.units.data() : units_.data();
  const double* y = z + n_ * W;
  const double* w = z + (n_ + m_) * W;
  const L cost = L::load(room.cost.data());
  double* dual = room.x.data();
  double* primal = room.x.data() + n_ * W;
  L primal_squares(0.0);
  L dual_squares(0.0);
  system.multiply_P<W, Own>(numbers, z, dual, room.scratch.data());
  for (Index i = 0; i < n_; ++i) {
    L gradient = L::load(dual + i * W) + L::load(room.q.data() + i * W);
    add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), i, y, gradient);
    const L unit = L(1.0) / (cost * entry_value<W, Own>(units, static_cast<int>(i)));
    dual_squares.add_product(gradient * unit, gradient * unit);
    (gradient * unit * unit).store(dual + i * W);
  }
  for (Index i = 0; i < m_; ++i) {
    L product(0.0);
    add_row_product<W, Own>(system.A(), numbers.A.data(), i, z, product);
    const L unit = entry_value<W, Own>(units, static_cast<int>(n_ + m_ + i));
    const L gap = (product - L::load(w + i * W)) * unit;
    primal_squares.add_product(gap, gap);
    (gap * unit).store(primal + i * W);
  }
  const L zero(0.0);
  const L seed = L::load(d_value);
  const L primal_seed = where_greater(primal_squares, dual_squares, seed / sqrt(primal_squares), zero);
  const L dual_share = where_greater(dual_squares, zero, seed / sqrt(dual_squares), zero);
  const L dual_seed = where_greater(primal_squares, dual_squares, zero, dual_share);
  for (Index i = 0; i < n_; ++i) (dual_seed * L::load(dual + i * W)).store(dual + i * W);
  for (Index i = 0; i < m_; ++i) (primal_seed * L::load(primal + i * W)).store(primal + i * W);
  system.multiply_P<W, Own>(numbers, dual, room.back.data(), room.scratch.data());
  for (Index i = 0; i < n_; ++i) {
    L sum = L::load(cotangent + i * W) + L::load(room.back.data() + i * W);
    add_row_product<W, Own>(system.A_transposed(), numbers.A_transposed.data(), i, primal, sum);
    sum.store(cotangent + i * W);
  }
  for (Index i = 0; i < m_; ++i) {
    double* by_y = cotangent + (n_ + i) * W;
    double* by_w = cotangent + (n_ + m_ + i) * W;
    L product = L::load(by_y);
    add_row_product<W, Own>(system.A(), numbers.A.data(), i, dual, product);
    product.store(by_y);
    (L::load(by_w) - L::load(primal + i * W)).store(by_w);
  }
}

void Osqp::measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                       Workspace& workspace) const {
  if (quantity != Quantity::optimality_residual)
    return DifferentiableStep::measure_vjp(quantity, k, z, d_value, cotangent, workspace);
  auto& room = static_cast<Room&>(workspace);
  if (room.back.empty()) room.back = make_buffer(n_, width());
  with_lanes([&](auto W, auto own, auto scaled) {
    optimality_vjp_lanes<decltype(W)::value, decltype(own)::value, decltype(scaled)::value>(
        z.data, d_value, cotangent.data, room);
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

}  // namespace surefoot::algorithms
