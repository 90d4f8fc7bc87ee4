#include "surefoot/experiments/paper_tables.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/experiments/data.hpp"
#include "surefoot/io/number.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace surefoot::experiments {

namespace {

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

PaperTable::PaperTable(const std::string& file) : PaperTable(file, data_file(file)) {}

PaperTable::PaperTable(const std::string& file, std::string_view text) {
  for (const std::string_view line : split_at(text, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> cells = split_at(line, ',');
    if (columns_.empty()) {
      columns_.assign(cells.begin(), cells.end());
      continue;
    }
    require(cells.size() == columns_.size(), "{}: {} cells under {} columns: '{}'", file, cells.size(),
            columns_.size(), io::excerpt(line));
    std::vector<std::optional<double>>& row = rows_.emplace_back();
    for (const std::string_view cell : cells) {
      double value = 0;
      require(cell == "-" || io::parse_number(cell, value), "{}: '{}' is not a number", file,
              io::excerpt(cell));
      row.push_back(cell == "-" ? std::nullopt : std::optional(value));
    }
    require(row.front().has_value(), "{}: a row without its share", file);
  }
}

double PaperTable::quantile(Index row) const {
  return *rows_.at(static_cast<std::size_t>(row)).front() / 100;
}

std::optional<double> PaperTable::at(Index row, std::string_view column) const {
  const auto place = std::find(columns_.begin(), columns_.end(), column) - columns_.begin();
  if (place == std::ssize(columns_)) return std::nullopt;
  return rows_.at(static_cast<std::size_t>(row))[static_cast<std::size_t>(place)];
}

std::optional<Index> PaperTable::count_at(Index row, std::string_view column) const {
  const std::optional<double> value = at(row, column);
  return value ? std::optional(static_cast<Index>(std::llround(*value))) : std::nullopt;
}

std::optional<Index> PaperTable::find(double quantile, double tolerance) const {
  constexpr double same_share = 1e-9;
  for (Index row = 0; row < rows(); ++row) {
    if (std::abs(this->quantile(row) - quantile) < same_share && at(row, "tol") == tolerance) return row;
  }
  return std::nullopt;
}

std::optional<Index> paper_bound_from(const PaperTable& table, Index row, Index samples) {
  return table.count_at(row, fmt::format("samples_{}", samples));
}

}  // namespace surefoot::experiments
