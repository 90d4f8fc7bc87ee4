#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace surefoot {

/// A character of UTF-8 text.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: the text does not begin with a character
};

/// The character at the front of non-empty text. Overlong forms, surrogates and values beyond U+10FFFF are
/// none.
CodePoint decode_utf8(std::string_view text);

/// Whether it steers a terminal, ends a line or turns the direction of the text after it: ASCII and C1
/// controls, U+2028 to U+202E and U+2066 to U+2069.
bool is_control(std::uint32_t character);

/// Valid UTF-8 on one line: white space becomes a blank; control characters, direction overrides and broken
/// bytes become U+FFFD.
std::string single_line(std::string_view text);

/// Columns of a terminal that printable text takes.
std::size_t display_width(std::string_view text);

/// single_line() in at most `width` columns, the rest replaced by an ellipsis.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace surefoot
