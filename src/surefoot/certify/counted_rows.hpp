#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/runs/tally.hpp"

#include <optional>
#include <string>
#include <vector>

namespace surefoot::certify {

struct Verification;

/// The rows of one variant, counted from a table, or from several whose rows follow each other; `apart`:
/// from several that were counted apart (part_tally.hpp), where the rows of each are numbered from 0.
class CountedRows {
 public:
  explicit CountedRows(bool apart = false) : apart_(apart) {}

  /// Of the next table: its counts, what was collected of its rows, which are numbered from next_row() on,
  /// and where it comes from (`samples` is filled in). InputError if its columns are of other steps, or its
  /// bytes are those of a table that was added before.
  void add(runs::Tally tally, const DependenceCheck& check, AppendedTable table);

  [[nodiscard]] Index rows() const { return tally_ ? tally_->samples() : 0; }
  /// The number of the first row of the next table.
  [[nodiscard]] Index next_row() const { return apart_ ? 0 : rows(); }
  [[nodiscard]] const runs::Tally& tally() const { return *tally_; }
  [[nodiscard]] runs::Tally take_tally() { return std::move(*tally_); }
  [[nodiscard]] Independence independence() const;
  [[nodiscard]] const std::vector<AppendedTable>& tables() const { return tables_; }
  /// Source, digest and reading of the first table, the others as appended, and what was found in all rows.
  void describe(Variant& variant) const;

 private:
  std::optional<runs::Tally> tally_;
  bool apart_ = false;
  std::vector<DependenceCheck> checks_;  ///< of the rows that follow each other: one
  std::vector<AppendedTable> tables_;
};

/// How many tables the variant was counted from.
std::size_t table_count(const Variant& variant);
/// Whether they were counted apart.
bool counted_apart(const Variant& variant);

/// Takes tables back that were appended last, given by their digests for each variant; false, and nothing is
/// changed, if they were not.
bool take_back_appended(Certificate& certificate, const std::vector<std::vector<std::string>>& sha256);

/// Compares the counts of a variant, how its tables were read and what was found in their rows with a
/// recount. An empty reading is that of an array, which has no header to read.
void compare_counted(const Certificate& certificate, std::size_t variant, const CountedRows& counted,
                     Verification& verification);

}  // namespace surefoot::certify
