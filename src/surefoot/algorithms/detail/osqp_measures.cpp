#include "surefoot/algorithms/detail/osqp_room.hpp"

#include <array>

namespace surefoot::algorithms {

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
  if (quantity > Quantity::largest_error) {
    std::array<OsqpSurvey, osqp_most_lanes> surveys;
    survey(z.data, room, surveys.data());
    for (Index lane = 0; lane < z.width; ++lane) {
      value[lane] = reported(quantity, surveys[lane], options_) + surveys[lane].poison;
    }
    return;
  }
  with_lanes([&](auto W, auto own, auto scaled) {
    const auto one = [&](Quantity wanted, double* numbers) {
      measure_lanes<decltype(W)::value, decltype(own)::value, decltype(scaled)::value>(wanted, z.data, room,
                                                                                       numbers);
    };
    measure_optimality<decltype(W)::value>(quantity, one, value);
  });
}

}  // namespace surefoot::algorithms
