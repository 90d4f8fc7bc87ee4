#pragma once

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/table_reader.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace surefoot::io {

/// The .npy side of TableReader. C order streams; Fortran order is loaded whole, as rows lie scattered.
class NpyReader final : public TableReader {
 public:
  NpyReader(std::unique_ptr<ByteSource> source, const TableOptions& options);
  /// A part of the rows; `whole` is the file, for its head.
  NpyReader(std::unique_ptr<ByteSource> whole, const std::string& path, int part, int parts,
            const TableOptions& options);

  bool next(RowBlock& block) override;
  void skip(Index rows) override;
  [[nodiscard]] std::optional<Rows> rows_in_file() const override { return rows_in_file_; }
  [[nodiscard]] std::optional<Index> rows_said() const override { return rows_; }
  [[nodiscard]] std::optional<Index> rows_per_group() const override { return rows_per_group_; }
  [[nodiscard]] Index rows_in_part() const override { return rows_; }
  [[nodiscard]] std::size_t memory_to_come(const RowBlock& block) const override;
  [[nodiscard]] std::string sha256() override { return source_->sha256(); }
  [[nodiscard]] std::string sha256_so_far() const override { return source_->sha256_so_far(); }
  [[nodiscard]] Index bytes_read() const override { return source_->bytes_read(); }
  [[nodiscard]] Index bytes_total() const override { return source_->bytes_total(); }

 private:
  void load_whole(const TableOptions& options);
  void read_rows(Index rows);

  std::unique_ptr<ByteSource> source_;
  NpyHeader header_of_array_;
  Index rows_ = 0;
  Index rows_per_block_ = 0;
  Index rows_delivered_ = 0;
  std::optional<Index> rows_per_group_;
  bool whole_ = false;
  bool part_ = false;  ///< rows_ are those of a part
  std::optional<Rows> rows_in_file_;
  std::vector<char> raw_;
};

}  // namespace surefoot::io
