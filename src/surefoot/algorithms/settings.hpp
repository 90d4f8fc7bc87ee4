#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace surefoot::algorithms {

struct Setting;
/// What an operator says of itself, in the order in which certificates record it.
using Settings = std::vector<Setting>;

/// A name with its value; null: the operator chose by itself. A list of settings is a group of them.
struct Setting {
  using Value = std::variant<std::nullptr_t, bool, Index, double, std::string, std::vector<Index>,
                             std::vector<double>, Settings>;
  // Not an aggregate: GCC 12 destroys elements of a list of those that it has not made, where memory for one
  // is not there.
  Setting(std::string name_of_it, Value value_of_it)
      : name(std::move(name_of_it)), value(std::move(value_of_it)) {}
  std::string name;
  Value value;
};

}  // namespace surefoot::algorithms
