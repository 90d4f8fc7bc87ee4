#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace surefoot::testing {

/// Rows of a committed reference table (tests/golden/NAME), as texts; the header line is left out.
inline std::vector<std::vector<std::string>> golden_rows(const std::string& name) {
  std::ifstream file(std::string(SUREFOOT_SOURCE_DIR) + "/tests/golden/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    rows.push_back(row);
  }
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

}  // namespace surefoot::testing
