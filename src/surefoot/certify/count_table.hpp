#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/io/table_reader.hpp"
#include "surefoot/runs/tally.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace surefoot::certify {

/// Which step each column of a table belongs to.
struct ColumnSteps {
  std::vector<Index> steps;
  std::size_t skipped = 0;  ///< leading columns that only number the instances
};

/// From labels such as "1", "k=10" or "iter_250": the whole number at their end. A first column whose label
/// has none is skipped: it numbers the instances. Labels that do not increase are refused, unless first_step
/// is given: then columns are first_step, first_step + 1, ... Without a header they begin at first_step,
/// or 1.
ColumnSteps steps_of_columns(const std::vector<std::string>& header, Index columns,
                             std::optional<Index> first_step);

/// What the runs of a file are called if nobody says: osqp_cold.csv.gz osqp_cold, standard input stdin.
std::string table_name(const std::string& path);

/// A table of runs whose columns are known and whose rows are still to be counted. Several processes
/// (core/ranks.hpp) read a part each where rows lie in the file as they are; otherwise the first reads all.
class RunTable {
 public:
  RunTable(const std::string& path, std::optional<Index> first_step, const io::TableOptions& options = {});

  [[nodiscard]] const std::vector<Index>& steps() const { return columns_.steps; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// What the reader made of the table that its owner may not expect; empty if nothing.
  [[nodiscard]] const std::string& notice() const { return notice_; }

  /// Reads all rows. `progress` is told the bytes read so far and in all (0: unknown). Call once.
  runs::Tally count(const runs::TallySpec& spec, const std::function<void(Index, Index)>& progress);
  /// Of the file; valid after count().
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  /// What one process found in its part.
  struct Found;
  void open(std::optional<Index> first_step);
  void share_columns();
  void add_rows(std::vector<runs::Tally>& tallies, const std::function<void(Index, Index)>& progress);
  void require_whole(const Found& own) const;

  std::string path_;
  io::TableOptions options_;
  std::unique_ptr<io::TableReader> reader_;
  Index cells_ = 0;                                ///< of a row
  std::optional<io::TableReader::Rows> in_parts_;  ///< where processes read parts
  ColumnSteps columns_;
  io::RowBlock first_block_;
  Index label_rows_ = 0;
  std::string notice_;
  std::string sha256_;
};

}  // namespace surefoot::certify
