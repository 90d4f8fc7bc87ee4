#pragma once

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <toml++/toml.h>

#include <string>
#include <string_view>

/// InputError with file and line if it is not TOML.
toml::table parse_toml(const std::string& file, std::string_view text);

/// What `reader` makes of the file's table. TOML's keys and texts may hold line breaks; messages that quote
/// them do not.
template <class Reader>
auto read_toml(const std::string& file, std::string_view text, Reader reader) {
  try {
    return reader(parse_toml(file, text));
  } catch (const surefoot::InputError& error) {
    throw surefoot::InputError(surefoot::io::printable(error.what()));
  }
}
