#pragma once

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <toml++/toml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace surefoot::experiments {

/// Settings and training files are short.
inline constexpr std::size_t longest_toml = std::size_t{1} << 20;

/// InputError with file and line if it is not TOML, longer than that, or nested deeper than a stack allows.
toml::table parse_toml(const std::string& file, std::string_view text);

/// What `reader` makes of the file's table. TOML's keys and texts may hold line breaks; messages that quote
/// them do not.
template <class Reader>
auto read_toml(const std::string& file, std::string_view text, Reader reader) {
  try {
    return reader(parse_toml(file, text));
  } catch (const InputError& error) {
    throw InputError(io::printable(error.what()));
  }
}

}  // namespace surefoot::experiments
