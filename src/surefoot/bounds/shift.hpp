#pragma once

#include <string>
#include <string_view>

/// What is left of a bound on a failure probability r under the distribution P of the samples when problems
/// come from another distribution Q that is not far from P. For any event, by data processing,
///   KL(Q||P) <= rho:                q <= sup{ q in [r, 1] : kl(q||r) <= rho }, attained by tilting P
///   total variation (half of L1) <= tau:  q <= r + tau
///   chi^2(Q||P) <= c:               q <= r + sqrt(c r (1-r))
///   dQ/dP <= w:                     q <= w r
/// each at most 1, and each attained by some Q that gives the event more mass and scales the rest.
namespace surefoot::bounds {

enum class Divergence { kl, total_variation, chi_squared, density_ratio };

/// "kl", "tv", "chi2", "ratio": as in options and certificates; parse throws InputError listing them.
std::string_view name(Divergence divergence);
Divergence parse_divergence(std::string_view text);

/// All distributions Q within `radius` of the one that the samples were drawn from.
struct Shift {
  Divergence divergence = Divergence::kl;
  double radius = 0;

  /// InputError unless the radius is finite and at least 0; at most 1 for tv; at least 1 for ratio.
  void validate() const;
  bool operator==(const Shift&) const = default;
};

/// "kl:0.02"; InputError says what does not fit.
Shift parse_shift(std::string_view text);
std::string to_text(const Shift& shift);

/// The largest failure probability under the shift, rounded up. risk in [0, 1], otherwise InputError.
double risk_under_shift(double risk, const Shift& shift);
/// 1 - risk_under_shift(1 - share), rounded down.
double share_under_shift(double share, const Shift& shift);

/// The largest radius at which a failure probability of at most `risk` stays at most `tolerated`, rounded
/// down: kl(tolerated||risk), tolerated - risk, (tolerated - risk)^2 / (risk (1-risk)), tolerated / risk.
/// 0 (1 for a ratio) if risk >= tolerated; infinity if risk is 0 and no radius is too large. risk in [0, 1],
/// tolerated in [0, 1).
double shift_margin(double risk, double tolerated, Divergence divergence);

/// A Gaussian whose mean moves by d standard deviations is KL d^2/2 away: d = sqrt(2 rho), rounded down.
double gaussian_mean_shift(double rho);

}  // namespace surefoot::bounds
