#pragma once

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/types.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::certify {

/// Reads fields of one JSON object; errors say where it stands.
class Fields {
 public:
  Fields(const nlohmann::ordered_json& object, std::string place)
      : object_(object), place_(std::move(place)) {
    require(object.is_object(), "certificate: {} is not an object", place_);
  }

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  [[nodiscard]] const nlohmann::ordered_json& at(const char* key) const {
    const auto found = object_.find(key);
    require(found != object_.end(), "certificate: {} has no '{}'", place_, key);
    return *found;
  }
  [[nodiscard]] std::string text(const char* key) const {
    require(at(key).is_string(), "certificate: {}.{} is not a text", place_, key);
    return at(key).get<std::string>();
  }
  [[nodiscard]] bool truth(const char* key) const {
    require(at(key).is_boolean(), "certificate: {}.{} is not true or false", place_, key);
    return at(key).get<bool>();
  }
  [[nodiscard]] double number(const char* key) const { return number_of(at(key), key); }
  [[nodiscard]] double number_or_infinity(const char* key) const {
    return at(key).is_null() ? infinity : number_of(at(key), key);
  }
  /// Of whatever is counted, and steps: -most_counted .. most_counted.
  [[nodiscard]] Index count(const char* key) const { return count_of(at(key), key); }
  /// Any whole number: seeds and places of samples.
  [[nodiscard]] Index whole(const char* key) const { return whole_of(at(key), key); }
  [[nodiscard]] std::optional<Index> optional_count(const char* key) const {
    return at(key).is_null() ? std::nullopt : std::optional(count_of(at(key), key));
  }
  [[nodiscard]] std::vector<double> numbers(const char* key) const {
    std::vector<double> values;
    for (const nlohmann::ordered_json& value : array(key)) values.push_back(number_of(value, key));
    return values;
  }
  [[nodiscard]] std::vector<Index> counts(const char* key) const {
    std::vector<Index> values;
    for (const nlohmann::ordered_json& value : array(key)) values.push_back(count_of(value, key));
    return values;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> values;
    for (const nlohmann::ordered_json& value : array(key)) {
      require(value.is_string(), "certificate: {}.{} holds something that is not a text", place_, key);
      values.push_back(value.get<std::string>());
    }
    return values;
  }
  [[nodiscard]] const nlohmann::ordered_json& array(const char* key) const {
    require(at(key).is_array(), "certificate: {}.{} is not a list", place_, key);
    return at(key);
  }
  [[nodiscard]] Fields child(const char* key) const { return {at(key), place_ + "." + key}; }

  template <class T, class Read>
  [[nodiscard]] std::vector<T> list(const char* key, Read&& read) const {
    std::vector<T> values;
    const nlohmann::ordered_json& items = array(key);
    values.reserve(items.size());
    for (const nlohmann::ordered_json& item : items) {
      values.push_back(read(Fields(item, fmt::format("{}.{}[{}]", place_, key, values.size()))));
    }
    return values;
  }

 private:
  [[nodiscard]] double number_of(const nlohmann::ordered_json& value, const char* key) const {
    require(value.is_number(), "certificate: {}.{} is not a number", place_, key);
    return value.get<double>();
  }
  [[nodiscard]] Index count_of(const nlohmann::ordered_json& value, const char* key) const {
    const Index count = whole_of(value, key);
    require(-most_counted <= count && count <= most_counted, "certificate: {}.{} is {}, beyond {}", place_,
            key, count, most_counted);
    return count;
  }
  [[nodiscard]] Index whole_of(const nlohmann::ordered_json& value, const char* key) const {
    constexpr std::uint64_t largest = std::numeric_limits<Index>::max();
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= largest);
    require(fits, "certificate: {}.{} is not a whole number in range", place_, key);
    return value.get<Index>();
  }

  const nlohmann::ordered_json& object_;
  std::string place_;
};

}  // namespace surefoot::certify
