#include "surefoot/algorithms/fista.hpp"

#include <algorithm>
#include <utility>

namespace surefoot::algorithms {

using Room = SoftGradient::Room;

Fista::Fista(problems::Lasso problem, IstaOptions options) : gradient_(std::move(problem), options) {}

void Fista::load(Index first, Index count, Workspace& workspace) const {
  gradient_.load(first, count, static_cast<Room&>(workspace));
}

void Fista::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, (z.rows - 1) * z.width, 0.0);
  std::fill_n(z.row(z.rows - 1), z.width, 1.0);
}

void Fista::write(ConstBatch iterate, Workspace& /*workspace*/, Batch z) const {
  const Index n = gradient_.variables();
  std::copy_n(iterate.data, n * z.width, z.data);
  std::copy_n(iterate.data, n * z.width, z.row(n));
  std::fill_n(z.row(2 * n), z.width, 1.0);
}

void Fista::step(Index /*k*/, Batch z, Workspace& workspace, double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  advance(room.step.data(), z, room, residual);
}

void Fista::step_with(Index /*k*/, const StepValues& settings, Batch z, Workspace& workspace,
                      double* residual) const {
  advance(settings.lanes, z, static_cast<Room&>(workspace), residual);
}

void Fista::advance(const double* step, Batch z, Room& room, double* residual) const {
  using V = Lanes<SoftGradient::lanes>;
  const SoftGradient::Length size = gradient_.length(step, room);
  const Index n = gradient_.variables();
  double* y = z.row(n);
  gradient_.multiply_gram(y, room);
  const V t = V::load(z.row(2 * n));
  const V t_new = V(0.5) * (V(1.0) + sqrt(V(1.0) + V(4.0) * t * t));
  const V momentum = (t - V(1.0)) / t_new;
  V squares(0.0);
  for (Index i = 0; i < n; ++i) {
    const V entry = gradient_.proximal_entry(y, i, size, room);
    const V change = entry - V::load(z.row(i));
    entry.store(z.row(i));
    (entry + momentum * change).store(z.row(n + i));
    squares.add_product(change, change);
  }
  t_new.store(z.row(2 * n));
  if (residual != nullptr) sqrt(squares).store(residual);
}

// With (a, b, e) the cotangent of (z+, y+, t+) and beta = (t - 1) / t+:
//   z+ takes a + (1 + beta) b, through the soft threshold to y;   d z = -beta b;
//   d t = e dt+/dt + b'(z+ - z) dbeta/dt,   dt+/dt = 2 t / sqrt(1 + 4 t^2).
void Fista::pull_back(const double* step, ConstBatch z, Batch cotangent, double* by_step, Room& room) const {
  constexpr int W = SoftGradient::lanes;
  using V = Lanes<W>;
  const Index n = gradient_.variables();
  const double* y = z.row(n);
  const SoftGradient::Length size = gradient_.length(step, room);
  const V t = V::load(z.row(2 * n));
  const V root = sqrt(V(1.0) + V(4.0) * t * t);
  const V t_new = V(0.5) * (V(1.0) + root);
  const V momentum = (t - V(1.0)) / t_new;
  const V slope = (t + t) / root;
  gradient_.multiply_gram(y, room);
  V by_momentum(0.0);
  for (Index i = 0; i < n; ++i) {
    const V b = V::load(cotangent.row(n + i));
    const V change = gradient_.proximal_entry(y, i, size, room) - V::load(z.row(i));
    by_momentum.add_product(b, change);
    V through = V::load(cotangent.row(i)) + b;
    through.add_product(momentum, b);
    through.store(cotangent.row(n + i));
    (V(0.0) - momentum * b).store(cotangent.row(i));
  }
  const V momentum_slope = V(1.0) / t_new - momentum * slope / t_new;
  (V::load(cotangent.row(2 * n)) * slope + by_momentum * momentum_slope).store(cotangent.row(2 * n));
  gradient_.proximal_vjp(y, step, cotangent.row(n), by_step, room);
}

void Fista::step_vjp(Index /*k*/, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  pull_back(room.step.data(), z, cotangent, nullptr, room);
}

void Fista::step_with_vjp(Index /*k*/, const StepValues& settings, ConstBatch z, Batch cotangent,
                          double* d_settings, Workspace& workspace) const {
  pull_back(settings.lanes, z, cotangent, d_settings, static_cast<Room&>(workspace));
}

void Fista::measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const {
  if (!knows(quantity)) Operator::measure(quantity, k, z, workspace, value);
  gradient_.measure(quantity, z.data, static_cast<Room&>(workspace), value);
}

void Fista::measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                        Workspace& workspace) const {
  if (quantity != Quantity::optimality_residual)
    return DifferentiableStep::measure_vjp(quantity, k, z, d_value, cotangent, workspace);
  gradient_.residual_vjp(z.data, d_value, cotangent.data, static_cast<Room&>(workspace));
}

}  // namespace surefoot::algorithms
