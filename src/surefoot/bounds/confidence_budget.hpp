#pragma once

#include "surefoot/core/types.hpp"

#include <string>
#include <vector>

namespace surefoot::bounds {

/// `claims` claims that may each be false with probability `delta_each`.
struct ConfidenceShare {
  std::string purpose;
  Index claims = 0;
  double delta_each = 0;
};

/// Hands out the total failure probability delta by the union bound and refuses to overspend. What was handed
/// out is listed share by share; all claims made with it hold together with probability at least 1 - delta.
class ConfidenceBudget {
 public:
  /// 0 < delta < 1.
  explicit ConfidenceBudget(double delta);

  /// Takes claims * delta_each; InputError if less is left.
  void take(std::string purpose, Index claims, double delta_each);

  /// Takes `fraction` of the total for `claims` claims and returns the delta of each, rounded down.
  double take_fraction(std::string purpose, Index claims, double fraction);

  [[nodiscard]] double total() const { return delta_; }
  [[nodiscard]] double spent() const;
  [[nodiscard]] const std::vector<ConfidenceShare>& shares() const { return shares_; }

 private:
  double delta_;
  std::vector<ConfidenceShare> shares_;
};

/// 1 - confidence as a decimal: 0.99 leaves 0.01, not 0.010000000000000009; 0 < confidence < 1.
double delta_of_confidence(double confidence);

/// sum of claims * delta_each, rounded up.
double spent_confidence(const std::vector<ConfidenceShare>& shares);

}  // namespace surefoot::bounds
