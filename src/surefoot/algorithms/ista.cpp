#include "surefoot/algorithms/ista.hpp"

#include "surefoot/algorithms/detail/whole_iterate_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::algorithms {

using Room = SoftGradient::Room;

Ista::Ista(problems::Lasso problem, IstaOptions options) : gradient_(std::move(problem), options) {}

void Ista::load(Index first, Index count, Workspace& workspace) const {
  gradient_.load(first, count, static_cast<Room&>(workspace));
}

void Ista::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, z.rows * z.width, 0.0);
}

void Ista::step(Index /*k*/, Batch z, Workspace& workspace, double* residual) const {
  using V = Lanes<SoftGradient::lanes>;
  auto& room = static_cast<Room&>(workspace);
  gradient_.multiply_gram(z.data, room);
  V squares(0.0);
  for (Index i = 0; i < gradient_.variables(); ++i) {
    const V entry = gradient_.proximal_entry(z.data, i, room);
    const V change = entry - V::load(z.row(i));
    entry.store(z.row(i));
    squares.add_product(change, change);
  }
  if (residual != nullptr) sqrt(squares).store(residual);
}

DeclaredMap Ista::declared_map() const {
  constexpr double rounding = 1 + 1e-9;  // of the eigenvalue
  const problems::Matrix& D = gradient_.problem().D;
  const double a = problems::largest_eigenvalue(D.transpose() * D) * rounding / (2 * lipschitz());
  if (a >= 1) return {nullptr, fmt::format("its step 1 / {} is not below 2 / L", lipschitz())};
  return {std::make_shared<WholeIterateMap>(1 / (2 - a), gradient_.variables())};
}

// With c = cotangent where the new entry is not zero, else 0: c - D'D c / L.
void Ista::step_vjp(Index /*k*/, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  constexpr int W = SoftGradient::lanes;
  using V = Lanes<W>;
  auto& room = static_cast<Room&>(workspace);
  gradient_.multiply_gram(z.data, room);
  for (Index i = 0; i < gradient_.variables(); ++i) {
    const V entry = gradient_.proximal_entry(z.data, i, room);
    for (int lane = 0; lane < W; ++lane) {
      if (entry[lane] == 0) cotangent.row(i)[lane] = 0;
    }
  }
  gradient_.multiply_gram(cotangent.data, room);
  const V size(1 / gradient_.lipschitz());
  for (Index i = 0; i < gradient_.variables(); ++i)
    (V::load(cotangent.row(i)) - size * V::load(room.product.data() + i * W)).store(cotangent.row(i));
}

void Ista::measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const {
  if (!knows(quantity)) Operator::measure(quantity, k, z, workspace, value);
  gradient_.objective(z.data, static_cast<Room&>(workspace), value);
}

}  // namespace surefoot::algorithms
