#include "surefoot/io/table_reader.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/csv_reader.hpp"
#include "surefoot/io/npy_reader.hpp"

namespace surefoot::io {

void TableOptions::validate() const {
  require(block_bytes >= 1, "block_bytes: 0 is below 1");
  constexpr std::size_t longest = std::size_t{1} << 40U;
  require(max_line_bytes >= 1 && max_line_bytes <= longest, "max_line_bytes: {} is outside 1 .. {}",
          max_line_bytes, longest);
}

std::unique_ptr<TableReader> TableReader::open(const std::string& path, const TableOptions& options) {
  return open(open_raw_bytes(path), options);
}

std::unique_ptr<TableReader> TableReader::open(std::unique_ptr<ByteSource> source,
                                               const TableOptions& options) {
  options.validate();
  source = gunzip_if_compressed(std::move(source));
  require(!source->peek(4).starts_with("PK\x03\x04"),
          "{}: is a zip archive (.npz, .xlsx); a table is CSV, gzip of it, or .npy", source->name());
  if (source->peek(6) == "\x93NUMPY") return std::make_unique<NpyReader>(std::move(source), options);
  return std::make_unique<CsvReader>(std::move(source), options);
}

std::unique_ptr<TableReader> TableReader::open_part(const std::string& path, Rows rows, int part, int parts,
                                                    const TableOptions& options) {
  options.validate();
  std::unique_ptr<ByteSource> source = open_raw_bytes(path);
  if (source->peek(6) == "\x93NUMPY") {
    return std::make_unique<NpyReader>(std::move(source), path, part, parts, options);
  }
  return std::make_unique<CsvReader>(std::move(source), path, rows, part, parts, options);
}

}  // namespace surefoot::io
