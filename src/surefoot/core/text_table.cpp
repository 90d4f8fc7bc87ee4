#include "surefoot/core/text_table.hpp"

#include "surefoot/core/error.hpp"

#include <utility>

namespace surefoot {

void TextTable::add_row(std::vector<std::string> cells) {
  require(cells.size() == columns.size(), "table row has {} cells, must have one for each of {} columns",
          cells.size(), columns.size());
  rows.push_back(std::move(cells));
}

}  // namespace surefoot
