#pragma once

#include "surefoot/certify/certificate.hpp"

#include <string>

namespace surefoot::report {

/// curves.csv: one line per success and quantile claim,
/// kind,variant,step,tolerance_or_quantile,empirical,bound,method,samples,failures_or_rank,delta,condition,
/// numbers with 17 significant digits; condition is empty unless rows were found to be dependent. A bound
/// that says nothing is 0 (success) or inf (quantile). With a worst case, two columns more: what it bounds
/// the metric by at the step (worst_case, or estimated_worst_case), and the better of the two
/// (with_worst_case).
std::string curves_csv(const certify::Certificate& certificate);

}  // namespace surefoot::report
