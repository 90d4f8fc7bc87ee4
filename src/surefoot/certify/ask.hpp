#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/claim_text.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a certificate says about a claim that is written down after it was made. All claims of a certificate
/// with Simultaneity::all hold together, so what follows from any of them holds with its confidence.
namespace surefoot::certify {

/// P(X < value) >= share, or P(X <= value) where it is not strict: X is phi at the step, or the largest from
/// there on, or a scalar, which stands at step scalar_step. A claim of the certificate, or a point of a band.
struct Fact {
  enum class Of { step, each_later, onward };

  std::size_t variant = 0;
  Index step = 0;
  Of of = Of::step;  ///< each_later: at any one recorded step from there on
  bool strict = true;
  double value = 0;
  double share = 0;
  std::string proof;  ///< "993 of 1,000 samples are at most 2.9e-4, ..."
};

/// Everything that follows from a certificate about shares of problems below values.
class Facts {
 public:
  explicit Facts(const Certificate& certificate);

  [[nodiscard]] const std::vector<Fact>& all() const { return all_; }

  /// The fact with the largest share among those that imply X < value (strict) or X <= value of the variant,
  /// after or within `step`; null if there is none.
  [[nodiscard]] const Fact* best_share(std::size_t variant, const ClaimText& claim) const;
  /// The smallest value that at least `claim.share` stay below.
  [[nodiscard]] const Fact* best_value(std::size_t variant, const ClaimText& claim) const;
  /// The fewest steps from which on at least `claim.share` stay below the value.
  [[nodiscard]] const Fact* best_step(std::size_t variant, const ClaimText& claim) const;

 private:
  const Certificate& certificate_;
  std::vector<Fact> all_;
};

struct Answer {
  std::size_t variant = 0;
  bool holds = false;
  ClaimText claim;               ///< with what was left out: the best share, or the fewest steps, that hold
  std::string sentence;          ///< that may be quoted; empty unless it holds
  std::string proof;             ///< the numbers it follows from
  std::vector<std::string> but;  ///< what holds instead, where the claim does not
};

/// InputError unless all claims of the certificate hold together, so that one may be picked after looking.
void require_claims_together(const Certificate& certificate);

/// One answer per variant, or of the one of that name. InputError unless all claims of the certificate hold
/// together, or if there is no such variant.
std::vector<Answer> ask(const Certificate& certificate, std::string_view claim,
                        std::string_view variant = "");

/// As printed: the sentence and its proof, or "not certified" and what is.
std::string to_text(const Certificate& certificate, const Answer& answer);

}  // namespace surefoot::certify
