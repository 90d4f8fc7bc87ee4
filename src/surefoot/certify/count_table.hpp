#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/grouped_rows.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/core/part.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/io/table_reader.hpp"
#include "surefoot/runs/tally.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::certify {

/// Which step each column of a table belongs to, and how that was found out.
struct ColumnSteps {
  enum class From {
    order,      ///< columns count from the first step
    header,     ///< the labels say it
    first_row,  ///< a first row of numbers says it
  };
  std::vector<Index> steps;
  std::size_t skipped = 0;  ///< leading columns that only number the instances
  From from = From::order;
  std::vector<std::string> reading = {};  ///< what was decided, in words, for the certificate
  std::string notice = {};                ///< the part of it that the owner of the table may not expect
};

/// From labels such as "1", "k=10", "iter_250", "Step [5]" or "k=1e3": the same words that mean an iteration
/// (step_words in the source), or none, then a whole number. A first column whose label has no digit is
/// skipped: it numbers the instances. Labels that say anything else ("problem 1", "q50", "log k=1", "t=1.0"),
/// or do not increase, are refused with the label in the message, unless first_step is given:
/// then columns are first_step, first_step + 1, ... Without a header they begin at first_step, or 1.
ColumnSteps steps_of_columns(const std::vector<std::string>& header, Index columns,
                             std::optional<Index> first_step);

/// How a table without a header is read, in words.
std::string unlabelled_columns(const std::vector<Index>& steps);

/// What the runs of a file are called if nobody says: osqp_cold.csv.gz osqp_cold, standard input stdin.
std::string table_name(const std::string& path);
/// Names of the variants: those of the list `given`, one per file, or by table_name(), each once. InputError
/// names what cannot be a name.
std::vector<std::string> table_names(const std::vector<std::string>& files, const std::string& given);

/// A table of runs whose columns are known and whose rows are still to be counted. Several processes
/// (core/ranks.hpp) read a part each where rows lie in the file as they are; otherwise the first reads all.
class RunTable {
 public:
  /// `group`: the column of a CSV that names the group of each row; empty: rows are problems, or ticks of a
  /// log.
  RunTable(const std::string& path, std::optional<Index> first_step, const io::TableOptions& options = {},
           const std::string& group = "");

  [[nodiscard]] const std::vector<Index>& steps() const { return columns_.steps; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// What the reader made of the table that its owner may not expect; empty if nothing.
  [[nodiscard]] const std::string& notice() const { return columns_.notice; }
  /// Whether the table says the steps of its columns; otherwise they are its owner's word.
  [[nodiscard]] bool says_steps() const { return columns_.from != ColumnSteps::From::order; }
  /// How steps were found, in words, for the certificate.
  [[nodiscard]] const std::vector<std::string>& reading() const { return columns_.reading; }
  /// InputError if the table says another first step than its owner.
  void require_first_step(Index first_step) const;

  /// Whether rows belong to groups: a column names them, or the array has three dimensions.
  [[nodiscard]] bool grouped() const { return !options_.text_columns.empty() || ticks_per_group_ > 0; }
  /// How many groups there are, where the table says so before it is read.
  [[nodiscard]] std::optional<Index> groups_said() const;
  /// What groups may take, in bytes.
  void limit_groups(std::size_t bytes) { bytes_for_groups_ = bytes; }

  /// No more rows than that, from the size of the file; none: it is not known before they are read.
  [[nodiscard]] std::optional<Index> rows_at_most() const;
  /// The same from the lines of the file, which are counted.
  [[nodiscard]] std::optional<Index> lines_at_most() const;

  /// Bytes that reading may still come to take.
  [[nodiscard]] double memory_to_come() const;

  /// Its rows follow so many of other tables: they are numbered on from there when dependence is looked for.
  void follow(Index rows);
  /// Told of every row in its order: its number and steps().size() values. In one process only.
  using RowListener = std::function<void(Index row, const double* values)>;
  void listen(RowListener listener) { listener_ = std::move(listener); }
  /// Names of the groups, as the listener was told of them: of groups it is told at the end, with their
  /// largest ticks. Valid after count() with a listener.
  [[nodiscard]] const std::vector<std::string>& group_names() const { return group_names_; }

  /// Reads all rows. `progress` is told the bytes read so far and in all (0: unknown). Call once. With a
  /// journal it is a piece of it: rows that an earlier process counted are passed over; InputError if they
  /// have changed.
  runs::Tally count(const runs::TallySpec& spec, const std::function<void(Index, Index)>& progress,
                    CountJournal* journal = nullptr);
  /// Of the file; valid after count().
  [[nodiscard]] const std::string& sha256() const { return sha256_; }
  /// What was collected of the rows; valid after count().
  [[nodiscard]] const DependenceCheck& check() const { return *check_; }
  [[nodiscard]] Independence independence() const;

 private:
  /// Of each thread.
  struct Counting {
    std::vector<runs::Tally> tallies;
    std::vector<DependenceCheck> checks;
    std::optional<GroupedRows> groups;  ///< where there are, instead of both until all rows are read
  };
  /// What one process found in its part.
  struct Found;
  void open(std::optional<Index> first_step);
  void look_for_steps_in_first_row(std::optional<Index> first_step);
  void share_columns();
  void add_rows(Counting& counting, const std::function<void(Index, Index)>& progress, CountJournal* journal);
  /// `rows` by their numbers in the table, `values` from the first of them on.
  void add_block(Counting& counting, Index parts, Part rows, const double* values) const;
  void add_to_groups(Counting& counting, const io::RowBlock& block) const;
  void require_whole(const Found& own) const;
  runs::Tally whole_of(Counting counting);
  void go_on(Counting& counting, const std::string& state);
  void pass_over(Index bytes, const std::string& digest);
  [[nodiscard]] std::string state(const Counting& counting) const;

  std::string path_;
  io::TableOptions options_;
  std::unique_ptr<io::TableReader> reader_;
  Index cells_ = 0;                                ///< of a row
  std::optional<io::TableReader::Rows> in_parts_;  ///< where processes read parts
  ColumnSteps columns_;
  io::RowBlock first_block_;
  Index label_rows_ = 0;
  Index ticks_per_group_ = 0;  ///< of an array with three dimensions; 0: of others
  std::size_t bytes_for_groups_ = 0;
  Index first_row_ = 0;     ///< of this process' part
  Index rows_counted_ = 0;  // and the labels before them
  std::string sha256_;
  Index rows_before_ = 0;  ///< in other tables
  std::optional<DependenceCheck> check_;
  RowListener listener_;
  std::vector<std::string> group_names_;
};

/// InputError unless the rows of the table are what those of the certificate were: problems, ticks of groups
/// or of a log.
void require_same_sampling(const Certificate& certificate, const RunTable& table);

}  // namespace surefoot::certify
