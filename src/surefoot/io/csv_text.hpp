#pragma once

#include <string>
#include <string_view>
#include <vector>

/// How a line of CSV is cut into cells, the same for tables of numbers (csv_reader.hpp) and of text
/// (record_reader.hpp).
namespace surefoot::io {

/// Where the cell at the front of `line` ends; a separator within quotes does not end it.
std::size_t cell_end(std::string_view line, char separator);

/// Tab, else semicolon, else comma, whichever the line has outside quotes.
char detect_separator(std::string_view line);

/// The cells of a line, trimmed, as they are written.
std::vector<std::string_view> split_cells(std::string_view line, char separator);

/// Without the quotes around it; "" within quotes stands for one quote.
std::string unquoted(std::string_view cell);

/// Whether a word says that a run has failed ("timeout", "failed"). NaN and inf are numbers.
bool means_failure(std::string_view cell);

/// Whether commas that separate cells look like those of decimals: 0,05 is two whole numbers, and nobody
/// writes the zero in front of the second one.
bool has_decimal_comma(const std::vector<std::string_view>& cells);

/// What is wrong with the bytes of a line, or nothing.
std::string encoding_complaint(std::string_view line);

}  // namespace surefoot::io
