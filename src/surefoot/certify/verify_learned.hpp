#pragma once

#include "surefoot/certify/certificate.hpp"

#include <string>
#include <vector>

namespace surefoot::certify {

/// What does not fit in the guarantees and weights of the variants, in words: B recomputed from its parts,
/// losses, candidates and prior means paid for, runs, groups. Empty if all is well.
std::vector<std::string> check_learned_variants(const Certificate& certificate);

}  // namespace surefoot::certify
