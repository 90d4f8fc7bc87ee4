#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/long_table.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/core/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Tables of results on the same problems, as `compare --paired` reads them.
namespace surefoot::experiments {

struct PairedTables {
  /// Two tables whose row i is problem i (with `group`, groups of the same names); or one table of text with
  /// both variants.
  std::vector<std::string> files;
  std::string names;  ///< "old,new"; empty: of the files, or of the variants of a table of text
  std::optional<Index> first_step;
  std::string group;  ///< column that names groups: pairs are groups, and a group is its largest tick
  /// Of a table of text; `scalar` too, where it has one number per problem.
  certify::TableChoice text;
  bool of_text = false;
  std::uint64_t memory_limit = 0;

  void validate() const;
};

/// Reads and compares. Claims that are not declared depend on the shape of the tables alone. InputError says
/// what does not pair: other numbers of problems, other steps, groups or variants that one of them lacks.
certify::PairedComparison compare_tables(const PairedTables& tables, certify::PairedOptions options);

/// What --paired adds to a certificate of several variants on the same problems: every other variant against
/// the first, over the same tables. It has a confidence of its own, as large as the certificate's, which the
/// comparisons share equally; tolerances, and the steps of successes, are those of the certificate.
struct PairedVariants {
  std::vector<certify::PairedComparison> comparisons;
  double delta = 0;  ///< of all comparisons together
  std::optional<double>
      together;  ///< that of comparisons and certificate; none if its claims hold one by one

  /// What confidence they have.
  [[nodiscard]] std::string confidence() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string markdown() const;
};

/// `tables.files` are all that were certified. InputError says what cannot be paired.
PairedVariants compare_variants(const PairedTables& tables, const certify::Certificate& certificate);

}  // namespace surefoot::experiments
