#pragma once

#include "surefoot/core/family_key.hpp"
#include "surefoot/families/model_predictive_control.hpp"
#include "surefoot/families/sinusoids.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/families/unconstrained_qp.hpp"

namespace surefoot::families {

/// All constants of the distribution that these options describe.
FamilyKey key_of(const SparseCodingOptions& options);
FamilyKey key_of(const UnconstrainedQpOptions& options);
FamilyKey key_of(const SinusoidsOptions& options);
FamilyKey key_of(const ModelPredictiveControlOptions& options);

}  // namespace surefoot::families
