#include "surefoot/algorithms/gradient_descent.hpp"

#include "surefoot/algorithms/detail/dense_lanes.hpp"
#include "surefoot/algorithms/detail/whole_iterate_map.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::algorithms {

void GradientDescentOptions::validate() const {
  require(std::isfinite(step) && step >= 0, "step: is {}, must be >= 0", step);
}

struct GradientDescent::Room final : Workspace {
  Buffer c;
  Buffer product;
  Buffer gradient;
  Buffer step;  // one per lane: the operator's own
};

GradientDescent::GradientDescent(problems::Quadratic problem, GradientDescentOptions options)
    : problem_(std::move(problem)) {
  options.validate();
  problem_.validate();
  n_ = problem_.variables();
  step_ = options.step > 0 ? options.step : 1 / problems::largest_eigenvalue(problem_.P);
  require(std::isfinite(step_), "P: is zero, so that 1 / L does not exist; give a step");
  const problems::Table rows = problem_.P;
  P_.assign(rows.data(), rows.data() + rows.size());
}

std::unique_ptr<Workspace> GradientDescent::make_workspace() const {
  auto room = std::make_unique<Room>();
  room->c = make_buffer(n_, lanes);
  room->product = make_buffer(n_, lanes);
  room->gradient = make_buffer(n_, lanes);
  room->step = Buffer(lanes, step_);
  return room;
}

void GradientDescent::load(Index first, Index count, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  require(count >= 1 && count <= lanes && is_within(first, count, instances()),
          "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first, instances() - 1,
          lanes);
  for (Index lane = 0; lane < lanes; ++lane) {
    const double* c = problems::table_row(problem_.c, first + std::min(lane, count - 1));
    for (Index i = 0; i < n_; ++i) room.c[i * lanes + lane] = c[i];
  }
}

void GradientDescent::start(Batch z, Workspace& /*workspace*/) const {
  std::fill_n(z.data, z.rows * z.width, 0.0);
}

void GradientDescent::step(Index /*k*/, Batch z, Workspace& workspace, double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  advance(room.step.data(), z, room, residual);
}

void GradientDescent::step_with(Index /*k*/, const StepValues& settings, Batch z, Workspace& workspace,
                                double* residual) const {
  advance(settings.lanes, z, static_cast<Room&>(workspace), residual);
}

void GradientDescent::advance(const double* step, Batch z, Room& room, double* residual) const {
  using L = Lanes<lanes>;
  multiply(P_.data(), n_, n_, z.data, room.product.data(), lanes);
  const L size = L::load(step);
  L squares(0.0);
  for (Index i = 0; i < n_; ++i) {
    const L change = size * (L::load(room.product.data() + i * lanes) + L::load(room.c.data() + i * lanes));
    (L::load(z.row(i)) - change).store(z.row(i));
    squares.add_product(change, change);
  }
  if (residual != nullptr) sqrt(squares).store(residual);
}

DeclaredMap GradientDescent::declared_map() const {
  constexpr double rounding = 1 + 1e-9;  // of the eigenvalue
  const double averagedness = step_ * problems::largest_eigenvalue(problem_.P) * rounding / 2;
  if (averagedness >= 1) return {nullptr, fmt::format("its step {} is not below 2 / L", step_)};
  return {std::make_shared<WholeIterateMap>(averagedness, n_)};
}

void GradientDescent::step_vjp(Index /*k*/, ConstBatch /*z*/, Batch cotangent, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  pull_back(room.step.data(), cotangent, room);
}

// d step = -c'(P z + b), b the linear term.
void GradientDescent::step_with_vjp(Index /*k*/, const StepValues& settings, ConstBatch z, Batch cotangent,
                                    double* d_settings, Workspace& workspace) const {
  using L = Lanes<lanes>;
  auto& room = static_cast<Room&>(workspace);
  multiply(P_.data(), n_, n_, z.data, room.product.data(), lanes);
  L by_step(0.0);
  for (Index i = 0; i < n_; ++i) {
    const L gradient = L::load(room.product.data() + i * lanes) + L::load(room.c.data() + i * lanes);
    by_step.subtract_product(L::load(cotangent.row(i)), gradient);
  }
  by_step.store(d_settings);
  pull_back(settings.lanes, cotangent, room);
}

// c - step P c, P symmetric.
void GradientDescent::pull_back(const double* step, Batch cotangent, Room& room) const {
  using L = Lanes<lanes>;
  multiply(P_.data(), n_, n_, cotangent.data, room.product.data(), lanes);
  const L size = L::load(step);
  for (Index i = 0; i < n_; ++i) {
    (L::load(cotangent.row(i)) - size * L::load(room.product.data() + i * lanes)).store(cotangent.row(i));
  }
}

bool GradientDescent::knows(Quantity quantity) const {
  return quantity == Quantity::objective || quantity == Quantity::dual_residual ||
         quantity == Quantity::optimality_residual;
}

// P g / |g|, g the gradient.
void GradientDescent::measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value,
                                  Batch cotangent, Workspace& workspace) const {
  using L = Lanes<lanes>;
  if (quantity != Quantity::optimality_residual)
    return DifferentiableStep::measure_vjp(quantity, k, z, d_value, cotangent, workspace);
  auto& room = static_cast<Room&>(workspace);
  multiply(P_.data(), n_, n_, z.data, room.product.data(), lanes);
  L squares(0.0);
  for (Index i = 0; i < n_; ++i) {
    const L gradient = L::load(room.product.data() + i * lanes) + L::load(room.c.data() + i * lanes);
    squares.add_product(gradient, gradient);
    gradient.store(room.gradient.data() + i * lanes);
  }
  multiply(P_.data(), n_, n_, room.gradient.data(), room.product.data(), lanes);
  const L seed = where_greater(squares, L(0.0), L::load(d_value) / sqrt(squares), L(0.0));
  for (Index i = 0; i < n_; ++i) {
    L sum = L::load(cotangent.row(i));
    sum.add_product(seed, L::load(room.product.data() + i * lanes));
    sum.store(cotangent.row(i));
  }
}

void GradientDescent::measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace,
                              double* value) const {
  using L = Lanes<lanes>;
  if (!knows(quantity)) Operator::measure(quantity, k, z, workspace, value);
  auto& room = static_cast<Room&>(workspace);
  multiply(P_.data(), n_, n_, z.data, room.product.data(), lanes);
  L sum(0.0);
  for (Index i = 0; i < n_; ++i) {
    const L product = L::load(room.product.data() + i * lanes);
    const L c = L::load(room.c.data() + i * lanes);
    if (quantity == Quantity::objective) {
      sum.add_product(L::load(z.row(i)), L(0.5) * product + c);
    } else {
      sum.add_product(product + c, product + c);
    }
  }
  (quantity == Quantity::objective ? sum : sqrt(sum)).store(value);
}

}  // namespace surefoot::algorithms
