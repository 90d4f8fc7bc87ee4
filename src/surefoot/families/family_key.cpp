#include "surefoot/families/family_key.hpp"

#include "surefoot/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace surefoot::families {

namespace {

constexpr std::string_view between_constants = ", ";

template <class Number>
std::string written(const Number& value) {
  return fmt::format("{}", value);
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of("(),= \n") == std::string_view::npos;
}

}  // namespace

std::string FamilyKey::text() const {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : constants) pairs.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}({})", name, fmt::join(pairs, between_constants));
}

FamilyKey parse_family_key(std::string_view text) {
  const std::size_t open = text.find('(');
  FamilyKey key;
  bool good = open != std::string_view::npos && text.ends_with(')');
  if (good) {
    key.name = text.substr(0, open);
    std::string_view rest = text.substr(open + 1, text.size() - open - 2);
    good = is_word(key.name);
    while (good && !rest.empty()) {
      const std::size_t end = rest.find(between_constants);
      const std::string_view pair = rest.substr(0, end);
      const std::size_t equals = pair.find('=');
      good = equals != std::string_view::npos && is_word(pair.substr(0, equals)) &&
             is_word(pair.substr(equals + 1));
      if (!good) break;
      key.constants[std::string(pair.substr(0, equals))] = pair.substr(equals + 1);
      rest = end == std::string_view::npos ? "" : rest.substr(end + between_constants.size());
    }
  }
  require(good && key.text() == text, "family: '{}' is not a name with its constants in brackets", text);
  return key;
}

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
