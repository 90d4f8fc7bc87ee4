#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::io {

/// Text for an error message: control characters and bytes that are not UTF-8 become \\n, \\t, \\0 or \\xNN,
/// and what exceeds `limit` characters is cut and shown as "...".
std::string excerpt(std::string_view text, std::size_t limit = 40);

/// The whole of a path or name, made safe for a message in the same way.
std::string printable(std::string_view text);

/// The words of the system for an errno.
std::string reason(int error);

bool is_utf8(std::string_view text);

/// Whether it has characters that steer a terminal, end a line or turn the direction of the text after them.
bool has_control_characters(std::string_view text);

/// Characters of UTF-8; a byte that is no part of one counts too.
std::size_t character_count(std::string_view text);

/// Without the spaces and tabs at both ends.
std::string_view trim(std::string_view text);

/// "a,b,c" as its parts, trimmed; an empty one is refused in the name of `option`.
std::vector<std::string> split_list(std::string_view option, std::string_view text);

/// Reads a whole cell as a number: decimal or scientific notation, an optional sign, nan, inf or infinity in
/// any case. Values too large for a double become infinite, values too small become zero.
bool parse_number(std::string_view cell, double& value);

/// Reads a whole cell as an integer that fits.
bool parse_integer(std::string_view cell, long long& value);

}  // namespace surefoot::io
