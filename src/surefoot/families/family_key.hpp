#pragma once

#include "surefoot/core/family_key.hpp"
#include "surefoot/families/folder_family.hpp"
#include "surefoot/families/model_predictive_control.hpp"
#include "surefoot/families/robust_kalman.hpp"
#include "surefoot/families/sinusoids.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/families/unconstrained_qp.hpp"

namespace surefoot::families {

/// visit_constants(options, visit) calls visit(name, value) for every constant of a distribution: the one
/// list that keys, metadata of weights and training files are written and read by. Options are taken apart
/// by all of their fields, so that a new one cannot be left out unseen.
template <class Visit>
void visit_constants(SparseCodingOptions& options, const Visit& visit) {
  auto& [measurements, variables, density, noise] = options;
  visit("measurements", measurements);
  visit("variables", variables);
  visit("density", density);
  visit("noise", noise);
}

template <class Visit>
void visit_constants(UnconstrainedQpOptions& options, const Visit& visit) {
  auto& [stiff, flat, stiff_curvature, flat_curvature, range, stiff_factor] = options;
  visit("stiff", stiff);
  visit("flat", flat);
  visit("stiff_curvature", stiff_curvature);
  visit("flat_curvature", flat_curvature);
  visit("range", range);
  visit("stiff_factor", stiff_factor);
}

template <class Visit>
void visit_constants(SinusoidsOptions& options, const Visit& visit) {
  auto& [amplitude_low, amplitude_high, phase_high, input_range, train_points, test_points] = options;
  visit("amplitude_low", amplitude_low);
  visit("amplitude_high", amplitude_high);
  visit("phase_high", phase_high);
  visit("input_range", input_range);
  visit("train_points", train_points);
  visit("test_points", test_points);
}

template <class Visit>
void visit_constants(RobustKalmanOptions& options, const Visit& visit) {
  auto& [horizon, damping, dt, mu, rho, noise, outlier_probability, outlier_noise, true_huber] = options;
  visit("horizon", horizon);
  visit("damping", damping);
  visit("dt", dt);
  visit("mu", mu);
  visit("rho", rho);
  visit("noise", noise);
  visit("outlier_probability", outlier_probability);
  visit("outlier_noise", outlier_noise);
  Index huber = true_huber ? 1 : 0;
  visit("true_huber", huber);
  true_huber = huber != 0;
}

template <class Visit>
void visit_constants(ModelPredictiveControlOptions& options, const Visit& visit) {
  auto& [carts, pushed, horizon, dt, spring, friction, force_limit, rate_limit, position_cost, speed_cost,
         force_cost, rate_cost, position_range, speed_range, disturbance] = options;
  visit("carts", carts);
  visit("pushed", pushed);
  visit("horizon", horizon);
  visit("dt", dt);
  visit("spring", spring);
  visit("friction", friction);
  visit("force_limit", force_limit);
  visit("rate_limit", rate_limit);
  visit("position_cost", position_cost);
  visit("speed_cost", speed_cost);
  visit("force_cost", force_cost);
  visit("rate_cost", rate_cost);
  visit("position_range", position_range);
  visit("speed_range", speed_range);
  visit("disturbance", disturbance);
}

/// A constant as keys and metadata write it: with as many digits as tell numbers apart, lists by ';'.
std::string constant_text(Index value);
std::string constant_text(double value);
std::string constant_text(const std::vector<Index>& value);

/// All constants of the distribution that these options describe.
FamilyKey key_of(const SparseCodingOptions& options);
FamilyKey key_of(const UnconstrainedQpOptions& options);
FamilyKey key_of(const SinusoidsOptions& options);
FamilyKey key_of(const RobustKalmanOptions& options);
FamilyKey key_of(const ModelPredictiveControlOptions& options);
/// "files" and the digests that are known, as a solver's runs on the same files name them.
FamilyKey key_of(const FolderOptions& options);

}  // namespace surefoot::families
