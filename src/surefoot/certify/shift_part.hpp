#pragma once

#include "surefoot/bounds/shift.hpp"
#include "surefoot/certify/certificate.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The part `shift` of a certificate: its claims under every distribution that is not further than that from
/// the one the problems were drawn from (bounds/shift.hpp). It needs no samples and no confidence of its own:
/// what is promised follows from the claims, so verify() makes it again.
namespace surefoot::certify {

/// The share that a claim promises, and what is left of it under the shift, rounded down.
double promised_share(const SuccessClaim& claim);
double promised_share(const QuantileClaim& claim);
double promised_share(const BudgetClaim& claim);
template <class Claim>
requires requires(const Claim& claim) {
  promised_share(claim);
}
double share_under(const bounds::Shift& shift, const Claim& claim) {
  return bounds::share_under_shift(promised_share(claim), shift);
}

/// "under any distribution within KL 0.02 of the one the problems were drawn from", or "any distribution (of
/// a whole rollout) ... the rollouts ..."; empty without a shift.
std::string shift_words(const Certificate& certificate);

/// The certificate's success rates, quantiles and budgets with the shares that are left under its shift, as
/// the sentences say them: rounded down to a tenth of a percent (to a thousandth above 99 %), those below 1 %
/// left out. Nothing else of it: no bands and no worst case.
Certificate under_shift(const Certificate& certificate);

/// What is assumed of the other distribution; none without a shift.
std::optional<std::string> shift_assumption(const Certificate& certificate);

/// What is wrong with the part; a line each.
std::vector<std::string> wrong_in_shift(const Certificate& certificate);

/// Puts the shift into the certificate. InputError if it has no claims of shares to state under it.
void add_shift(Certificate& certificate, const bounds::Shift& shift);

/// The shifts that a claim survives if a smaller share is tolerated: the largest radii, rounded down, at
/// which it still promises that share. `gaussian`: standard deviations by which the mean of a Gaussian
/// parameter may move, sqrt(2 kl).
struct SurvivedShift {
  std::size_t variant = 0;
  std::string claim;  ///< as people write it (claim_text.hpp), or with "at least once within" for first hits
  double share = 0;
  double kl = 0;
  double total_variation = 0;
  double chi_squared = 0;
  double density_ratio = 0;
  double gaussian = 0;
};

struct Tolerated {
  double share = 0;
  std::vector<SurvivedShift> survived;  ///< of every claim that promises the share
  Index others = 0;                     ///< claims that promise less, or nothing
};

/// Of the declared claims of a variant (all: empty); with a `claim` (claim_text.hpp) of that one alone, its
/// share the largest that is certified. InputError if the share is not in (0, 1) or there is no such variant.
Tolerated tolerated_shifts(const Certificate& certificate, double share, std::string_view variant = "",
                           std::string_view claim = "");

/// As printed.
std::string to_text(const Certificate& certificate, const Tolerated& tolerated);

}  // namespace surefoot::certify
