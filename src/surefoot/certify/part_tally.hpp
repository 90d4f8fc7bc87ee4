#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/core/index_ranges.hpp"
#include "surefoot/runs/tally.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot {
class ByteReader;
}  // namespace surefoot

namespace surefoot::certify {

/// Where rows come from. Rows are known by the digest of their source and their numbers there.
struct RowSource {
  std::string name;    ///< as the certificate says it: a file, or what drew the samples
  std::string sha256;  ///< of the whole file or array; empty: the source is known by its name alone
  std::vector<std::string> reading = {};  ///< as of Variant
  bool known = true;                      ///< false: nobody says which rows these are; they are not merged
};

/// Counts of a part of the samples, of one or more variants, with all that was declared, for whoever counts
/// in many processes, jobs or machines and certifies once. Merging is associative and commutative, and the
/// certificate is that of one process which counted all rows. Claims are declared before the first row is
/// counted; defaults that depend on the number of samples are resolved when all are there.
class PartTally {
 public:
  /// `run`: JSON of how the runs were made, for the certificate.
  explicit PartTally(Options resolved_options, std::string run = "null");

  /// The next variant. `tally` has rows first_row, first_row + 1, ... of the source, and `check` what was
  /// collected of them under these numbers.
  void add(const std::string& variant, runs::Tally tally, DependenceCheck check, Index first_row,
           RowSource source);

  /// InputError, which begins with `name`, and no change, if `other` declares something else, is of other
  /// variants, has rows that are counted here, or either does not know its rows.
  void merge(const PartTally& other, const std::string& name);

  /// InputError if rows are missing between others, or before the first; `allow_dependence` as of
  /// Independence::require_none.
  [[nodiscard]] Certificate certificate(bool allow_dependence) const;

  /// Of each variant.
  [[nodiscard]] Index samples() const;
  [[nodiscard]] const Options& options() const { return options_; }
  /// "rows 0 .. 999 of runs.csv", in words, of the first variant.
  [[nodiscard]] std::vector<std::string> rows() const;

  /// For files and other processes: heading, version of the library, everything, and a digest of it. Equal
  /// tallies have equal bytes, however they were merged.
  [[nodiscard]] std::string bytes() const;
  /// InputError, which begins with `name`, if the bytes are damaged, of another version, or no counts.
  static PartTally from_bytes(std::string_view bytes, const std::string& name);
  /// Whether bytes begin as a tally does.
  static bool is_tally(std::string_view bytes);

 private:
  /// Rows of one source.
  struct Counted {
    RowSource source;
    IndexRanges rows;
    DependenceCheck check;
  };
  struct Variant {
    std::string name;
    runs::Tally tally;
    std::map<std::string, Counted> sources;  ///< by their digests
  };

  [[nodiscard]] bool known() const;
  void require_mergeable(const PartTally& other, const std::string& name) const;
  static void read_variant(PartTally& tally, ByteReader& from);
  static void prune(Variant& variant);

  Options options_;
  std::string run_;
  std::vector<Variant> variants_;
};

}  // namespace surefoot::certify
