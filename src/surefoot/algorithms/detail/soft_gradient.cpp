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
