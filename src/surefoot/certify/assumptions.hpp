#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/sentences.hpp"

#include <string>
#include <vector>

/// What a certificate rests on, in words. Every wording stays for ever (sentences.hpp): certificates of
/// format 1 carry wording 1.
namespace surefoot::certify {

/// What certificates of learned optimizers rest on and mean beyond that, and what is known of earlier looks
/// at the samples. Empty for classical optimizers whose samples are not named (SampleProvenance).
std::vector<std::string> learned_assumptions(const Certificate& certificate, int wording = current_wording);

/// Everything that a certificate rests on.
std::vector<std::string> assumptions_of(const Certificate& certificate, int wording = current_wording);

/// Says which samples the variants were counted on, one for each, and puts what that implies into words.
void set_provenance(Certificate& certificate, const std::vector<SampleProvenance>& provenance);

}  // namespace surefoot::certify
