#include "surefoot/families/unconstrained_qp.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace surefoot::families {

void UnconstrainedQpOptions::validate() const {
  require(stiff >= 0 && flat >= 0 && stiff + flat >= 1, "stiff, flat: {} and {} entries", stiff, flat);
  for (const double value : {stiff_curvature, flat_curvature, range, stiff_factor})
    require(std::isfinite(value) && value > 0, "curvatures, range, stiff_factor: {} must be > 0", value);
}

UnconstrainedQp::UnconstrainedQp(UnconstrainedQpOptions options) : options_(options) {
  options_.validate();
}

problems::Vector UnconstrainedQp::curvature() const {
  problems::Vector diagonal = problems::Vector::Constant(variables(), options_.flat_curvature);
  diagonal.head(options_.stiff).setConstant(options_.stiff_curvature);
  return diagonal;
}

problems::Vector UnconstrainedQp::ranges() const {
  problems::Vector largest = problems::Vector::Constant(variables(), options_.range);
  largest.head(options_.stiff) *= options_.stiff_factor;
  return largest;
}

double UnconstrainedQp::largest_solution() const {
  return (ranges().array() / curvature().array()).matrix().norm();
}

problems::Table UnconstrainedQp::draw(std::uint64_t seed, SampleSet set, Index count, Index first) const {
  require_samples(count, first);
  const std::string purpose = "unconstrained QP: " + std::string(to_string(set));
  const problems::Vector largest = ranges();
  problems::Table c(count, variables());
  for (Index i = 0; i < count; ++i) {
    RandomStream stream(seed, purpose, static_cast<std::uint64_t>(first + i));
    for (Index j = 0; j < variables(); ++j) c(i, j) = stream.uniform(-largest[j], largest[j]);
  }
  return c;
}

problems::Quadratic UnconstrainedQp::problem(problems::Table c) const {
  return {curvature().asDiagonal(), std::move(c)};
}

problems::Table UnconstrainedQp::solutions(const problems::Table& c) const {
  return -(c.array().rowwise() / curvature().transpose().array()).matrix();
}

}  // namespace surefoot::families
