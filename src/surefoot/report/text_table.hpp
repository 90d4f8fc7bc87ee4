#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::report {

enum class Align { left, right };

struct Column {
  std::string header;
  Align align = Align::right;
  std::string group = {};  ///< neighbours of the same group stand under one common heading
};

/// Rows of ready-made cells under headed columns; rendered as aligned text, Markdown, LaTeX or HTML.
struct TextTable {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::size_t key_columns = 1;  ///< leading columns that name the row, repeated where a table is split
  std::vector<std::string> notes = {};  ///< sentences that go with the table into papers (Markdown, LaTeX)

  /// Throws InputError unless there is one cell per column.
  void add_row(std::vector<std::string> cells);
};

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

/// <table> with escaped text; the key columns are row headings, cells that say nothing have class "none".
std::string to_html(const TextTable& table);

/// The table, or parts of it that are at most `width` columns of text wide: cut between groups, about evenly.
std::vector<TextTable> split_to_width(const TextTable& table, std::size_t width);

}  // namespace surefoot::report
