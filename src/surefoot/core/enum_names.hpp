#pragma once

#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

/// Names of the values of an enumeration: one list says what is written, what is read and what errors offer.
namespace surefoot {

template <class E, std::size_t N>
using EnumNames = std::array<std::pair<E, std::string_view>, N>;

/// The name of a value; "?" if the list does not have it.
template <class E, std::size_t N>
constexpr std::string_view name_in(const EnumNames<E, N>& names, E value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "?";
}

/// "a, b, c"
template <class E, std::size_t N>
std::string all_names(const EnumNames<E, N>& names) {
  std::string all;
  for (const auto& [value, name] : names) all.append(all.empty() ? "" : ", ").append(name);
  return all;
}

/// The value of a name; InputError "what: 'text' is not one of a, b, c".
template <class E, std::size_t N>
E value_in(const EnumNames<E, N>& names, std::string_view what, std::string_view text) {
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  // One line, whatever was given.
  std::string given(text);
  for (char& letter : given) {
    if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') letter = '?';
  }
  throw InputError(fmt::format("{}: '{}' is not one of {}", what, given, all_names(names)));
}

}  // namespace surefoot
