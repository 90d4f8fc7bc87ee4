#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace surefoot {

/// The name that the user may have meant: fewest insertions, deletions, changes and swaps of neighbouring
/// letters, at most one for every three letters of the text (and one for two); the first of equal ones.
/// Empty if none is near.
std::string nearest_name(std::string_view text, const std::vector<std::string>& names);

}  // namespace surefoot
