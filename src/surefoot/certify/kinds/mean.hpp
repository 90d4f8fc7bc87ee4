#pragma once

#include "surefoot/bounds/group_average.hpp"
#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace surefoot::certify {

class ClaimKind;
struct Certificate;
struct Options;

/// What is declared of means: the metric lies in [0, upper] for every problem, which is a fact that the user
/// states, or that the certificate's worst case proves. Thresholds increase and begin with 0; levels are
/// those of CVaR.
struct MetricRange {
  double upper = 0;
  std::vector<double> thresholds;
  std::vector<double> levels;

  bool operator==(const MetricRange&) const = default;
  /// InputError says what is wrong.
  void validate() const;
};

/// E[ (phi_step - threshold)_+ ] <= upper_bound for a new problem (of groups: of the largest phi_step of a
/// new group's ticks), if phi_step is in [0, range]. Threshold 0: the mean. For every q at once, chosen
/// before or after,
///   CVaR_q(phi_step) = min_t t + E[(phi_step - t)_+]/(1-q) <= min(range, threshold + upper_bound/(1-q)),
/// the mean over the worst share 1 - q of problems (R. T. Rockafellar and S. Uryasev, J. Risk 2, 2000).
struct MeanClaim {
  std::size_t variant = 0;
  Index step = 0;
  double threshold = 0;
  double range = 0;
  bounds::MeanMethod method = bounds::MeanMethod::betting;
  Index samples = 0;
  /// "y:n y:n ...": n samples have (phi_step - threshold)_+ <= y (range - threshold), y increasing and
  /// rounded up; 0 only where phi_step is at most the threshold.
  std::string shares;
  double delta = 0;
  double empirical = 0;    ///< the average of these
  double upper_bound = 0;  ///< range - threshold: says nothing
};

/// By betting (or kl) on (phi_step - threshold)_+ / (range - threshold) (bounds/group_average.hpp).
const ClaimKind& means();

/// What the claim says of CVaR at this level, rounded up; threshold 0 and level 0: the mean.
double cvar_bound(const MeanClaim& claim, double level);

/// The smallest bound on CVaR of the certificate's claims on the variant at the step, all of which hold
/// together; level 0: on the mean. None if there is no claim there.
std::optional<double> cvar_bound(const Certificate& certificate, std::size_t variant, Index step,
                                 double level);
/// As observed, from the shares of the claim with threshold 0.
double observed_cvar(const MeanClaim& mean, double level);

/// Thresholds and levels as they were given, or the usual ones: 0 and 0.001, 0.01, 0.03, 0.1 and 0.3 of the
/// range, which are of the range alone; 0.9 and 0.99.
MetricRange declared_range(const Options& options);

/// Whether a worst case that the certificate has and uses proves that no problem leaves the range.
bool range_is_proven(const Certificate& certificate);

/// What is wrong with the part `range` of a certificate; a line each.
std::vector<std::string> wrong_in_range(const Certificate& certificate);

}  // namespace surefoot::certify
