#pragma once

#include <string>
#include <string_view>

namespace surefoot::test {

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// The text with its lines joined, as it was before it was filled.
inline std::string unwrapped(const std::string& text) {
  std::string joined;
  for (const char letter : text) {
    const char plain = letter == '\n' ? ' ' : letter;
    if (plain != ' ' || joined.empty() || joined.back() != ' ') joined += plain;
  }
  return joined;
}

}  // namespace surefoot::test
