#include "surefoot/algorithms/detail/soft_gradient.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::algorithms {

void IstaOptions::validate() const {
  require(std::isfinite(lipschitz) && lipschitz >= 0, "lipschitz: is {}, must be >= 0", lipschitz);
}

SoftGradient::SoftGradient(problems::Lasso problem, IstaOptions options) : problem_(std::move(problem)) {
  options.validate();
  problem_.validate();
  n_ = problem_.variables();
  const problems::Table gram = problem_.D.transpose() * problem_.D;
  gram_.assign(gram.data(), gram.data() + gram.size());
  lipschitz_ = options.lipschitz > 0 ? options.lipschitz : problems::largest_eigenvalue(gram);
  require(lipschitz_ > 0, "D: is zero");
}

std::unique_ptr<SoftGradient::Room> SoftGradient::make_room() const {
  auto room = std::make_unique<Room>();
  room->Db = make_buffer(n_, lanes);
  room->product = make_buffer(n_, lanes);
  room->squares = make_buffer(1, lanes);
  room->step = Buffer(lanes, 1 / lipschitz_);
  room->active = make_buffer(n_, lanes);
  room->norm = make_buffer(1, lanes);
  return room;
}

void SoftGradient::load(Index first, Index count, Room& room) const {
  require(count >= 1 && count <= lanes && is_within(first, count, problem_.instances()),
          "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first,
          problem_.instances() - 1, lanes);
  for (Index lane = 0; lane < lanes; ++lane) {
    const auto b = problem_.b.row(first + std::min<Index>(lane, count - 1)).transpose();
    room.squares[lane] = b.squaredNorm();
    for (Index i = 0; i < n_; ++i) room.Db[i * lanes + lane] = problem_.D.col(i).dot(b);
  }
}

void SoftGradient::proximal_vjp(const double* y, const double* step, double* derivative, double* by_step,
                                Room& room) const {
  using V = Lanes<lanes>;
  const Length size = length(step, room);
  const V weight(problem_.weight);
  const V zero(0.0);
  V sum(0.0);
  multiply_gram(y, room);
  for (Index i = 0; i < n_; ++i) {
    double* at = derivative + i * lanes;
    const V entry = proximal_entry(y, i, size, room);
    const V size_of_entry = max(entry, zero - entry);
    const V through = where_greater(size_of_entry, zero, V::load(at), zero);
    through.store(at);
    const V sign = where_greater(entry, zero, weight, zero - weight);
    if (by_step != nullptr) sum.subtract_product(through, gradient_entry(i, room) + sign);
  }
  if (by_step != nullptr) sum.store(by_step);
  multiply_gram(derivative, room);
  for (Index i = 0; i < n_; ++i) {
    double* at = derivative + i * lanes;
    (V::load(at) - size.step * V::load(room.product.data() + i * lanes)).store(at);
  }
}

void SoftGradient::measure(Quantity quantity, const double* z, Room& room, double* value) const {
  if (quantity == Quantity::objective) {
    objective(z, room, value);
  } else {
    optimality(z, room, value);
  }
}

void SoftGradient::optimality(const double* z, Room& room, double* value) const {
  using V = Lanes<lanes>;
  const Length one{V(1.0), V(problem_.weight)};
  multiply_gram(z, room);
  V squares(0.0);
  for (Index i = 0; i < n_; ++i) {
    const V gap = V::load(z + i * lanes) - proximal_entry(z, i, one, room);
    squares.add_product(gap, gap);
  }
  sqrt(squares).store(value);
}

// With r = z - soft(v, weight), v = z - D'(Dz - b), u = d_value r / |r| and c = u where |v| > weight, else 0:
// u - c + D'D c.
void SoftGradient::residual_vjp(const double* z, const double* d_value, double* derivative,
                                Room& room) const {
  using V = Lanes<lanes>;
  const V zero(0.0);
  optimality(z, room, room.norm.data());
  const Length one{V(1.0), V(problem_.weight)};
  const V norm = V::load(room.norm.data());
  const V seed = where_greater(norm, zero, V::load(d_value) / norm, zero);
  for (Index i = 0; i < n_; ++i) {
    const V entry = proximal_entry(z, i, one, room);
    const V gap = seed * (V::load(z + i * lanes) - entry);
    const V through = where_greater(max(entry, zero - entry), zero, gap, zero);
    through.store(room.active.data() + i * lanes);
    double* at = derivative + i * lanes;
    (V::load(at) + gap - through).store(at);
  }
  multiply_gram(room.active.data(), room);
  for (Index i = 0; i < n_; ++i) {
    double* at = derivative + i * lanes;
    (V::load(at) + V::load(room.product.data() + i * lanes)).store(at);
  }
}

void SoftGradient::objective(const double* z, Room& room, double* value) const {
  using V = Lanes<lanes>;
  multiply_gram(z, room);
  V sum = V(0.5) * V::load(room.squares.data());
  const V weight(problem_.weight);
  for (Index i = 0; i < n_; ++i) {
    const V entry = V::load(z + i * lanes);
    const V gradient =
        V(0.5) * V::load(room.product.data() + i * lanes) - V::load(room.Db.data() + i * lanes);
    sum.add_product(entry, gradient);
    sum.add_product(weight, max(entry, V(0.0) - entry));
  }
  sum.store(value);
}

}  // namespace surefoot::algorithms
