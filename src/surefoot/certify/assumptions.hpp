#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/sentences.hpp"

#include <string>
#include <vector>

/// What a certificate rests on, in words. Every wording stays for ever (sentences.hpp): certificates of
/// format 1 carry wording 1.
namespace surefoot::certify {

/// What claims of these options rest on and mean.
std::vector<std::string> assumptions_of(const Options& options, int wording = current_wording);

/// What certificates of learned optimizers rest on and mean beyond that. Empty for classical optimizers.
std::vector<std::string> learned_assumptions(const Certificate& certificate, int wording = current_wording);

/// The part of learned_assumptions() on samples that training has not seen. `drawn`: weights are drawn anew
/// for each of them.
std::vector<std::string> hold_out_assumptions(bool drawn, int wording = current_wording);

}  // namespace surefoot::certify
