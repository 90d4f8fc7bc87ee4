#pragma once

#include <CLI/CLI.hpp>

#include <set>
#include <string>

/// The groups that --help, manual pages and completions show options in. A verb that has options of several
/// groups has them all: what is neither statistics nor advanced is common. Options with a group of their own
/// keep it.

namespace help_groups {

inline constexpr const char* common = "Common";
inline constexpr const char* statistics = "Statistics";
inline constexpr const char* advanced = "Advanced";
/// Set where such options are made, because their names mean other things elsewhere (--alpha, --out).
inline constexpr const char* files = "Files";
inline constexpr const char* solver = "Solver settings";

/// Names of the options of a group: statistics or advanced.
const std::set<std::string>& names_in(const std::string& group);

/// Of the verb and the verbs in it.
void arrange(CLI::App& verb);

}  // namespace help_groups
