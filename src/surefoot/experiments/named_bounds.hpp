#pragma once

#include "surefoot/bounds/shift.hpp"
#include "surefoot/core/types.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace surefoot::experiments {

/// Arguments of all bounds that `surefoot bound` prints.
struct BoundArguments {
  double q = 0;
  double c = 0;
  Index failures = 0;
  Index samples = 0;
  double quantile = 0;
  double delta = 0;
  std::string method = "exact";
  double risk = 0;
  std::vector<bounds::Shift> shifts;  ///< exactly one, where the bound is about one
};

/// One bound as a number: its arguments by name ("shift" is a choice of divergences), and what it is called
/// in JSON.
struct NamedBound {
  std::string name;
  std::string description;
  std::vector<std::string> arguments;
  std::string result;
  std::variant<double, Index> (*compute)(const BoundArguments&);
  std::string example;  ///< its options
};

const std::vector<NamedBound>& named_bounds();

}  // namespace surefoot::experiments
