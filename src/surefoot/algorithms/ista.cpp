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
  auto& room = static_cast<Room&>(workspace);
  advance(room.step.data(), z, room, residual);
}

void Ista::step_with(Index /*k*/, const StepValues& settings, Batch z, Workspace& workspace,
                     double* residual) const {
  advance(settings.lanes, z, static_cast<Room&>(workspace), residual);
}

void Ista::advance(const double* step, Batch z, Room& room, double* residual) const {
  using V = Lanes<SoftGradient::lanes>;
  gradient_.multiply_gram(z.data, room);
  const SoftGradient::Length size = gradient_.length(step, room);
  V squares(0.0);
  for (Index i = 0; i < gradient_.variables(); ++i) {
    const V entry = gradient_.proximal_entry(z.data, i, size, room);
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

void Ista::pull_back(const double* step, ConstBatch z, Batch cotangent, double* by_step, Room& room) const {
  gradient_.proximal_vjp(z.data, step, cotangent.data, by_step, room);
}

void Ista::step_vjp(Index /*k*/, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  pull_back(room.step.data(), z, cotangent, nullptr, room);
}

void Ista::step_with_vjp(Index /*k*/, const StepValues& settings, ConstBatch z, Batch cotangent,
                         double* d_settings, Workspace& workspace) const {
  pull_back(settings.lanes, z, cotangent, d_settings, static_cast<Room&>(workspace));
}

void Ista::measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const {
  if (!knows(quantity)) Operator::measure(quantity, k, z, workspace, value);
  gradient_.measure(quantity, z.data, static_cast<Room&>(workspace), value);
}

void Ista::measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                       Workspace& workspace) const {
  if (quantity != Quantity::optimality_residual)
    return DifferentiableStep::measure_vjp(quantity, k, z, d_value, cotangent, workspace);
  gradient_.residual_vjp(z.data, d_value, cotangent.data, static_cast<Room&>(workspace));
}

}  // namespace surefoot::algorithms
