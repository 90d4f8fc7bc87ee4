#include "surefoot/families/family_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace surefoot::families {

namespace {

template <class Options>
FamilyKey key_named(const char* name, Options options) {
  FamilyKey key{name, {}};
  visit_constants(options, [&](const char* constant, const auto& value) {
    key.constants[constant] = constant_text(value);
  });
  return key;
}

}  // namespace

std::string constant_text(Index value) {
  return fmt::format("{}", value);
}

std::string constant_text(double value) {
  return fmt::format("{}", value);
}

std::string constant_text(const std::vector<Index>& value) {
  return fmt::format("{}", fmt::join(value, ";"));
}

FamilyKey key_of(const SparseCodingOptions& options) {
  return key_named("sparse-coding", options);
}

FamilyKey key_of(const UnconstrainedQpOptions& options) {
  return key_named("unconstrained-qp", options);
}

FamilyKey key_of(const SinusoidsOptions& options) {
  return key_named("sinusoids", options);
}

FamilyKey key_of(const RobustKalmanOptions& options) {
  return key_named("robust-kalman", options);
}

FamilyKey key_of(const ModelPredictiveControlOptions& options) {
  return key_named("model-predictive-control", options);
}

FamilyKey key_of(const FolderOptions& options) {
  FamilyKey key{"files", {}};
  for (const auto& [name, sha256] : options.digests)
    if (!sha256.empty() && !is_beside_problems(name)) key.constants[name] = sha256;
  return key;
}

}  // namespace surefoot::families
