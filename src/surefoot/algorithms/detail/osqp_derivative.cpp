#include "surefoot/algorithms/detail/osqp_room.hpp"

#include <algorithm>

namespace surefoot::algorithms {

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

}  // namespace surefoot::algorithms
