#pragma once

#include "surefoot/certify/paired.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// Whether the text is a record of a paired comparison (to_json of paired.hpp).
bool is_paired_record(std::string_view text);

/// What it says, and what does not hold of it: everything is computed again from the counts and declarations,
/// and compared with what is written; then its digest. InputError if it is no such record.
struct CheckedRecord {
  PairedComparison comparison;
  std::vector<std::string> findings;
};
CheckedRecord check_paired_record(std::string_view text);

/// What differs between a record and the same comparison of its tables, read again; a line each.
std::vector<std::string> differences(const PairedComparison& stated, const PairedComparison& recounted);

}  // namespace surefoot::certify
