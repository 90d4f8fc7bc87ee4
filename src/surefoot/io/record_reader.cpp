#include "surefoot/io/record_reader.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/csv_text.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::io {

namespace {

constexpr std::size_t longest_record = std::size_t{16} << 20U;

bool is_measured(const std::string& cell) {
  return parse_measured(cell).has_value();
}

}  // namespace

std::optional<Measured> parse_measured(std::string_view cell) {
  Measured measured;
  measured.censored = cell.starts_with('>');
  if (measured.censored) cell = trim(cell.substr(cell.starts_with(">=") ? 2 : 1));
  if (!parse_number(cell, measured.value)) return std::nullopt;
  if (measured.censored) measured.value = infinity;
  return measured;
}

RecordReader::RecordReader(std::unique_ptr<ByteSource> source, const TableOptions& options)
    : name_(source->name()), source_(gunzip_if_compressed(std::move(source))) {
  options.validate();
  require(!source_->peek(4).starts_with("PK\x03\x04"),
          "{}: is a zip archive (.npz, .xlsx); a table is CSV, gzip of it, or .npy", name_);
  if (source_->peek(6) == "\x93NUMPY") {
    TableOptions of_array = options;
    of_array.one_dimension = true;
    array_ = TableReader::open(std::move(source_), of_array);
    for (Index i = 1; i <= array_->columns(); ++i) labels_.push_back(fmt::format("column {}", i));
    return;
  }
  require(!source_->peek(1).empty(), "{}: the file is empty", name_);
  if (source_->peek(3) == "\xEF\xBB\xBF") {
    std::string mark(3, '\0');
    source_->read(mark.data(), mark.size());
    require(!source_->peek(1).empty(), "{}: the file is empty", name_);
  }
  lines_.emplace(*source_, std::min(options.max_line_bytes, longest_record));
  read_first_line();
}

void RecordReader::fail(std::string_view complaint) const {
  throw InputError(fmt::format("{}:{}: {}", name_, line_, complaint));
}

// A first line in which a run failed ("0.5,timeout") must not be lost as a header.
void RecordReader::read_first_line() {
  std::string_view line;
  lines_->next(line);
  line_ = 1;
  if (const std::string complaint = encoding_complaint(line); !complaint.empty()) fail(complaint);
  if (trim(line).empty()) fail("the first line is blank");
  separator_ = detect_separator(line);
  std::vector<std::string> cells;
  split(line, cells);
  const auto number = std::ranges::find_if(cells, is_measured);
  if (number == cells.end()) {
    has_header_ = true;
    const auto failed =
        std::ranges::find_if(cells, [](const std::string& cell) { return means_failure(cell); });
    if (failed != cells.end())
      fail(fmt::format("'{}' says that a run failed: write inf there, or another label if it is one",
                       excerpt(*failed)));
    labels_ = std::move(cells);
    return;
  }
  const auto label = std::ranges::find_if_not(cells, is_measured);
  if (label != cells.end())
    fail(fmt::format(
        "'{}' is no number and '{}' is no label: neither a row of numbers nor a header; write inf "
        "where a run failed",
        excerpt(*label), excerpt(*number)));
  for (std::size_t i = 1; i <= cells.size(); ++i) labels_.push_back(fmt::format("column {}", i));
  first_ = std::move(cells);
}

void RecordReader::split(std::string_view line, std::vector<std::string>& cells) const {
  if (line.find('"') == std::string_view::npos) {
    std::size_t count = 0;
    while (true) {
      const std::size_t end = std::min(line.find(separator_), line.size());
      if (cells.size() == count) cells.emplace_back();
      cells[count++] = trim(line.substr(0, end));
      if (end == line.size()) break;
      line.remove_prefix(end + 1);
    }
    cells.resize(count);
    return;
  }
  if (std::ranges::count(line, '"') % 2 != 0)
    fail(fmt::format("a quoted cell does not end on its line: '{}'", excerpt(line)));
  cells.clear();
  for (const std::string_view cell : split_cells(line, separator_)) cells.push_back(unquoted(cell));
}

bool RecordReader::next(std::vector<std::string>& cells) {
  if (array_) return next_row(cells);
  if (first_) {
    cells = std::move(*first_);
    first_.reset();
    return true;
  }
  std::string_view line;
  while (lines_->next(line)) {
    line_ = lines_->number();
    if (trim(line).empty()) {
      if (blank_line_ == 0) blank_line_ = line_;
      continue;
    }
    if (blank_line_ > 0) {
      line_ = blank_line_;
      fail("blank line inside the table");
    }
    if (const std::string complaint = encoding_complaint(line); !complaint.empty()) fail(complaint);
    split(line, cells);
    if (cells.size() != labels_.size())
      fail(fmt::format("expected {} cells, found {}: '{}'", labels_.size(), cells.size(), excerpt(line)));
    return true;
  }
  return false;
}

// Numbers as texts of 17 digits, which are read as the same numbers.
bool RecordReader::next_row(std::vector<std::string>& cells) {
  if (row_ == block_.rows) {
    row_ = 0;
    if (!array_->next(block_)) return false;
  }
  const std::size_t columns = labels_.size();
  cells.resize(columns);
  for (std::size_t i = 0; i < columns; ++i)
    cells[i] = fmt::format("{}", block_.values[static_cast<std::size_t>(row_) * columns + i]);
  ++row_;
  ++line_;
  return true;
}

Index RecordReader::bytes_read() const {
  return array_ ? array_->bytes_read() : source_->bytes_read();
}

Index RecordReader::bytes_total() const {
  return array_ ? array_->bytes_total() : source_->bytes_total();
}

std::string RecordReader::sha256() {
  return array_ ? array_->sha256() : source_->sha256();
}

}  // namespace surefoot::io
