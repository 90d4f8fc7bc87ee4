#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/families/family_files.hpp"
#include "surefoot/io/table_reader.hpp"
#include "surefoot/problems/matrix.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace surefoot::families {

/// The vectors of a user's family, block by block: for tables that do not fit into memory. They are read once
/// when they are opened, for their digests and sizes, and again for whoever wants their rows; a file that
/// changes meanwhile is refused by name.
class FamilyStream {
 public:
  /// `tables`: their names, in the order of the rows of each_row(). One row is for all instances. `interrupt`
  /// is called from time to time whenever files are read.
  FamilyStream(FamilyFiles& files, const std::vector<std::string>& tables, Interrupt interrupt = nullptr);

  [[nodiscard]] Index instances() const { return instances_; }
  /// Numbers of all tables that have a row per instance.
  [[nodiscard]] std::size_t columns() const;
  /// Calls with those numbers of every instance, in order.
  void each_row(const std::function<void(const double*)>& look) const;

  /// Rows of instances first .. first + count - 1 of each table, or its only row. Blocks come in their order.
  using Vectors = std::map<std::string, problems::Table>;
  Vectors next(Index first, Index count) { return read(readings_, first, count); }
  /// Those of the first instance.
  [[nodiscard]] Vectors first() const;

  /// InputError if a file of the family has another digest than when it was read.
  void require_unchanged() const;

 private:
  /// What tells at once that a file was written to.
  struct Mark {
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type written;
    bool operator==(const Mark&) const = default;
  };
  struct Table {
    std::string name;
    std::string path;
    Index rows = 0;
    Index columns = 0;
    std::vector<double> only_row;  ///< of all instances
    Mark mark;
  };
  /// Where a table has been read to.
  struct Reading {
    std::unique_ptr<io::TableReader> reader;
    io::RowBlock block;
    Index first = 0;  ///< row of the block's first one
  };

  [[nodiscard]] static Mark mark_of(const std::string& path);
  [[nodiscard]] Table opened(const std::string& name, FamilyFiles& files) const;
  static void require_same(const Table& table);
  [[nodiscard]] Vectors read(std::vector<Reading>& readings, Index first, Index count) const;
  void take(const Table& table, Reading& reading, Index first, Index count, double* to) const;

  const FamilyFiles& files_;
  Interrupt interrupt_;
  std::vector<Table> tables_;
  std::vector<Reading> readings_;
  Index instances_ = 1;
};

}  // namespace surefoot::families
