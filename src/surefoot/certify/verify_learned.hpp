#pragma once

#include "surefoot/certify/certificate.hpp"

#include <string>
#include <vector>

namespace surefoot::certify {

/// What does not fit in the guarantees and weights of the variants, in words: B recomputed from its parts,
/// losses, candidates and prior means paid for, runs, groups. Empty if all is well.
std::vector<std::string> check_learned_variants(const Certificate& certificate);

/// What the certificate itself says is not as usual, and a reader should know though it is no error: a grid
/// of prior variances that came with a trained prior mean instead of the declared one, samples that were
/// looked at before.
std::vector<std::string> stated_deviations(const Certificate& certificate);

}  // namespace surefoot::certify
