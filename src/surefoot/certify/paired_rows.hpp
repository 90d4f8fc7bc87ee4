#pragma once

#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/long_table.hpp"
#include "surefoot/certify/paired.hpp"

#include <array>
#include <string>
#include <vector>

/// Pairs of rows of tables. InputError says what does not pair: other numbers of problems, other steps,
/// groups or variants that one of them lacks, and rows that are not independent.
namespace surefoot::certify {

/// Claims that are not declared: of the steps and tolerances alone.
PairedOptions with_default_claims(PairedOptions options, const std::vector<Index>& steps);

/// Two tables whose row i is problem i; with groups, those of the same names, and a group is its largest
/// tick. The tables are read.
PairedComparison compare_run_tables(const std::vector<std::string>& names,
                                    const std::array<RunTable*, 2>& both, const PairedOptions& options);

/// Two tables of text of one variant each, paired line by line, or two variants of one, paired by the names
/// of problems. `files` are what the tables are called in messages; `names`: "old,new", or empty for those of
/// the files or of the variants.
PairedComparison compare_long_tables(const std::vector<std::string>& files, const std::string& names,
                                     const std::vector<LongTable>& read, PairedOptions options);

}  // namespace surefoot::certify
