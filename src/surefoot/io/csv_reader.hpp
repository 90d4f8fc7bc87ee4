#pragma once

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/table_reader.hpp"

#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::io {

/// The first byte of a file at or after `place` > 0 that begins a line, or `end`.
Index next_line(const std::string& path, Index place, Index end);

/// Lines that begin at bytes begin .. end - 1, which is a place where lines begin or end. Counting ends soon
/// after `enough`.
Index count_lines(const std::string& path, Index begin, Index end,
                  Index enough = std::numeric_limits<Index>::max());

/// The CSV side of TableReader. A block of text is cut into chunks at line ends; while these are parsed in
/// parallel, one more task reads (gunzips, hashes) the block after it.
class CsvReader final : public TableReader {
 public:
  CsvReader(std::unique_ptr<ByteSource> source, const TableOptions& options);
  /// A part of the rows; `whole` is the file, for its first line.
  CsvReader(std::unique_ptr<ByteSource> whole, const std::string& path, Rows rows, int part, int parts,
            const TableOptions& options);

  bool next(RowBlock& block) override;
  void skip(Index rows) override;
  [[nodiscard]] std::optional<Rows> rows_in_file() const override { return rows_in_file_; }
  [[nodiscard]] Index rows_in_part() const override;
  [[nodiscard]] Index blank_line_at_end() const override;
  [[nodiscard]] bool can_have_header() const override { return true; }
  [[nodiscard]] std::size_t memory_to_come(const RowBlock& block) const override;
  [[nodiscard]] std::string sha256() override { return source_->sha256(); }
  [[nodiscard]] std::string sha256_so_far() const override { return source_->sha256_so_far(); }
  [[nodiscard]] Index bytes_read() const override { return source_->bytes_read(); }
  [[nodiscard]] Index bytes_total() const override { return source_->bytes_total(); }

 private:
  /// Text from the source, ending in a line that may be incomplete unless it is the last buffer.
  struct Buffer {
    std::vector<char> bytes;
    std::size_t begin = 0;     ///< first byte not yet parsed
    std::size_t complete = 0;  ///< end of the last complete line
    std::size_t size = 0;
    bool last = false;
    bool line_too_long = false;
    std::exception_ptr failure;  ///< of reading; thrown when the rows before it have been delivered
  };
  /// What the parse of one chunk of lines found. Lines are counted from 0 within the chunk.
  struct Chunk {
    std::string_view text;
    std::vector<double> values;           ///< the first rows * columns are valid
    std::vector<std::string_view> texts;  ///< as they stand in the file, with their quotes
    Index rows = 0;
    Index lines = 0;
    Index trailing_blank = -1;  ///< first of the blank lines at the end
    Index bad_line = -1;
    std::string complaint;
  };

  void open_first_line();
  [[nodiscard]] Index lines_before() const;
  void load(Buffer& buffer, std::string_view carried);
  void fill(Buffer& buffer);
  void check(const Buffer& buffer) const;
  void read_first_line();
  [[nodiscard]] Index line_with_decimal_commas(const Chunk& chunk) const;
  void require_header(const std::vector<std::string_view>& cells) const;
  void find_text_columns(const std::vector<std::string_view>& cells);
  [[nodiscard]] std::vector<std::string_view> without_texts(std::vector<std::string_view> cells) const;
  void go_on_to_upcoming();
  void split_into_chunks();
  void parse(Chunk& chunk) const;
  bool parse_row(const char* begin, const char* end, double* out, Chunk& chunk) const;
  [[nodiscard]] std::size_t bytes_by_text() const;
  [[nodiscard]] std::string diagnose(std::string_view line) const;
  void account_for(const Chunk& chunk);
  void gather(RowBlock& block);
  [[nodiscard]] std::size_t longest_line() const;
  [[noreturn]] void fail(Index line, std::string_view complaint) const;

  std::unique_ptr<ByteSource> source_;
  TableOptions options_;
  std::size_t line_limit_ = 0;  ///< once the columns are known, if memory is limited; 0: none
  char separator_ = ',';
  Index cells_ = 0;                   ///< of a line: numbers and texts
  std::vector<std::size_t> text_of_;  ///< by cell: which text it is, or no_text; empty: there are none
  static constexpr std::size_t no_text = std::numeric_limits<std::size_t>::max();
  Buffer current_;
  Buffer upcoming_;
  std::vector<Chunk> chunks_;
  std::size_t chunks_used_ = 0;
  Index line_ = 1;        ///< number of the next line to parse
  Index blank_line_ = 0;  ///< first of the blank lines just before it, 0 if none
  Index rows_delivered_ = 0;
  std::optional<Rows> rows_in_file_;
  std::string part_of_;   ///< path of the file that this is a part of; empty: of a whole
  Index part_begin_ = 0;  ///< where it begins and ends there
  Index part_end_ = 0;
  static constexpr Index searched_lines = 256;  ///< of a file, for decimal commas
  Index first_lines_ = searched_lines;          ///< of this part, the same
};

}  // namespace surefoot::io
