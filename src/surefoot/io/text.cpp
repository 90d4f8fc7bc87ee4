#include "surefoot/io/text.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace surefoot::io {

namespace {

constexpr bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

// Bytes of the UTF-8 character at the front of non-empty text, 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80U) return 1;
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < length) return 0;
  std::uint32_t point = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(byte(i))) return 0;
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && point < 0x800U) || (length == 4 && point < 0x10000U);
  const bool surrogate = point >= 0xD800U && point <= 0xDFFFU;
  return overlong || surrogate || point > 0x10FFFFU ? 0 : length;
}

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

// The C1 controls (U+0080 to U+009F) steer a terminal just as the ASCII ones do. U+2028 and U+2029 end a
// line; U+202A to U+202E and U+2066 to U+2069 turn the direction of the text after them.
bool is_control(std::string_view character) {
  const auto byte = [character](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  const auto within = [](unsigned char value, unsigned char first, unsigned char last) {
    return value >= first && value <= last;
  };
  if (character.size() == 1) return byte(0) < 0x20U || byte(0) == 0x7FU;
  if (character.size() == 2) return byte(0) == 0xC2U && byte(1) < 0xA0U;
  if (character.size() != 3 || byte(0) != 0xE2U) return false;
  return (byte(1) == 0x80U && within(byte(2), 0xA8U, 0xAEU)) ||
         (byte(1) == 0x81U && within(byte(2), 0xA6U, 0xA9U));
}

// The character at the front of non-empty text, or the byte there that is none.
std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(utf8_length(text), 1));
}

constexpr bool is_blank(char letter) {
  return letter == ' ' || letter == '\t';
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t limit) {
  std::string shown;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == limit) return shown + "...";
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length > 0 ? length : 1);
    if (length == 0 || is_control(character)) {
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
    if (is_control(first_character(text))) return true;
  return false;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); text.remove_prefix(first_character(text).size())) ++count;
  return count;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
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
