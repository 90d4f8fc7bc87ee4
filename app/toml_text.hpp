#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

/// InputError with file and line if it is not TOML.
toml::table parse_toml(const std::string& file, std::string_view text);
