#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/runs/tally.hpp"

#include <string>
#include <vector>

namespace surefoot::certify {

/// A certificate that does not hold where one is needed that does; the program exits with code 1.
class Refuted : public InputError {
 public:
  using InputError::InputError;
};

/// What a check of a certificate found. It holds if there are no findings.
struct Verification {
  Index claims = 0;                   ///< claims looked at
  Index claims_that_hold = 0;         ///< of them recomputed and found as stated
  std::vector<std::string> findings;  ///< one line for each thing that differs

  [[nodiscard]] bool holds() const { return findings.empty(); }
};

/// Recomputes every claim from its counts alone, the shares against the budget, and the digest of the whole
/// text; for learned optimizers also B from KL, prior grid and samples.
Verification verify(const ParsedCertificate& parsed);

/// The options under which the certificate's data were counted, to count them again.
runs::TallySpec recount_spec(const Certificate& certificate, std::vector<Index> recorded_steps);

/// Compares the counts of a variant with a recount of its data.
void compare_recount(const Certificate& certificate, std::size_t variant, const runs::Tally& tally,
                     const std::string& sha256, Verification& verification);

/// Compares how the table of a variant was read, and what was found in its rows, with the same of its data;
/// `reading` may be empty for an array, which has no header to read. What the rows show of dependence must
/// have been allowed, whatever the format and whatever the certificate has looked at.
void compare_rows(const Certificate& certificate, std::size_t variant,
                  const std::vector<std::string>& reading, Independence independence,
                  Verification& verification);

/// Compares the weights of a variant with the certificate: digest, and for PAC-Bayes KL, groups and prior.
void compare_weights(const Certificate& certificate, std::size_t variant,
                     const learning::Posterior& posterior, const std::string& sha256,
                     Verification& verification);

/// Compares everything that the certificate says with what the repetition of its command wrote; only the
/// program's version may differ.
void compare_repeated(const Certificate& stated, const Certificate& repeated, Verification& verification);

/// The certificate of a file, if it holds as recomputed from its counts; Refuted if it does not, for then it
/// says nothing.
ParsedCertificate read_held_certificate(const std::string& path);

}  // namespace surefoot::certify
