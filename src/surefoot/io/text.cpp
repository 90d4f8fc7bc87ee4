#include "surefoot/io/text.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/utf8.hpp"
#include "surefoot/io/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace surefoot::io {

namespace {

std::string escaped(unsigned char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\0':
      return "\\0";
    default:
      return fmt::format("\\x{:02x}", byte);
  }
}

// The character at the front of non-empty text, or the byte there that is none.
std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(decode_utf8(text).bytes, 1));
}

constexpr bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t limit) {
  std::string shown;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == limit) return shown + "...";
    const CodePoint point = decode_utf8(text);
    const std::string_view character = first_character(text);
    if (point.bytes == 0 || is_control(point.value)) {
      for (const char byte : character) shown += escaped(static_cast<unsigned char>(byte));
    } else {
      shown += character;
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

std::string printable(std::string_view text) {
  return excerpt(text, std::numeric_limits<std::size_t>::max());
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

bool has_control_characters(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(first_character(text).size()))
    if (const CodePoint point = decode_utf8(text); point.bytes > 0 && is_control(point.value)) return true;
  return false;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); text.remove_prefix(first_character(text).size())) ++count;
  return count;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (point.bytes == 0) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split_list(std::string_view option, std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part = trim(text.substr(0, end));
    require(!part.empty(), "{}: an entry of the list is empty", option);
    parts.emplace_back(part);
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

bool parse_number(std::string_view cell, double& value) {
  const char* end = cell.data() + cell.size();
  return parse_double(cell.data(), end, value) == end && !cell.empty();
}

bool parse_integer(std::string_view cell, long long& value) {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  const char* end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace surefoot::io
