#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/text_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace surefoot::report {

/// Iterations needed, observed and certified: a row per tolerance, share of problems and method, a pair of
/// columns per variant.
TextTable budget_table(const certify::Certificate& certificate);

/// Share of problems below each tolerance, observed and certified: a row per step, a pair of columns per
/// tolerance (and method, where there are several).
TextTable success_table(const certify::Certificate& certificate, std::size_t variant,
                        const std::vector<Index>& steps);

/// Quantiles of the metric, observed and certified: a row per step, a pair of columns per quantile.
TextTable quantile_table(const certify::Certificate& certificate, std::size_t variant,
                         const std::vector<Index>& steps);

/// Where the confidence goes: a row per share, then the total; what is spent together only where claims hold
/// together.
TextTable share_table(const certify::Certificate& certificate);

/// The whole certificate for a terminal: sentences to quote, tables at telling steps, what is assumed. At
/// most 100 columns (unless a single table cell is wider), no control codes.
std::string terminal_text(const certify::Certificate& certificate);

}  // namespace surefoot::report
