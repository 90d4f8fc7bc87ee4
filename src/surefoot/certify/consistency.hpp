#pragma once

#include "surefoot/certify/certificate.hpp"

#include <string>
#include <vector>

namespace surefoot::certify {

/// Contradictions between the claims of one certificate: all of them are counts of the same runs, so success
/// counts rise with the tolerance, a quantile's value has the stated number of runs below it, and a run that
/// has settled by step k succeeds at every later step. One line for each, empty if there are none.
std::vector<std::string> contradictions(const Certificate& certificate);

}  // namespace surefoot::certify
