#include "surefoot/families/family_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace surefoot::families {

namespace {

template <class Number>
std::string written(const Number& value) {
  return fmt::format("{}", value);
}

}  // namespace

FamilyKey key_of(const SparseCodingOptions& options) {
  return {"sparse-coding",
          {{"measurements", written(options.measurements)},
           {"variables", written(options.variables)},
           {"density", written(options.density)},
           {"noise", written(options.noise)}}};
}

FamilyKey key_of(const UnconstrainedQpOptions& options) {
  return {"unconstrained-qp",
          {{"stiff", written(options.stiff)},
           {"flat", written(options.flat)},
           {"stiff_curvature", written(options.stiff_curvature)},
           {"flat_curvature", written(options.flat_curvature)},
           {"range", written(options.range)},
           {"stiff_factor", written(options.stiff_factor)}}};
}

FamilyKey key_of(const SinusoidsOptions& options) {
  return {"sinusoids",
          {{"amplitude_low", written(options.amplitude_low)},
           {"amplitude_high", written(options.amplitude_high)},
           {"phase_high", written(options.phase_high)},
           {"input_range", written(options.input_range)},
           {"train_points", written(options.train_points)},
           {"test_points", written(options.test_points)}}};
}

FamilyKey key_of(const ModelPredictiveControlOptions& options) {
  return {"model-predictive-control",
          {{"carts", written(options.carts)},
           {"pushed", fmt::format("{}", fmt::join(options.pushed, ";"))},
           {"horizon", written(options.horizon)},
           {"dt", written(options.dt)},
           {"spring", written(options.spring)},
           {"friction", written(options.friction)},
           {"force_limit", written(options.force_limit)},
           {"rate_limit", written(options.rate_limit)},
           {"position_cost", written(options.position_cost)},
           {"speed_cost", written(options.speed_cost)},
           {"force_cost", written(options.force_cost)},
           {"rate_cost", written(options.rate_cost)},
           {"position_range", written(options.position_range)},
           {"speed_range", written(options.speed_range)},
           {"disturbance", written(options.disturbance)}}};
}

}  // namespace surefoot::families
