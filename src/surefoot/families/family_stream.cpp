#include "surefoot/families/family_stream.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/sha256.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace surefoot::families {

namespace {

constexpr std::size_t stream_bytes = std::size_t{1} << 20U;  // of a file at a time

std::unique_ptr<io::TableReader> open_stream(const std::string& path) {
  return io::TableReader::open(path, {.block_bytes = stream_bytes});
}

}  // namespace

FamilyStream::Mark FamilyStream::mark_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  require(!error, "{}: changed while it was streamed: it cannot be looked at ({})", path, error.message());
  const auto written = std::filesystem::last_write_time(path, error);
  require(!error, "{}: changed while it was streamed: it cannot be looked at ({})", path, error.message());
  return {bytes, written};
}

FamilyStream::Table FamilyStream::opened(const std::string& name, FamilyFiles& files) const {
  Table table;
  table.name = name;
  table.path = files.table_file(name);
  table.mark = mark_of(table.path);
  const auto reader = open_stream(table.path);
  table.columns = reader->columns();
  std::vector<double> first;
  io::RowBlock block;
  while (reader->next(block)) {
    if (interrupt_) interrupt_();
    if (first.empty()) first.assign(block.values.begin(), block.values.begin() + table.columns);
    table.rows += block.rows;
  }
  FamilyFiles::require_no_column_numbers(table.path, reader->can_have_header() && reader->header().empty(),
                                         first.data(), table.columns, table.rows);
  if (table.rows == 1) table.only_row = std::move(first);
  files.note_read(name, table.path, reader->sha256());
  require_same(table);
  return table;
}

FamilyStream::FamilyStream(FamilyFiles& files, const std::vector<std::string>& tables, Interrupt interrupt)
    : files_(files), interrupt_(std::move(interrupt)) {
  for (const std::string& name : tables) {
    tables_.push_back(opened(name, files));
    instances_ = std::max(instances_, tables_.back().rows);
  }
  for (const Table& table : tables_)
    require(table.rows == 1 || table.rows == instances_, "{}: {}: has {} rows, must have {} (instances) or 1",
            table.path, table.name, table.rows, instances_);
  readings_.resize(tables_.size());
}

std::size_t FamilyStream::columns() const {
  std::size_t columns = 0;
  for (const Table& table : tables_)
    columns += table.rows == instances_ ? static_cast<std::size_t>(table.columns) : 0;
  return columns;
}

void FamilyStream::require_same(const Table& table) {
  require(mark_of(table.path) == table.mark,
          "{}: changed while it was streamed (its size or its time is another)", table.path);
}

// Blocks of a reader end where they end; what is left of one is the beginning of the next rows.
void FamilyStream::take(const Table& table, Reading& reading, Index first, Index count, double* to) const {
  if (!reading.reader) {
    reading.reader = open_stream(table.path);
    require(reading.reader->columns() == table.columns,
            "{}: changed while it was streamed: it had {} columns and has {}", table.path, table.columns,
            reading.reader->columns());
  }
  Index have = reading.first + reading.block.rows;
  while (count > 0) {
    if (first < have) {
      const Index rows = std::min(count, have - first);
      const auto from = reading.block.values.begin() + (first - reading.first) * table.columns;
      to = std::copy_n(from, rows * table.columns, to);
      first += rows;
      count -= rows;
      continue;
    }
    if (interrupt_) interrupt_();
    reading.first = have;
    require(reading.reader->next(reading.block),
            "{}: changed while it was streamed: it ends after row {} of {}", table.path, have, table.rows);
    have = reading.first + reading.block.rows;
  }
}

void FamilyStream::each_row(const std::function<void(const double*)>& look) const {
  std::vector<Reading> readings(tables_.size());
  std::vector<double> row(columns());
  for (Index i = 0; i < instances_; ++i) {
    double* to = row.data();
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const Table& table = tables_[t];
      if (table.rows != instances_) continue;
      take(table, readings[t], i, 1, to);
      to += table.columns;
    }
    look(row.data());
  }
  for (const Table& table : tables_) require_same(table);
}

FamilyStream::Vectors FamilyStream::first() const {
  std::vector<Reading> readings(tables_.size());
  return read(readings, 0, 1);
}

FamilyStream::Vectors FamilyStream::read(std::vector<Reading>& readings, Index first, Index count) const {
  Vectors vectors;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const Table& table = tables_[t];
    require_same(table);
    const bool own = table.rows == instances_ && instances_ > 1;
    problems::Table& rows = vectors[table.name];
    rows.resize(own ? count : 1, table.columns);
    if (own)
      take(table, readings[t], first, count, rows.data());
    else
      std::ranges::copy(table.only_row, rows.data());
  }
  return vectors;
}

void FamilyStream::require_unchanged() const {
  for (const Table& table : tables_) require_same(table);
  for (const FamilyFiles::Read& read : files_.files()) {
    const std::string now = io::sha256_of_file(read.file, interrupt_);
    require(now == read.sha256, "{}: changed while it was streamed: its SHA-256 was {} and is {}", read.file,
            read.sha256, now);
  }
}

}  // namespace surefoot::families
