#pragma once

#include <string>
#include <string_view>

/// Sources in C that are written for controllers.
namespace surefoot::io {

/// InputError unless it can name a variable.
void require_name_in_c(std::string_view name);

/// A line for a comment, which ends neither the comment nor the line.
std::string c_comment_line(std::string_view text);

}  // namespace surefoot::io
