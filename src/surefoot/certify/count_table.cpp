#include "surefoot/certify/count_table.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace surefoot::certify {

namespace {

bool names_an_index(std::string label) {
  for (char& letter : label) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  constexpr std::array<std::string_view, 9> names{"",       "id",  "index", "instance", "problem",
                                                  "sample", "row", "seed",  "#"};
  return std::find(names.begin(), names.end(), label) != names.end();
}

std::optional<Index> trailing_number(const std::string& label) {
  std::size_t first = label.size();
  while (first > 0 && std::isdigit(static_cast<unsigned char>(label[first - 1])) != 0) --first;
  Index value = 0;
  const auto [end, error] = std::from_chars(label.data() + first, label.data() + label.size(), value);
  if (first == label.size() || error != std::errc() || end != label.data() + label.size())
    return std::nullopt;
  return value;
}

std::optional<std::vector<Index>> labelled_steps(const std::vector<std::string>& labels, std::size_t first) {
  std::vector<Index> steps;
  for (std::size_t i = first; i < labels.size(); ++i) {
    const std::optional<Index> step = trailing_number(labels[i]);
    if (!step || (!steps.empty() && steps.back() >= *step)) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

// A first row 1, 2, 3, ... (or 0, 10, 20, ...) is a header that consists of numbers.
std::vector<Index> step_numbers(const io::RowBlock& block, Index columns) {
  std::vector<Index> steps;
  if (block.rows < 2 || columns < 3) return {};
  const double stride = block.values[1] - block.values[0];
  for (Index i = 0; i < columns; ++i) {
    const double value = block.values[static_cast<std::size_t>(i)];
    const bool fits = value >= 0 && value < 1e15 && value == std::floor(value) && stride >= 1 &&
                      value == block.values[0] + stride * static_cast<double>(i);
    if (!fits) return {};
    steps.push_back(static_cast<Index>(value));
  }
  return steps;
}

}  // namespace

ColumnSteps steps_of_columns(const std::vector<std::string>& header, Index columns, Index first_step) {
  require(first_step >= 0, "first step: {} is negative", first_step);
  ColumnSteps result;
  result.skipped = !header.empty() && header.size() > 1 && names_an_index(header.front()) ? 1 : 0;
  if (!header.empty()) {
    if (auto steps = labelled_steps(header, result.skipped)) {
      result.steps = std::move(*steps);
      return result;
    }
  }
  for (Index i = static_cast<Index>(result.skipped); i < columns; ++i) {
    result.steps.push_back(first_step + i - static_cast<Index>(result.skipped));
  }
  return result;
}

RunTable::RunTable(const std::string& path, Index first_step)
    : path_(path), reader_(io::TableReader::open(path)) {
  columns_ = steps_of_columns(reader_->header(), reader_->columns(), first_step);
  if (columns_.skipped > 0) notice_ = "the first column numbers the instances and is not a step";
  const bool any = reader_->next(first_block_);
  if (!any) first_block_ = {};
  if (!reader_->header().empty()) return;
  std::vector<Index> numbers = step_numbers(first_block_, reader_->columns());
  if (numbers.empty()) return;
  columns_.steps = std::move(numbers);
  label_rows_ = 1;
  notice_ = "the first row counts the steps and is not a run";
}

runs::Tally RunTable::count(const runs::TallySpec& spec, const std::function<void(Index, Index)>& progress) {
  const auto parts = static_cast<std::size_t>(threads());
  std::vector<runs::Tally> tallies(parts, runs::Tally(spec));
  const Index columns = reader_->columns();
  io::RowBlock block = std::move(first_block_);
  Index first = label_rows_;
  for (bool more = block.rows > 0; more; more = reader_->next(block)) {
    const Index rows = block.rows - first;
    parallel_blocks(static_cast<Index>(parts), [&](Index part) {
      const Index begin = first + rows * part / static_cast<Index>(parts);
      const Index end = first + rows * (part + 1) / static_cast<Index>(parts);
      for (Index row = begin; row < end; ++row) {
        tallies[static_cast<std::size_t>(part)].add_run(
            &block.values[static_cast<std::size_t>(row * columns) + columns_.skipped]);
      }
    });
    first = 0;
    if (progress) progress(reader_->bytes_read(), reader_->bytes_total());
  }
  sha256_ = reader_->sha256();
  runs::Tally whole = std::move(tallies.front());
  for (std::size_t part = 1; part < parts; ++part) whole.merge(tallies[part]);
  require(whole.samples() > 0, "{}: there is no run in the table", path_);
  return whole;
}

}  // namespace surefoot::certify
