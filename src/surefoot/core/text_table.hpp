#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace surefoot {

enum class Align { left, right };

struct Column {
  std::string header;
  Align align = Align::right;
  std::string group = {};  ///< neighbours of the same group stand under one common heading
};

/// Rows of ready-made cells under headed columns; report/text_table.hpp lays it out.
struct TextTable {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::size_t key_columns = 1;  ///< leading columns that name the row, repeated where a table is split
  std::vector<std::string> notes = {};  ///< sentences that go with the table into papers (Markdown, LaTeX)

  /// Throws InputError unless there is one cell per column.
  void add_row(std::vector<std::string> cells);
};

}  // namespace surefoot
