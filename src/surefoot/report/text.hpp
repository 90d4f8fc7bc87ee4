#pragma once

#include "surefoot/core/utf8.hpp"

#include <cstddef>
#include <string>
#include <string_view>

/// Text from users (names, units, file names) on its way into a terminal, a page, a table or a script.
namespace surefoot::report {

/// single_line(): everything below starts from this.
std::string printable(std::string_view text);

/// Paragraph broken at blanks into lines of at most `width` columns; `first` opens the first line, `rest`
/// the others. A word longer than a line is shortened.
std::string wrapped(std::string_view text, std::size_t width, std::string_view first = "",
                    std::string_view rest = "");

std::string html_escaped(std::string_view text);
std::string markdown_escaped(std::string_view text);
/// Needs no package: letters that no plain LaTeX knows become "?".
std::string latex_escaped(std::string_view text);
/// RFC 4180: quoted where needed; never a formula to a spreadsheet.
std::string csv_quoted(std::string_view text);
/// A string of gnuplot in which nothing is substituted; to be used with `noenhanced`.
std::string gnuplot_quoted(std::string_view text);
/// A word for a POSIX shell, quoted where needed.
std::string shell_quoted(std::string_view text);
/// The same for a file, whose name is never taken for an option.
std::string shell_path(std::string_view path);

}  // namespace surefoot::report
