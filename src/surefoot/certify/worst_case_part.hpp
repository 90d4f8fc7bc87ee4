#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The part `worst_case` of a certificate: what no problem can exceed, with its proof, if what the user
/// states of the metric and of the start is a fact. Nothing in the samples can show that it is.
namespace surefoot::certify {

/// What a user states: the metric is the residual of an operator of this class, |z^0 - z*| <= dist0.
struct StatedWorstCase {
  worst_case::Question question;
  double dist0 = 0;
};

/// "averaged:0.5" or "contractive:0.9"; InputError names what does not fit.
StatedWorstCase parse_stated_worst_case(std::string_view text, std::optional<double> dist0);

/// Proves bounds at up to eight of the certificate's steps (1 .. 300), puts the proof into it, and the
/// statement among the assumptions. InputError if there is no such step or no proof was found.
void add_worst_case(Certificate& certificate, const StatedWorstCase& stated, const Interrupt& interrupt = {});

/// The proof that the certificate holds; none if it has none.
std::optional<worst_case::ParsedProof> worst_case_of(const Certificate& certificate);

/// What all of it rests on, in the words of the assumptions; none without a worst case.
std::optional<std::string> worst_case_assumption(const Certificate& certificate);

/// A sentence for each proven step: the worst case, beside the largest certified quantile there of each
/// variant, and the smaller of the two. Each says what it rests on.
std::vector<std::string> worst_case_sentences(const Certificate& certificate);

/// What is wrong with the part: the proof replayed, its metric and its steps.
std::vector<std::string> wrong_in_worst_case(const Certificate& certificate);

}  // namespace surefoot::certify
