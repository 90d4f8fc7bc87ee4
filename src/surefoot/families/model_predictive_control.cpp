#include "surefoot/families/model_predictive_control.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace surefoot::families {

using problems::Matrix;
using problems::Table;
using problems::Vector;

void ModelPredictiveControlOptions::validate() const {
  require(carts >= 1, "carts: {} is below 1", carts);
  require(!pushed.empty(), "pushed: no cart has an actuator");
  for (const Index cart : pushed)
    require(cart >= 0 && cart < carts, "pushed: {} is outside 0 .. {}", cart, carts - 1);
  require(horizon >= 2, "horizon: {} is below 2", horizon);
  const auto positive = [](const char* name, double value) {
    require(std::isfinite(value) && value > 0, "{}: is {}, must be > 0", name, value);
  };
  positive("dt", dt);
  positive("force_limit", force_limit);
  positive("rate_limit", rate_limit);
  positive("position_cost", position_cost);
  positive("rate_cost", rate_cost);
  positive("position_range", position_range);
  positive("speed_range", speed_range);
  const auto not_negative = [](const char* name, double value) {
    require(std::isfinite(value) && value >= 0, "{}: is {}, must be >= 0", name, value);
  };
  not_negative("spring", spring);
  not_negative("friction", friction);
  not_negative("speed_cost", speed_cost);
  not_negative("force_cost", force_cost);
  not_negative("disturbance", disturbance);
}

namespace {

/// S = Q + A'SA - A'SB (R + B'SB)^{-1} B'SA, by iterating from Q.
Matrix cost_to_go(const Matrix& A, const Matrix& B, const Matrix& Q, const Matrix& R) {
  Matrix S = Q;
  for (int i = 0; i < 100000; ++i) {
    const Matrix SA = S * A;
    const Matrix gain = (R + B.transpose() * S * B).llt().solve(B.transpose() * SA);
    Matrix next = Q + A.transpose() * SA - SA.transpose() * B * gain;
    next = (next + next.transpose()).eval() / 2;
    const double change = (next - S).norm();
    S = next;
    if (change <= 1e-13 * S.norm()) return S;
  }
  throw InputError(
      "model predictive control: the Riccati equation has not converged; is the system stabilizable?");
}

}  // namespace

ModelPredictiveControl::ModelPredictiveControl(ModelPredictiveControlOptions options)
    : options_(std::move(options)) {
  options_.validate();
  const Index carts = options_.carts;
  const Index forces = inputs();
  const Index moving = 2 * carts;
  // (positions, speeds)' = flow (positions, speeds) + push forces, by the trapezoidal rule.
  Matrix flow = Matrix::Zero(moving, moving);
  flow.topRightCorner(carts, carts).setIdentity();
  for (Index i = 0; i < carts; ++i) {
    flow(carts + i, i) = -2 * options_.spring;
    if (i > 0) flow(carts + i, i - 1) = options_.spring;
    if (i + 1 < carts) flow(carts + i, i + 1) = options_.spring;
    flow(carts + i, carts + i) = -options_.friction;
  }
  Matrix push = Matrix::Zero(moving, forces);
  for (Index j = 0; j < forces; ++j) push(carts + options_.pushed[static_cast<std::size_t>(j)], j) = 1;
  const Matrix identity = Matrix::Identity(moving, moving);
  const Eigen::PartialPivLU<Matrix> implicit(identity - options_.dt / 2 * flow);
  A_ = Matrix::Identity(states(), states());
  A_.topLeftCorner(moving, moving) = implicit.solve(identity + options_.dt / 2 * flow);
  A_.topRightCorner(moving, forces) = implicit.solve(options_.dt * push);
  B_ = A_.rightCols(forces);  // f + v acts as f does

  Vector costs(states());
  costs << Vector::Constant(carts, options_.position_cost), Vector::Constant(carts, options_.speed_cost),
      Vector::Constant(forces, options_.force_cost);
  const Matrix Q = costs.asDiagonal();
  const Matrix R = options_.rate_cost * Matrix::Identity(forces, forces);
  S_ = cost_to_go(A_, B_, Q, R);

  // s_t = power s_0 + response (v_0, ..., v_{T-1}).
  hessian_ = options_.rate_cost * Matrix::Identity(variables(), variables());
  linear_ = Matrix::Zero(variables(), states());
  constraints_ = Matrix::Zero(constraints(), variables());
  constraints_.topRows(variables()).setIdentity();
  Matrix power = Matrix::Identity(states(), states());
  Matrix response = Matrix::Zero(states(), variables());
  for (Index t = 0; t < options_.horizon; ++t) {
    power = A_ * power;
    response = A_ * response;
    response.middleCols(t * forces, forces) = B_;
    const Matrix& cost = t + 1 < options_.horizon ? Q : S_;
    hessian_ += response.transpose() * cost * response;
    linear_ += response.transpose() * cost * power;
    for (Index s = 0; s <= t; ++s)
      constraints_.block(variables() + t * forces, s * forces, forces, forces).setIdentity();
  }
  hessian_ = (hessian_ + hessian_.transpose()).eval() / 2;
}

Vector ModelPredictiveControl::ranges() const {
  Vector largest(states());
  largest << Vector::Constant(options_.carts, options_.position_range),
      Vector::Constant(options_.carts, options_.speed_range),
      Vector::Constant(inputs(), options_.force_limit);
  return largest;
}

Table ModelPredictiveControl::draw(std::uint64_t seed, SampleSet set, Index count, Index first) const {
  require_samples(count, first);
  const std::string purpose = "model predictive control: " + std::string(to_string(set));
  const Vector largest = ranges();
  Table drawn(count, states());
  for (Index i = 0; i < count; ++i) {
    RandomStream stream(seed, purpose, static_cast<std::uint64_t>(first + i));
    for (Index j = 0; j < states(); ++j) drawn(i, j) = stream.uniform(-largest[j], largest[j]);
  }
  return drawn;
}

Table ModelPredictiveControl::advance(const Table& states, const Table& plans, std::uint64_t seed,
                                      SampleSet set, Index first) const {
  require(states.cols() == this->states(), "states: have {} entries, must have {}", states.cols(),
          this->states());
  require(plans.rows() == states.rows() && plans.cols() >= inputs(), "plans: {} x {} for {} states",
          plans.rows(), plans.cols(), states.rows());
  require_samples(std::max<Index>(states.rows(), 1), first);
  const std::string purpose = "model predictive control: disturbance, " + std::string(to_string(set));
  Table next = states * A_.transpose() + plans.leftCols(inputs()) * B_.transpose();
  const double limit = options_.force_limit;
  next.rightCols(inputs()) = next.rightCols(inputs()).cwiseMax(-limit).cwiseMin(limit);
  for (Index i = 0; i < next.rows(); ++i) {
    RandomStream stream(seed, purpose, static_cast<std::uint64_t>(first + i));
    for (Index j = 0; j < 2 * options_.carts; ++j)
      next(i, j) += stream.uniform(-options_.disturbance, options_.disturbance);
  }
  return next;
}

problems::Qp ModelPredictiveControl::problem(const Table& states) const {
  require(states.cols() == this->states(), "states: have {} entries, must have {}", states.cols(),
          this->states());
  const Index n = variables();
  const Table forces = states.rightCols(inputs());
  for (Index i = 0; i < forces.rows(); ++i) {
    for (Index j = 0; j < forces.cols(); ++j) {
      require(std::abs(forces(i, j)) <= options_.force_limit,
              "states: entry {} of instance {} is {}, a force beyond its limit {}",
              states.cols() - inputs() + j, i, forces(i, j), options_.force_limit);
    }
  }
  problems::Qp qp;
  qp.P.emplace_back(hessian_.sparseView());
  qp.A.emplace_back(constraints_.sparseView());
  qp.q = states * linear_.transpose();
  qp.l = Table::Constant(states.rows(), constraints(), -options_.rate_limit);
  qp.u = -qp.l;
  qp.l.rightCols(n) = (-forces.array() - options_.force_limit).matrix().replicate(1, options_.horizon);
  qp.u.rightCols(n) = (-forces.array() + options_.force_limit).matrix().replicate(1, options_.horizon);
  return qp;
}

Table ModelPredictiveControl::shifted(const Table& solutions) const {
  const Index n = variables();
  const Index kept = n - inputs();
  require(solutions.cols() == n + 2 * constraints(), "solutions: have {} entries, must have {}",
          solutions.cols(), n + 2 * constraints());
  Table starts = Table::Zero(solutions.rows(), solutions.cols());
  for (const Index group : {Index{0}, n, 2 * n})  // inputs, multipliers of rates and of forces
    starts.middleCols(group, kept) = solutions.middleCols(group + inputs(), kept);
  starts.rightCols(constraints()) = starts.leftCols(n) * constraints_.transpose();
  return starts;
}

}  // namespace surefoot::families
