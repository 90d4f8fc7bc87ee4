#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The program's command line with all its verbs, or with one of them. Parsing it runs its verb, which sets
/// the exit code.
std::unique_ptr<CLI::App> make_command_line(int& exit_code, std::string_view only = {});

/// Runs the verb that the words name; settings of a family's file are words too. Those that ask for help or
/// the version are answered on standard output. InputError says what cannot be parsed. The exit code is that
/// of the verb.
int run_command_line(const std::vector<std::string>& words);

/// Parses the words and runs what they name, without files of settings. Throws what CLI11 throws.
void parse_words(CLI::App& app, std::vector<std::string> words);
