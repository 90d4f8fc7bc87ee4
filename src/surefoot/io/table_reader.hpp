#pragma once

#include "surefoot/core/types.hpp"

#include <memory>
#include <string>
#include <vector>

namespace surefoot::io {

/// Consecutive complete rows of a table, row-major: cell (i, j) is values[i * columns + j].
struct RowBlock {
  Index first_row = 0;  ///< number of rows before this block
  Index rows = 0;
  std::vector<double> values;
};

/// Streams a table of numbers in bounded memory: CSV with or without a header line, gzip of it, or NumPy
/// .npy. The format is told by the content, not by the name. Cells may be numbers, nan, inf, -inf in any
/// case; anything else, a ragged row, an empty file, text that is not UTF-8, or a damaged .npy throws
/// InputError naming the file, the line (1-based) and the offending text.
class TableReader {
 public:
  virtual ~TableReader() = default;
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  /// Opens a file, or standard input for "-".
  static std::unique_ptr<TableReader> open(const std::string& path);

  /// Column labels of the header line; empty if the table has none.
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  [[nodiscard]] Index columns() const { return columns_; }

  /// Fills `block` with the next rows; false at the end of the table.
  virtual bool next(RowBlock& block) = 0;

  /// SHA-256 of the bytes of the file as they lie on disk (gzip: of the compressed file), in hexadecimal.
  /// Valid after next() has returned false.
  [[nodiscard]] virtual std::string sha256() = 0;

  /// Bytes consumed so far and the size of the file (0 if unknown), for progress.
  [[nodiscard]] virtual Index bytes_read() const = 0;
  [[nodiscard]] virtual Index bytes_total() const = 0;

 protected:
  TableReader() = default;
  std::vector<std::string> header_;
  Index columns_ = 0;
};

}  // namespace surefoot::io
