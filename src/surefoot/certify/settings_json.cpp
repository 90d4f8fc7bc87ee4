#include "surefoot/certify/settings_json.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>

namespace surefoot::certify {

namespace {

nlohmann::ordered_json object_of(const algorithms::Settings& settings) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const algorithms::Setting& setting : settings) {
    nlohmann::ordered_json& entry = object[setting.name];
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, algorithms::Settings>) {
            entry = object_of(value);
          } else {
            entry = value;
          }
        },
        setting.value);
  }
  return object;
}

}  // namespace

std::string settings_json(const algorithms::Settings& settings) {
  return object_of(settings).dump();
}

}  // namespace surefoot::certify
