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
  using V = Lanes<SoftGradient::lanes>;
  auto& room = static_cast<Room&>(workspace);
  const Index n = gradient_.variables();
  double* y = z.row(n);
  gradient_.multiply_gram(y, room);
  const V t = V::load(z.row(2 * n));
  const V t_new = V(0.5) * (V(1.0) + sqrt(V(1.0) + V(4.0) * t * t));
  const V momentum = (t - V(1.0)) / t_new;
  V squares(0.0);
  for (Index i = 0; i < n; ++i) {
    const V entry = gradient_.proximal_entry(y, i, room);
    const V change = entry - V::load(z.row(i));
    entry.store(z.row(i));
    (entry + momentum * change).store(z.row(n + i));
    squares.add_product(change, change);
  }
  t_new.store(z.row(2 * n));
  if (residual != nullptr) sqrt(squares).store(residual);
}

void Fista::measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const {
  if (!knows(quantity)) Operator::measure(quantity, k, z, workspace, value);
  gradient_.objective(z.data, static_cast<Room&>(workspace), value);
}

}  // namespace surefoot::algorithms
