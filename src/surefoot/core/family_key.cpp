#include "surefoot/core/family_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace surefoot {

std::string FamilyKey::text() const {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : constants) pairs.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}({})", name, fmt::join(pairs, ", "));
}

}  // namespace surefoot
