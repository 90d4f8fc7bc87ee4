#include "surefoot/certify/count_table.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/part.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/csv_reader.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <future>
#include <optional>
#include <string_view>
#include <utility>

namespace surefoot::certify {

namespace {

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

// A first row of increasing whole numbers, 1, 2, 3, ... or 1, 10, 100, is a header that consists of numbers.
std::vector<Index> step_numbers(const io::RowBlock& block, Index columns) {
  std::vector<Index> steps;
  if (block.rows < 2 || columns < 3) return {};
  for (Index i = 0; i < columns; ++i) {
    const double value = block.values[static_cast<std::size_t>(i)];
    const bool fits = value >= 0 && value < 1e15 && value == std::floor(value) &&
                      (steps.empty() || value > static_cast<double>(steps.back()));
    if (!fits) return {};
    steps.push_back(static_cast<Index>(value));
  }
  return steps;
}

}  // namespace

ColumnSteps steps_of_columns(const std::vector<std::string>& header, Index columns,
                             std::optional<Index> first_step) {
  constexpr Index largest_step = 1'000'000'000'000'000;
  require(first_step.value_or(1) >= 0 && first_step.value_or(1) <= largest_step,
          "first step: {} is outside 0 .. {}", first_step.value_or(1), largest_step);
  ColumnSteps result;
  if (!header.empty()) {
    if (auto steps = labelled_steps(header, 0)) {
      result.steps = std::move(*steps);
      return result;
    }
    // A first label without a number before labels with: that column numbers the instances.
    auto steps =
        header.size() > 1 && !trailing_number(header.front()) ? labelled_steps(header, 1) : std::nullopt;
    if (steps) return {std::move(*steps), 1};
    require(first_step.has_value(),
            "the header does not say increasing steps ('{}' .. '{}'); label columns k=1, k=2, ... or give "
            "--first-step",
            header.front(), header.back());
  }
  for (Index i = 0; i < columns; ++i) result.steps.push_back(first_step.value_or(1) + i);
  return result;
}

std::string table_name(const std::string& path) {
  if (path == "-") return "stdin";
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* ending : {".gz", ".csv", ".npy", ".txt", ".tsv"}) {
    const std::string end = ending;
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  }
  return name;
}

RunTable::RunTable(const std::string& path, std::optional<Index> first_step, const io::TableOptions& options)
    : path_(path), options_(options) {
  if (ranks().first()) open(first_step);
  if (ranks().several()) share_columns();
}

void RunTable::open(std::optional<Index> first_step) {
  reader_ = io::TableReader::open(path_, options_);
  cells_ = reader_->columns();
  try {
    columns_ = steps_of_columns(reader_->header(), reader_->columns(), first_step);
  } catch (const InputError& error) {
    throw InputError(path_ + ": " + error.what());
  }
  if (columns_.skipped > 0) notice_ = "the first column numbers the instances and is not a step";
  const bool any = reader_->next(first_block_);
  if (!any) first_block_ = {};
  if (!reader_->header().empty() || !reader_->can_have_header()) return;
  std::vector<Index> numbers = step_numbers(first_block_, reader_->columns());
  if (numbers.empty()) return;
  columns_.steps = std::move(numbers);
  label_rows_ = 1;
  notice_ = "the first row counts the steps and is not a run";
}

void RunTable::share_columns() {
  ByteWriter to;
  to.list(columns_.steps);
  to.number(columns_.skipped);
  to.number(label_rows_);
  to.text(notice_);
  io::TableReader::Rows rows;
  const bool in_parts = reader_ && reader_->rows_in_file().has_value();
  if (in_parts) rows = *reader_->rows_in_file();
  // The row of labels is in no part.
  if (in_parts && label_rows_ > 0) rows.first_byte = io::next_line(path_, rows.first_byte + 1, rows.end_byte);
  to.number(in_parts);
  to.number(rows.first_byte);
  to.number(rows.end_byte);
  to.number(cells_);
  const std::string shared = ranks().broadcast(to.take());
  ByteReader from(shared, "columns of a table");
  columns_.steps = from.list<Index>();
  columns_.skipped = from.number<std::size_t>();
  label_rows_ = from.number<Index>();
  notice_ = from.text();
  const bool parts = from.number<unsigned char>() != 0;
  rows.first_byte = from.number<Index>();
  rows.end_byte = from.number<Index>();
  cells_ = from.number<Index>();
  if (parts) in_parts_ = rows;
}

void RunTable::add_rows(std::vector<runs::Tally>& tallies,
                        const std::function<void(Index, Index)>& progress) {
  const auto parts = static_cast<Index>(tallies.size());
  io::RowBlock block = std::move(first_block_);
  Index first = in_parts_ ? 0 : label_rows_;
  for (bool more = block.rows > 0 || reader_->next(block); more; more = reader_->next(block)) {
    const Index rows = block.rows - first;
    parallel_blocks(parts, [&](Index part) {
      const Part own = part_of(rows, part, parts);
      for (Index row = first + own.first; row < first + own.end(); ++row) {
        tallies[static_cast<std::size_t>(part)].add_run(
            &block.values[static_cast<std::size_t>(row * cells_) + columns_.skipped]);
      }
    });
    first = 0;
    if (progress) progress(reader_->bytes_read(), reader_->bytes_total());
  }
}

struct RunTable::Found {
  bool text = false;  // a row, or a line that is none
  Index blank_line = 0;
  std::string error;
};

// The error that a reader of the whole table would have met first, the same in every process.
void RunTable::require_whole(const Found& own) const {
  ByteWriter to;
  to.number(own.text);
  to.number(own.blank_line);
  to.text(own.error);
  Index blank_line = 0;
  for (const std::string& bytes : ranks().all_gather(to.take())) {
    ByteReader from(bytes, "part of a table");
    const bool text = from.number<unsigned char>() != 0;
    const auto blank = from.number<Index>();
    const std::string error = from.text();
    require(!text || blank_line == 0, "{}:{}: blank line inside the table", io::printable(path_), blank_line);
    if (!error.empty()) throw InputError(error);
    if (blank_line == 0) blank_line = blank;
  }
}

runs::Tally RunTable::count(const runs::TallySpec& spec, const std::function<void(Index, Index)>& progress) {
  std::vector<runs::Tally> tallies(static_cast<std::size_t>(threads()), runs::Tally(spec));
  const auto sum_of_threads = [&] {
    runs::Tally whole = std::move(tallies.front());
    for (std::size_t part = 1; part < tallies.size(); ++part) whole.merge(tallies[part]);
    return whole;
  };
  if (!in_parts_) {
    if (ranks().first()) {
      add_rows(tallies, progress);
      sha256_ = reader_->sha256();
    }
    runs::Tally whole = runs::sum_over_ranks(sum_of_threads());
    require(whole.samples() > 0, "{}: there is no run in the table", path_);
    return whole;
  }
  std::future<std::string> digest;
  if (ranks().first()) digest = std::async(std::launch::async, io::sha256_of_file, path_);
  Found found;
  try {
    first_block_ = {};
    reader_ = io::TableReader::open_part(path_, *in_parts_, ranks().rank(), ranks().count(), options_);
    add_rows(tallies, progress);
    found.blank_line = reader_->blank_line_at_end();
  } catch (const InputError& error) {
    found.error = error.what();
  }
  const runs::Tally own = sum_of_threads();
  found.text = own.samples() > 0 || !found.error.empty();
  require_whole(found);
  const runs::Tally whole = runs::sum_over_ranks(own);
  require(whole.samples() > 0, "{}: there is no run in the table", path_);
  if (ranks().first()) sha256_ = digest.get();
  return whole;
}

}  // namespace surefoot::certify
