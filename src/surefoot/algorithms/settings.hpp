#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <string>
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
  std::string name;
  Value value;
};

}  // namespace surefoot::algorithms
