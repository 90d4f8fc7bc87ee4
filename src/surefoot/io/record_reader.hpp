#pragma once

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/line_reader.hpp"
#include "surefoot/io/table_reader.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::io {

/// Streams a table of text cells line by line: CSV (also gzipped) as benchmark programs write it, or the
/// numbers of a .npy. Cells are separated as in TableReader; quoted ones may hold separators, and "" for a
/// quote, but no end of line. Every line has as many cells as the first; blank lines are accepted at the end
/// alone. InputError names the file, the line and the text.
class RecordReader {
 public:
  RecordReader(std::unique_ptr<ByteSource> source, const TableOptions& options);

  /// Labels of the first line; "column 1", "column 2", ... where it has none: numbers alone, or a .npy. A
  /// first line of numbers and other texts is neither and refused.
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }
  [[nodiscard]] bool has_header() const { return has_header_; }

  /// The next line, without quotes, valid until the next call; false at the end.
  bool next(std::vector<std::string>& cells);
  /// 1-based number of the line last given; of a .npy, of its row.
  [[nodiscard]] Index line() const { return line_; }
  /// InputError that names the line last given.
  [[noreturn]] void fail(std::string_view complaint) const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Index bytes_read() const;
  [[nodiscard]] Index bytes_total() const;
  /// Of the bytes as they lie in the file; valid after next() has returned false.
  [[nodiscard]] std::string sha256();

 private:
  void read_first_line();
  void split(std::string_view line, std::vector<std::string>& cells) const;
  bool next_row(std::vector<std::string>& cells);

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::optional<LineReader> lines_;
  std::unique_ptr<TableReader> array_;  ///< of a .npy
  RowBlock block_;
  Index row_ = 0;  ///< of the block, next to be given
  char separator_ = ',';
  std::vector<std::string> labels_;
  bool has_header_ = false;
  std::optional<std::vector<std::string>> first_;  ///< a first line that is none of labels
  Index line_ = 0;
  Index blank_line_ = 0;
};

/// A number as results have it: a number, nan, inf, or "> 4000" (">= 4000"), which is known only to exceed
/// 4000.
struct Measured {
  double value = 0;  ///< infinite if censored
  bool censored = false;
};
/// None if the cell is anything else.
std::optional<Measured> parse_measured(std::string_view cell);

}  // namespace surefoot::io
