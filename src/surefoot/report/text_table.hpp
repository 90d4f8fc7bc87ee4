#pragma once

#include "surefoot/core/text_table.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::report {

using surefoot::Align;
using surefoot::Column;
using surefoot::TextTable;

/// Columns [begin, end) under one heading.
struct ColumnGroup {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name;
};

std::vector<ColumnGroup> column_groups(const TextTable& table);

/// Aligned text for a terminal, a rule under the headings, a line per row.
std::string to_text(const TextTable& table, std::string_view indent = "");

std::string to_markdown(const TextTable& table);

/// A tabular environment for LaTeX, without packages; 1.5e-3 becomes 1.5 times a power of ten.
std::string to_latex(const TextTable& table);

/// \<table\> with escaped text; the key columns are row headings, cells that say nothing have class "none".
std::string to_html(const TextTable& table);

/// The table, or parts of it that are at most `width` columns of text wide: cut between groups, about evenly.
std::vector<TextTable> split_to_width(const TextTable& table, std::size_t width);

}  // namespace surefoot::report
