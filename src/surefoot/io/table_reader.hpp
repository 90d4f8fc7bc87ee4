#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace surefoot::io {

class ByteSource;

/// Consecutive complete rows of a table, row-major: cell (i, j) is values[i * columns + j].
struct RowBlock {
  Index first_row = 0;  ///< number of rows before this block
  Index rows = 0;
  std::vector<double> values;
  std::vector<std::string> texts;  ///< of TableOptions::text_columns, row-major
};

struct TableOptions {
  std::size_t block_bytes = std::size_t{8} << 20U;       ///< text or array data read at a time
  std::size_t max_line_bytes = std::size_t{256} << 20U;  ///< longest line of text, longest row of an array
  /// What reading may take: the buffers of long lines, a .npy in Fortran order, which is loaded whole. 0:
  /// half of the machine's memory.
  std::size_t memory_bytes = 0;
  bool one_dimension = false;  ///< a .npy of one dimension is a column; otherwise it is refused
  /// CSV: columns, by their labels in the header line, whose cells are texts (RowBlock::texts) and not
  /// numbers.
  std::vector<std::string> text_columns = {};

  void validate() const;
};

/// Streams a table of numbers in bounded memory: CSV with or without a header line, gzip of it, or NumPy
/// .npy. The format is told by the content, not by the name. Cells may be numbers, nan, inf, -inf in any
/// case; anything else, a ragged row, an empty file, text that is not UTF-8, or a damaged .npy throws
/// InputError naming the file, the line (1-based) and the offending text.
///
/// CSV: cells are separated by tabs, else semicolons, else commas, whichever the first line has. The first
/// line is a header if no cell of it is a number, or if its first cell is none (a label, or nothing) and all
/// others are whole numbers that increase; labels are different. Any other first line with a cell that is no
/// number is refused. Spaces around cells, quoted labels, CRLF, a byte order mark and blank lines at the end
/// are accepted. Where text columns are asked for, the first line is a header line; texts may be quoted, ""
/// in quotes is one quote, and an empty text is refused. NumPy: two dimensions, real numbers, integers or
/// booleans; or three (groups x ticks x steps, rows_per_group()).
class TableReader {
 public:
  virtual ~TableReader() = default;
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  /// Opens a file, or standard input for "-".
  static std::unique_ptr<TableReader> open(const std::string& path, const TableOptions& options = {});
  static std::unique_ptr<TableReader> open(std::unique_ptr<ByteSource> source,
                                           const TableOptions& options = {});

  /// Where the rows of a table lie in its file as they are, so that several readers can take a part each.
  struct Rows {
    Index first_byte = 0;
    Index end_byte = 0;
  };
  /// None if the rows cannot be told apart without reading all before them (gzip, standard input, Fortran
  /// order).
  [[nodiscard]] virtual std::optional<Rows> rows_in_file() const { return std::nullopt; }
  /// How many rows it has, where its first bytes say so (.npy).
  [[nodiscard]] virtual std::optional<Index> rows_said() const { return std::nullopt; }
  /// Reads part `part` of `parts` of those rows, by the place of a row's first byte. The parts together give
  /// the rows of the table. An error of a part names the line as a reader of the whole does; blank lines at
  /// the end of a part are no error of it.
  static std::unique_ptr<TableReader> open_part(const std::string& path, Rows rows, int part, int parts,
                                                const TableOptions& options = {});
  /// Of a part, before it is read: how many rows it has, blank lines at its end included.
  [[nodiscard]] virtual Index rows_in_part() const { return 0; }
  /// Of a part, after its end: the first of the blank lines that it ends in, 0 if there is none.
  [[nodiscard]] virtual Index blank_line_at_end() const { return 0; }

  /// Column labels of the header line, without text columns; empty if the table has none.
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  /// Numbers of a row.
  [[nodiscard]] Index columns() const { return columns_; }
  /// Of an array with three dimensions: rows 0 .. n - 1 are a group, rows n .. 2 n - 1 the next.
  [[nodiscard]] virtual std::optional<Index> rows_per_group() const { return std::nullopt; }
  /// Whether the format can have a header line at all: then a first row of numbers may be one.
  [[nodiscard]] virtual bool can_have_header() const { return false; }

  /// Fills `block` with the next rows, at least one; false at the end of the table. The rows of all blocks
  /// together, and the message of any error, do not depend on the number of threads.
  virtual bool next(RowBlock& block) = 0;

  /// Passes over the next rows without looking at them: rows that were read before, in the blocks of next().
  /// InputError if there are not so many.
  virtual void skip(Index rows) = 0;

  /// Bytes that its buffers and `block`, as the last next() left it, may still come to take.
  [[nodiscard]] virtual std::size_t memory_to_come(const RowBlock& block) const = 0;

  /// SHA-256 of the bytes of the file as they lie on disk (gzip: of the compressed file), in hexadecimal.
  /// Valid after next() has returned false.
  [[nodiscard]] virtual std::string sha256() = 0;
  /// The same of bytes_read(). Equal after the same rows, read or passed over.
  [[nodiscard]] virtual std::string sha256_so_far() const = 0;

  /// Bytes consumed so far and the size of the file (0 if unknown), for progress.
  [[nodiscard]] virtual Index bytes_read() const = 0;
  [[nodiscard]] virtual Index bytes_total() const = 0;

 protected:
  TableReader() = default;
  std::vector<std::string> header_;
  Index columns_ = 0;
};

}  // namespace surefoot::io
