#include "surefoot/bounds/confidence_budget.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <string>
#include <utility>

namespace surefoot::bounds {

namespace {

long double exact_sum(const std::vector<ConfidenceShare>& shares) {
  long double sum = 0;
  for (const ConfidenceShare& share : shares) {
    sum += static_cast<long double>(share.claims) * static_cast<long double>(share.delta_each);
  }
  return sum;
}

}  // namespace

double delta_of_confidence(double confidence) {
  require(confidence > 0 && confidence < 1, "confidence: {} is outside (0, 1)", confidence);
  return std::stod(fmt::format("{:.15g}", 1.0 - confidence));
}

double spent_confidence(const std::vector<ConfidenceShare>& shares) {
  const long double sum = exact_sum(shares);
  const auto rounded = static_cast<double>(sum);
  return rounded < sum ? up(rounded) : rounded;
}

ConfidenceBudget::ConfidenceBudget(double delta) : delta_(delta) {
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
}

double ConfidenceBudget::spent() const {
  return spent_confidence(shares_);
}

void ConfidenceBudget::take(std::string purpose, Index claims, double delta_each) {
  require(claims >= 1, "confidence budget: {} claims for '{}'", claims, purpose);
  require(delta_each > 0.0 && delta_each < 1.0, "confidence budget: delta {} for '{}' is outside (0, 1)",
          delta_each, purpose);
  shares_.push_back({std::move(purpose), claims, delta_each});
  if (exact_sum(shares_) > static_cast<long double>(delta_)) {
    const ConfidenceShare refused = shares_.back();
    shares_.pop_back();
    throw InputError(
        fmt::format("confidence budget: {} claims of {} each for '{}' overspend it: {} of {} is left",
                    refused.claims, refused.delta_each, refused.purpose, delta_ - spent(), delta_));
  }
}

double ConfidenceBudget::take_fraction(std::string purpose, Index claims, double fraction) {
  require(fraction > 0.0 && fraction <= 1.0, "confidence budget: fraction {} is outside (0, 1]", fraction);
  require(claims >= 1, "confidence budget: {} claims for '{}'", claims, purpose);
  const double delta_each = down(delta_ * fraction / static_cast<double>(claims), 3);
  take(std::move(purpose), claims, delta_each);
  return delta_each;
}

}  // namespace surefoot::bounds
