#include "surefoot/algorithms/detail/triple_cones.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace surefoot::algorithms {

namespace {

constexpr double far_away = 1e15;
constexpr double near_enough = 1e-8;
constexpr double power_tolerance = 1e-9;
constexpr int power_steps = 20;

bool has_nan(const Triple& v) {
  return std::isnan(v[0]) || std::isnan(v[1]) || std::isnan(v[2]);
}

Triple all_nan() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan};
}

Triple negated(const Triple& v) {
  return {-v[0], -v[1], -v[2]};
}

double squared_distance(const Triple& a, const Triple& b) {
  const double d0 = a[0] - b[0];
  const double d1 = a[1] - b[1];
  const double d2 = a[2] - b[2];
  return d0 * d0 + d1 * d1 + d2 * d2;
}

double quadratic(double rho) {
  return rho * (rho - 1) + 1;
}

/// A point and its squared distance from the one that is projected.
struct Candidate {
  Triple point;
  double distance;
};

/// The projections of one point on the exponential cone and on its polar. They are
///   exp-scaled multiples of (rho, 1, e^rho) and (1, 1 - rho, -e^-rho)
/// for the root rho of h, unless a candidate on a face is one already.
class ExponentialProjection {
 public:
  explicit ExponentialProjection(const Triple& v) : v_(v), x_(v[0]), y_(v[1]), z_(v[2]) {
    primal_ = on_faces();
    polar_ = on_polar_faces();
    if (settled()) return;
    bracket();
    const double rho = root();
    keep_nearer(primal_, (rho - 1) * x_ + y_, std::exp(rho), {rho, 1.0, 1.0});
    keep_nearer(polar_, x_ - rho * y_, std::exp(-rho), {1.0, 1 - rho, -1.0}, rho);
  }
  [[nodiscard]] const Triple& primal() const { return primal_.point; }
  [[nodiscard]] const Triple& polar() const { return polar_.point; }

 private:
  [[nodiscard]] Candidate on_faces() const {
    Candidate best{{std::min(x_, 0.0), 0.0, std::max(z_, 0.0)}, 0};
    best.distance = squared_distance(v_, best.point);
    if (!(y_ > 0)) return best;
    const double top = std::max(z_, y_ * std::exp(x_ / y_));
    const double distance = (top - z_) * (top - z_);
    return distance < best.distance ? Candidate{{x_, y_, top}, distance} : best;
  }
  [[nodiscard]] Candidate on_polar_faces() const {
    Candidate best{{0.0, std::min(y_, 0.0), std::min(z_, 0.0)}, 0};
    best.distance = squared_distance(v_, best.point);
    if (!(x_ > 0)) return best;
    const double bottom = std::min(z_, -x_ * std::exp(y_ / x_ - 1));
    const double distance = (z_ - bottom) * (z_ - bottom);
    return distance < best.distance ? Candidate{{x_, y_, bottom}, distance} : best;
  }
  [[nodiscard]] bool settled() const {
    if (y_ <= 0 && x_ <= 0) return true;
    if (std::min(primal_.distance, polar_.distance) <= near_enough * near_enough) return true;
    double error = 0;
    double product = 0;
    for (int i = 0; i < 3; ++i) {
      error = std::max(error, std::abs(primal_.point[i] + polar_.point[i] - v_[i]));
      product += primal_.point[i] * polar_.point[i];
    }
    return error <= near_enough && product <= near_enough;
  }
  /// h, which grows through its root, and its derivative.
  [[nodiscard]] double h(double rho, double* slope = nullptr) const {
    const double up = std::exp(rho);
    const double down = 1 / up;
    if (slope != nullptr) *slope = (rho * x_ + y_) * up + (x_ - (rho - 1) * y_) * down - (2 * rho - 1) * z_;
    return ((rho - 1) * x_ + y_) * up - (x_ - rho * y_) * down - quadratic(rho) * z_;
  }
  void bracket() {
    double base_low = -far_away;
    double base_high = far_away;
    low_ = -far_away;
    high_ = far_away;
    const double root = std::sqrt(x_ * x_ + y_ * y_ - x_ * y_);
    const double beyond_y = std::min(y_, 0.0);
    const double beyond_x = std::min(x_, 0.0);
    const double primal = std::sqrt(std::max(primal_.distance - beyond_y * beyond_y, 0.0));
    const double polar = std::sqrt(std::max(polar_.distance - beyond_x * beyond_x, 0.0));
    if (z_ > 0) {
      const double psi = x_ > y_ ? (x_ - y_ + root) / x_ : -y_ / (x_ - y_ - root);
      low_ = std::max(low_, std::log(z_ * quadratic(psi) / ((psi - 1) * x_ + y_)));
    } else if (z_ < 0) {
      const double psi = y_ > x_ ? (x_ - root) / y_ : (x_ - y_) / (x_ + root);
      high_ = std::min(high_, -std::log(-z_ * quadratic(psi) / (x_ - psi * y_)));
    }
    if (x_ > 0) {
      base_low = 1 - y_ / x_;
      low_ = std::max(low_, base_low);
      double omega = std::exp(low_) / quadratic(low_);
      if (low_ < 2) omega = std::min(omega, std::exp(2.0) / 3);
      const double reach = std::max(1e-12, std::min(polar, primal + z_));
      high_ = std::min(high_, std::max(low_, base_low + reach / std::max(x_ * omega, 1e-18)));
    }
    if (y_ > 0) {
      base_high = x_ / y_;
      high_ = std::min(high_, base_high);
      double omega = std::exp(-high_) / quadratic(high_);
      if (high_ > -1) omega = std::min(omega, std::exp(1.0) / 3);
      const double reach = std::max(1e-12, std::min(primal, polar - z_));
      low_ = std::max(low_, std::min(high_, base_high - reach / std::max(y_ * omega, 1e-18)));
    }
    const double least = std::min(low_, high_);
    low_ = std::max(base_low, std::min(base_high, least));
    high_ = std::max(base_low, std::min(base_high, std::max(low_, high_)));
    if (low_ == high_) return;
    const double at_low = h(low_);
    const double at_high = h(high_);
    if (at_low * at_high > 0) {
      (std::abs(at_low) < std::abs(at_high) ? high_ : low_) =
          std::abs(at_low) < std::abs(at_high) ? low_ : high_;
    }
  }
  /// Newton's method kept inside the bracket; halving where twenty steps do not do.
  [[nodiscard]] double root() {
    constexpr double precision = 1e-15;
    double rho = 0.5 * (low_ + high_);
    for (int step = 0; step < 20; ++step) {
      double slope = 0;
      const double value = h(rho, &slope);
      if (std::abs(value) <= precision) return within(rho);
      (value < 0 ? low_ : high_) = rho;
      if (high_ <= low_) {
        low_ = high_ = 0.5 * (low_ + high_);
        return within(rho);
      }
      if (!(std::abs(value) < far_away) || slope < 1e-13) return within(rho);
      const double next = rho - value / slope;
      if (std::abs(next - rho) <= precision * std::max(1.0, std::abs(next))) return within(rho);
      if (next >= high_) {
        rho = std::min(0.05 * rho + 0.95 * high_, high_);
      } else if (next <= low_) {
        rho = std::max(0.05 * rho + 0.95 * low_, low_);
      } else {
        rho = next;
      }
    }
    return halved(rho);
  }
  [[nodiscard]] double within(double rho) const { return std::max(low_, std::min(high_, rho)); }
  [[nodiscard]] double halved(double rho) {
    double middle = rho;
    for (int step = 0; step < 40; ++step) {
      (h(rho) < 0 ? low_ : high_) = rho;
      middle = 0.5 * (low_ + high_);
      const bool close = std::abs(middle - rho) <= 1e-12 * std::max(1.0, std::abs(middle));
      if (close || middle == low_ || middle == high_) break;
      rho = middle;
    }
    return middle;
  }
  /// length / (rho^2 - rho + 1) times the direction, its last entry times the exponential.
  void keep_nearer(Candidate& best, double length, double exponential, const Triple& direction) const {
    keep_nearer(best, length, exponential, direction, direction[0]);
  }
  void keep_nearer(Candidate& best, double length, double exponential, const Triple& direction,
                   double rho) const {
    if (!(length > 0) || !(exponential < far_away)) return;
    const double size = length / quadratic(rho);
    const Triple point = {direction[0] * size, direction[1] * size, direction[2] * exponential * size};
    const double distance = squared_distance(v_, point);
    if (distance <= best.distance) best = {point, distance};
  }

  Triple v_;
  double x_, y_, z_;
  Candidate primal_{};
  Candidate polar_{};
  double low_ = 0;
  double high_ = 0;
};

/// The larger root of x^2 - at x - exponent (length - r) r.
double power_entry(double r, double at, double length, double exponent) {
  return std::max(0.5 * (at + std::sqrt(at * at + 4 * exponent * (length - r) * r)), 1e-12);
}

Triple project_primal_power(const Triple& v, double a) {
  const double length = std::abs(v[2]);
  if (v[0] >= 0 && v[1] >= 0 && power_tolerance + std::pow(v[0], a) * std::pow(v[1], 1 - a) >= length) {
    return v;
  }
  if (v[0] <= 0 && v[1] <= 0 &&
      power_tolerance + std::pow(-v[0], a) * std::pow(-v[1], 1 - a) >=
          length * std::pow(a, a) * std::pow(1 - a, 1 - a)) {
    return {0, 0, 0};
  }
  double r = length / 2;
  double x = 0;
  double y = 0;
  for (int step = 0; step < power_steps; ++step) {
    x = power_entry(r, v[0], length, a);
    y = power_entry(r, v[1], length, 1 - a);
    const double product = std::pow(x, a) * std::pow(y, 1 - a);
    if (std::abs(product - r) < power_tolerance) break;
    const double by_x = a * (length - 2 * r) / (2 * x - v[0]);
    const double by_y = (1 - a) * (length - 2 * r) / (2 * y - v[1]);
    const double slope = product * (a * by_x / x + (1 - a) * by_y / y) - 1;
    r = std::min(std::max(r - (product - r) / slope, 0.0), length);
  }
  return {x, y, v[2] < 0 ? -r : r};
}

Triple sum(const Triple& a, const Triple& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

}  // namespace

Triple project_exponential(const Triple& v) {
  return has_nan(v) ? all_nan() : ExponentialProjection(v).primal();
}

Triple project_dual_exponential(const Triple& v) {
  return has_nan(v) ? all_nan() : negated(ExponentialProjection(negated(v)).polar());
}

Triple project_power(const Triple& v, double exponent) {
  if (has_nan(v)) return all_nan();
  return exponent >= 0 ? project_primal_power(v, exponent)
                       : sum(v, project_primal_power(negated(v), -exponent));
}

Triple project_triple(const problems::Cones& cones, Index number, const Triple& v) {
  if (number < cones.exponential) return project_exponential(v);
  number -= cones.exponential;
  if (number < cones.dual_exponential) return project_dual_exponential(v);
  return project_power(v, cones.power[static_cast<std::size_t>(number - cones.dual_exponential)]);
}

Triple project_dual_triple(const problems::Cones& cones, Index number, const Triple& v) {
  return sum(v, project_triple(cones, number, negated(v)));
}

}  // namespace surefoot::algorithms
