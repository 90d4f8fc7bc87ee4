#pragma once

#include <string_view>

namespace surefoot::learning {

/// A smooth stand-in for the failure 1[loss >= eps] of one run. Only the bound computed after training
/// counts, so any is allowed.
enum class SurrogateKind {
  logistic,       ///< the paper's: sigma(scale * loss) of each run
  logistic_mean,  ///< its public code's: sigma(scale * mean loss of the batch)
  tolerance,      ///< sigma((log loss - log eps) / width): aimed at eps, per run
  logarithm,      ///< log loss itself, for training at the means: no risk, and no bound follows from it
  identity,       ///< the loss itself, for the same
};
std::string_view to_string(SurrogateKind kind);
SurrogateKind parse_surrogate(std::string_view name);
/// Whether it stands for a failure, so that a bound follows.
bool is_risk(SurrogateKind kind);

struct Surrogate {
  SurrogateKind kind = SurrogateKind::logistic_mean;
  double scale = 0.1;      ///< c of the logistic ones
  double tolerance = 0.1;  ///< eps, in units of the loss
  double width = 1;        ///< of the transition, in units of log loss

  void validate() const;
  /// Of a loss (of the batch's mean loss for logistic_mean) >= 0, infinity allowed, and its derivative.
  [[nodiscard]] double value(double loss) const;
  [[nodiscard]] double derivative(double loss) const;
};

/// What is added for B: nothing, weight (B - target)^2 (the paper), or the same above the target only.
enum class PenaltyKind { none, one_sided, two_sided };
std::string_view to_string(PenaltyKind kind);
PenaltyKind parse_penalty(std::string_view name);

struct Penalty {
  PenaltyKind kind = PenaltyKind::two_sided;
  double weight = 1000;  ///< mu
  double target = 0.1;   ///< B_target

  void validate() const;
};

/// kl_inv(q, B) + penalty(B) and its derivatives by q and B (bounds/kl.hpp; the paper prints the one by q
/// with the opposite sign). q and p are kept away from 0 and 1 in the derivatives, where these are infinite.
struct ObjectiveValue {
  double value = 0;
  double by_risk = 0;
  double by_regularizer = 0;
};
ObjectiveValue training_objective(double risk, double regularizer, const Penalty& penalty);

}  // namespace surefoot::learning
