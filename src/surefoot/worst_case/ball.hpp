#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace surefoot::worst_case {

/// A real number known up to a radius: |x - middle| <= radius. Every operation adds the error of its own
/// rounding, in whatever precision long double has.
class Ball {
 public:
  using Real = long double;
  /// Largest relative error of one rounding.
  static constexpr Real unit_roundoff = std::numeric_limits<Real>::epsilon() / 2;

  explicit Ball(double value) : middle_(value) {}
  explicit Ball(std::int64_t value) : middle_(static_cast<Real>(value)) {
    if constexpr (std::numeric_limits<Real>::digits < 63) radius_ = rounding(middle_);
  }
  Ball() = default;

  [[nodiscard]] bool is_zero() const { return middle_ == 0 && radius_ == 0; }
  [[nodiscard]] Real middle() const { return middle_; }
  [[nodiscard]] Real radius() const { return radius_; }

  Ball& operator+=(const Ball& b) {
    middle_ += b.middle_;
    radius_ = (radius_ + b.radius_ + unit_roundoff * std::abs(middle_)) * outward;
    return *this;
  }
  Ball& operator-=(const Ball& b) {
    middle_ -= b.middle_;
    radius_ = (radius_ + b.radius_ + unit_roundoff * std::abs(middle_)) * outward;
    return *this;
  }
  friend Ball operator+(Ball a, const Ball& b) { return a += b; }
  friend Ball operator-(Ball a, const Ball& b) { return a -= b; }
  friend Ball operator*(const Ball& a, const Ball& b) {
    if (a.is_zero() || b.is_zero()) return {};
    Ball result;
    result.middle_ = a.middle_ * b.middle_;
    result.radius_ = (std::abs(a.middle_) * b.radius_ + a.radius_ * (std::abs(b.middle_) + b.radius_) +
                      rounding(result.middle_)) *
                     outward;
    return result;
  }
  /// a / b = m + e: |e| <= (|a - m b| at the middles + radii) / |b|. A divisor that may be 0 gives an
  /// infinite radius.
  friend Ball operator/(const Ball& a, const Ball& b) {
    Ball result;
    result.middle_ = a.middle_ / b.middle_;
    const Real least = std::abs(b.middle_) * (1 - 4 * unit_roundoff) - b.radius_;
    if (!(least > 0)) {
      result.radius_ = std::numeric_limits<Real>::infinity();
      return result;
    }
    result.radius_ =
        ((a.radius_ + std::abs(result.middle_) * b.radius_) / least + rounding(result.middle_)) * outward;
    return result;
  }
  /// The same number, known exactly.
  friend bool operator==(const Ball& a, const Ball& b) {
    return a.middle_ == b.middle_ && a.radius_ == 0 && b.radius_ == 0;
  }

 private:
  // Sums and products of a few nonnegative terms, each rounded, are off by less than this factor.
  static constexpr Real outward = 1 + 16 * unit_roundoff;
  // Of a product or quotient; a sum never underflows.
  static Real rounding(Real value) {
    return unit_roundoff * std::abs(value) + std::numeric_limits<Real>::min();
  }

  Real middle_ = 0;
  Real radius_ = 0;
};

}  // namespace surefoot::worst_case
