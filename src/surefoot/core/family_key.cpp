#include "surefoot/core/family_key.hpp"

#include "surefoot/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace surefoot {

namespace {

constexpr std::string_view between_constants = ", ";

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

}  // namespace surefoot
