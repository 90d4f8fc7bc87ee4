#include "surefoot/io/npy_reader.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/part.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace surefoot::io {

NpyReader::NpyReader(std::unique_ptr<ByteSource> source, const TableOptions& options)
    : source_(std::move(source)), header_of_array_(read_npy_header(*source_)) {
  const NpyHeader& head = header_of_array_;
  const std::size_t rank = head.shape.size();
  const bool column = rank == 1 && options.one_dimension;
  require(
      rank != 1 || column,
      "{}: the .npy array has one dimension of {} numbers, a table has two: a row per problem, a column per "
      "step. One trace is one row: save it as array[None, :]; one number per problem: --scalar",
      source_->name(), head.shape[0]);
  require(
      rank == 2 || rank == 3 || column,
      "{}: the .npy array has {} dimensions, a table has 2 (rows and columns), or 3 (groups, ticks and steps)",
      source_->name(), rank);
  require(options.text_columns.empty(),
          "{}: a .npy array has no column '{}': groups of its rows are a third dimension", source_->name(),
          options.text_columns.empty() ? "" : options.text_columns.front());
  columns_ = column ? 1 : head.shape.back();
  require(head.elements > 0, "{}: the .npy array of {} elements is empty", source_->name(),
          fmt::join(head.shape, " x "));
  rows_ = head.elements / columns_;
  if (rank == 3) rows_per_group_ = head.shape[1];
  const Index row_bytes = head.data_bytes() / rows_;
  require(static_cast<std::size_t>(row_bytes) <= options.max_line_bytes,
          "{}: a row of {} columns has {} bytes, more than {}", source_->name(), columns_, row_bytes,
          options.max_line_bytes);
  rows_per_block_ = std::max(Index{1}, static_cast<Index>(options.block_bytes) / row_bytes);
  const std::size_t needed = memory_to_come({});
  if (options.memory_bytes > 0 && needed > std::max(options.memory_bytes, 10 * options.block_bytes)) {
    throw ResourceError(
        fmt::format("{}: a row of {} columns needs {} bytes of memory, {} are left within --memory-limit",
                    source_->name(), columns_, needed, options.memory_bytes));
  }
  whole_ = head.fortran_order && head.shape.front() < head.elements && head.shape.back() < head.elements;
  const std::optional<Index> rest = source_->remaining();
  if (!whole_ && rest && source_->bytes_total() > 0) {
    rows_in_file_ = Rows{source_->bytes_total() - *rest, source_->bytes_total()};
  }
  if (whole_) load_whole(options);
}

NpyReader::NpyReader(std::unique_ptr<ByteSource> whole, const std::string& path, int part, int parts,
                     const TableOptions& options)
    : NpyReader(std::move(whole), options) {
  require(rows_in_file_.has_value(), "{}: cannot be read in parts", source_->name());
  const Index row_bytes = header_of_array_.data_bytes() / rows_;
  const Part rows = part_of(rows_, part, parts);
  source_ = open_part_of_file(path, rows_in_file_->first_byte + rows.first * row_bytes,
                              rows_in_file_->first_byte + rows.end() * row_bytes);
  rows_ = rows.count;
  part_ = true;
}

void NpyReader::load_whole(const TableOptions& options) {
  const std::size_t limit = options.memory_bytes > 0 ? options.memory_bytes : default_memory_bytes();
  const auto bytes = static_cast<std::size_t>(header_of_array_.data_bytes());
  if (bytes > limit) {
    throw ResourceError(fmt::format(
        "{}: the .npy array is in Fortran order and needs {} bytes of memory, {} are allowed; saved in C order "
        "(numpy.ascontiguousarray) it streams",
        source_->name(), bytes, limit));
  }
  const std::size_t got = read_growing(*source_, raw_, bytes);
  check_npy_end(*source_, header_of_array_, static_cast<Index>(got));
}

void NpyReader::read_rows(Index rows) {
  const Index row_bytes = columns_ * header_of_array_.element_bytes;
  const std::size_t wanted = static_cast<std::size_t>(rows * row_bytes);
  const std::size_t got = read_growing(*source_, raw_, wanted);
  const bool last = got < wanted || rows_delivered_ + rows == rows_;
  if (last && !part_) {
    check_npy_end(*source_, header_of_array_, rows_delivered_ * row_bytes + static_cast<Index>(got));
  }
}

bool NpyReader::next(RowBlock& block) {
  const Index rows = std::min(rows_per_block_, rows_ - rows_delivered_);
  block.rows = rows;
  block.first_row = rows_delivered_;
  if (rows == 0) return false;
  const NpyHeader& head = header_of_array_;
  if (!whole_) read_rows(rows);
  block.values.resize(static_cast<std::size_t>(rows * columns_));
  if (!whole_) {
    head.convert(raw_.data(), rows * columns_, block.values.data(), 1);
  } else if (rows_per_group_) {
    // Element (group, tick, step) lies at group + groups * (tick + ticks * step).
    const Index ticks = *rows_per_group_;
    const Index groups = rows_ / ticks;
    for (Index i = 0; i < rows; ++i) {
      const Index row = rows_delivered_ + i;
      const Index first = row / ticks + groups * (row % ticks);
      for (Index column = 0; column < columns_; ++column)
        head.convert(raw_.data() + (first + column * rows_) * head.element_bytes, 1,
                     &block.values[static_cast<std::size_t>(i * columns_ + column)], 1);
    }
  } else {
    for (Index column = 0; column < columns_; ++column) {
      const char* first = raw_.data() + (column * rows_ + rows_delivered_) * head.element_bytes;
      head.convert(first, rows, block.values.data() + column, columns_);
    }
  }
  rows_delivered_ += rows;
  return true;
}

std::size_t NpyReader::memory_to_come(const RowBlock& block) const {
  const auto numbers = static_cast<std::size_t>(std::min(rows_per_block_, rows_) * columns_);
  const std::size_t raw = whole_ ? 0 : numbers * static_cast<std::size_t>(header_of_array_.element_bytes);
  const std::size_t all = raw + numbers * sizeof(double);
  const std::size_t held = (whole_ ? 0 : raw_.capacity()) + block.values.capacity() * sizeof(double);
  return all - std::min(held, all);
}

void NpyReader::skip(Index rows) {
  require(rows <= rows_ - rows_delivered_, "{}: has {} rows, {} were there before", source_->name(), rows_,
          rows_delivered_ + rows);
  while (rows > 0) {
    const Index some = std::min(rows, rows_per_block_);
    if (!whole_) read_rows(some);
    rows_delivered_ += some;
    rows -= some;
  }
}

}  // namespace surefoot::io
