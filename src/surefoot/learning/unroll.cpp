#include "surefoot/learning/unroll.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::learning {

using algorithms::Batch;
using algorithms::make_buffer;

namespace {

algorithms::Quantity measured(LossKind kind) {
  return kind == LossKind::objective ? algorithms::Quantity::objective
                                     : algorithms::Quantity::optimality_residual;
}

}  // namespace

Unroll::Unroll(const algorithms::LearnedOperator& op, const Loss& loss, Index steps)
    : op_(op),
      loss_(loss),
      steps_(steps),
      width_(op.width()),
      rows_(op.state_size()),
      workspace_(op.make_workspace()),
      states_(make_buffer((steps + 1) * op.state_size(), op.width())),
      scale_(make_buffer(1, op.width())),
      loss_sum_(make_buffer(1, op.width())),
      value_(make_buffer(1, op.width())),
      cotangent_(make_buffer(op.state_size(), op.width())),
      carried_(make_buffer(op.state_size(), op.width())) {
  require(steps >= 0, "steps: {} is negative", steps);
  loss.validate(steps);
  if (loss.target) target_ = make_buffer(rows_, width_);
}

Batch Unroll::state(Index k) {
  return {states_.data() + k * rows_ * width_, rows_, width_};
}

void Unroll::forward(Index first, Index count, const algorithms::WeightDraw* draw, double* losses) {
  count_ = count;
  op_.load(first, count, *workspace_);
  if (is_measured(loss_.kind)) op_.prepare_vjps(*workspace_);
  if (draw != nullptr) {
    op_.draw(*draw, *workspace_);
  } else {
    op_.use_means(*workspace_);
  }
  if (is_measured(loss_.kind)) op_.prepare_measures(*workspace_);
  if (loss_.target) {
    loss_.target(first, count, {target_.data(), rows_, width_});
    std::fill(scale_.begin(), scale_.end(), loss_.kind == LossKind::nmse ? 0.0 : 1.0);
    if (loss_.kind == LossKind::nmse) {
      for (Index i = 0; i < rows_; ++i) {
        const double* row = target_.data() + i * width_;
        for (Index lane = 0; lane < width_; ++lane) scale_[lane] += row[lane] * row[lane];
      }
      for (double& value : scale_) value = 1 / value;
    }
  }
  std::fill(loss_sum_.begin(), loss_sum_.end(), 0.0);
  op_.start(state(0), *workspace_);
  if (steps_ == 0) add_loss(0, 1);
  for (Index k = 1; k <= steps_; ++k) {
    op_.step_to(k - 1, state(k - 1), state(k), *workspace_);
    const double weight = loss_.weight(k, steps_);
    if (weight != 0) add_loss(k, weight);
  }
  for (Index lane = 0; lane < count; ++lane) {
    if (!std::isfinite(loss_sum_[lane])) loss_sum_[lane] = infinity;
    losses[lane] = loss_sum_[lane];
  }
}

void Unroll::add_loss(Index k, double weight) {
  if (is_measured(loss_.kind)) {
    op_.measure(measured(loss_.kind), k, state(k), *workspace_, value_.data());
  } else {
    const double* z = state(k).data;
    const double* other = loss_.kind == LossKind::residual ? state(k - 1).data : target_.data();
    std::fill(value_.begin(), value_.end(), 0.0);
    for (Index i = 0; i < rows_; ++i) {
      for (Index lane = 0; lane < width_; ++lane) {
        const double gap = z[i * width_ + lane] - other[i * width_ + lane];
        value_[lane] += gap * gap;
      }
    }
    for (Index lane = 0; lane < width_; ++lane) {
      value_[lane] = loss_.kind == LossKind::residual ? std::sqrt(value_[lane]) : value_[lane] * scale_[lane];
    }
  }
  for (Index lane = 0; lane < width_; ++lane) loss_sum_[lane] += weight * value_[lane];
}

// cotangent += seed * weight * d loss_k / d z^k; the residual's part for z^{k-1} goes to carried_.
void Unroll::add_cotangent(Index k, double weight, const double* seed) {
  for (Index lane = 0; lane < width_; ++lane)
    value_[lane] = lane < count_ && loss_sum_[lane] < infinity ? weight * seed[lane] : 0.0;
  if (is_measured(loss_.kind)) {
    op_.measure_vjp(measured(loss_.kind), k, state(k), value_.data(), {cotangent_.data(), rows_, width_},
                    *workspace_);
    return;
  }
  const double* z = state(k).data;
  if (loss_.kind == LossKind::residual) {
    const double* before = state(k - 1).data;
    algorithms::Buffer& norm = scale_;
    std::fill(norm.begin(), norm.end(), 0.0);
    for (Index i = 0; i < rows_; ++i) {
      for (Index lane = 0; lane < width_; ++lane) {
        const double gap = z[i * width_ + lane] - before[i * width_ + lane];
        norm[lane] += gap * gap;
      }
    }
    for (Index lane = 0; lane < width_; ++lane)
      norm[lane] = norm[lane] > 0 ? value_[lane] / std::sqrt(norm[lane]) : 0.0;
    for (Index i = 0; i < rows_; ++i) {
      for (Index lane = 0; lane < width_; ++lane) {
        const Index at = i * width_ + lane;
        const double part = norm[lane] == 0 ? 0.0 : norm[lane] * (z[at] - before[at]);
        cotangent_[at] += part;
        carried_[at] -= part;
      }
    }
    return;
  }
  for (Index lane = 0; lane < width_; ++lane) value_[lane] *= value_[lane] == 0 ? 0.0 : 2 * scale_[lane];
  for (Index i = 0; i < rows_; ++i) {
    for (Index lane = 0; lane < width_; ++lane) {
      const Index at = i * width_ + lane;
      cotangent_[at] += value_[lane] == 0 ? 0.0 : value_[lane] * (z[at] - target_[at]);
    }
  }
}

void Unroll::backward(const double* seed) {
  std::fill(cotangent_.begin(), cotangent_.end(), 0.0);
  if (loss_.kind == LossKind::residual) std::fill(carried_.begin(), carried_.end(), 0.0);
  const Batch cotangent{cotangent_.data(), rows_, width_};
  if (steps_ == 0) add_cotangent(0, 1, seed);
  for (Index k = steps_; k >= 1; --k) {
    const double weight = loss_.weight(k, steps_);
    if (weight != 0) add_cotangent(k, weight, seed);
    op_.step_vjp(k - 1, state(k - 1), cotangent, *workspace_);
    if (loss_.kind == LossKind::residual) {
      for (Index i = 0; i < rows_ * width_; ++i) cotangent_[i] += carried_[i];
      std::fill(carried_.begin(), carried_.end(), 0.0);
    }
  }
  op_.start_vjp(cotangent, *workspace_);
}

}  // namespace surefoot::learning
