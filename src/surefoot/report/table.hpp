#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/text_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace surefoot::report {

/// Where the confidence goes: a row per share, then the total; what is spent together only where claims hold
/// together.
TextTable share_table(const certify::Certificate& certificate);

/// Notes that belong under the tables of a certificate: of its kinds of claims in their order, then of the
/// worst case.
std::vector<std::string> notes_of(const certify::Certificate& certificate);

/// The whole certificate for a terminal: sentences to quote, tables at telling steps, what is assumed. At
/// most 100 columns (unless a single table cell is wider), no control codes.
std::string terminal_text(const certify::Certificate& certificate);

}  // namespace surefoot::report
