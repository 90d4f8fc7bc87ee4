#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/long_table.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/interruption.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace surefoot::certify {

/// Options for these tables of text, resolved: whether they are of scalars, metric and unit by their labels
/// where the options leave them empty. InputError if one is of scalars and another has steps.
Options resolved_for(Options options, const std::vector<const LongTable*>& tables);

/// Counts the variants of a table of text. A variant without a name gets `name`; where there are several
/// tables, `name` stands before those of its variants. Order and repeats are looked at where lines are
/// problems; named problems have no order.
std::vector<Counted> count_variants(const LongTable& table, const Options& resolved_options,
                                    const std::string& name, bool several_tables, const std::string& source,
                                    bool allow_dependence, const Interrupt& interrupt = nullptr);

/// InputError if two variants have the same name.
void require_different_names(const std::vector<Counted>& variants);

/// The variants of each table of text of a certificate, in its order; empty: it is not of such tables.
std::vector<std::vector<std::size_t>> variants_by_table(const Certificate& certificate);

/// Reads the table again as the certificate says that these variants were read, and compares all of it. A
/// table of the stated digest that cannot be read so is a finding.
void recount_table(const Certificate& certificate, const std::vector<std::size_t>& variants,
                   const std::string& path, const io::TableOptions& options,
                   const LongTable::Progress& progress, Verification& verification);
/// The same of a table that was read so.
void compare_table(const Certificate& certificate, const std::vector<std::size_t>& variants,
                   const LongTable& table, Verification& verification);

}  // namespace surefoot::certify
