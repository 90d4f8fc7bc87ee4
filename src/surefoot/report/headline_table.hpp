#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/text_table.hpp"

#include <optional>
#include <string>

namespace surefoot::report {

/// What a reader looks for first: per tolerance the iterations that are enough and the share in the end, or
/// of scalars the value of each share, for every variant. The note says what the cells mean.
struct HeadlineTable {
  TextTable table;
  std::string note;
};

/// None where sentences alone say it well: no such claims, or ones that rest on more than the samples (a
/// worst case, a shift).
std::optional<HeadlineTable> headline_table(const certify::Certificate& certificate);

}  // namespace surefoot::report
