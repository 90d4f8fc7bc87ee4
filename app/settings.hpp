#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Options of a verb from a TOML file: `key = value` is `--key value` unless that is on the command line
/// already; tables only group keys. Where files go is not a setting. Arguments are those after the verb's
/// name; the returned ones can be parsed in their place. Unknown keys and values of the wrong kind throw
/// InputError with file and line. Keys that only `also` knows are left out.
std::vector<std::string> with_settings(const CLI::App& verb, const std::string& path,
                                       const std::vector<std::string>& arguments,
                                       const CLI::App* also = nullptr);
/// The same from the file's text.
std::vector<std::string> with_settings_text(const CLI::App& verb, const std::string& path,
                                            std::string_view text, const std::vector<std::string>& arguments,
                                            const CLI::App* also = nullptr);
