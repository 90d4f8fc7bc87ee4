#include "surefoot/bounds/shift.hpp"

#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/root.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <charconv>
#include <cmath>
#include <limits>

namespace surefoot::bounds {

namespace {

constexpr EnumNames<Divergence, 4> divergence_names{{{Divergence::kl, "kl"},
                                                     {Divergence::total_variation, "tv"},
                                                     {Divergence::chi_squared, "chi2"},
                                                     {Divergence::density_ratio, "ratio"}}};

/// kl() has a relative error below 1e-13 (kl_test.cpp, 50 digits); this is more.
constexpr double kl_error = 4e-13;

void require_risk(double risk) {
  require(risk >= 0.0 && risk <= 1.0, "risk: {} is outside [0, 1]", risk);
}

/// A quotient that overflows is still a finite margin.
double finite(double margin) {
  return std::min(margin, std::numeric_limits<double>::max());
}

double risk_under_kl(double risk, double rho) {
  if (rho == 0.0 || -std::log(risk) * (1 - kl_error) <= rho) return rho == 0.0 ? risk : 1.0;
  const double target = rho * (1 + kl_error);
  return smallest_that([&](double q) { return q > risk && kl(q, risk) >= target; });
}

}  // namespace

std::string_view name(Divergence divergence) {
  return name_in(divergence_names, divergence);
}

Divergence parse_divergence(std::string_view text) {
  return value_in(divergence_names, "shift", text);
}

void Shift::validate() const {
  require(std::isfinite(radius) && radius >= 0.0, "shift: {} {} is not a finite number of at least 0",
          name(divergence), radius);
  require(divergence != Divergence::total_variation || radius <= 1.0,
          "shift: a total variation of {} is more than 1", radius);
  require(divergence != Divergence::density_ratio || radius >= 1.0,
          "shift: a density ratio of {} is less than 1, which none is everywhere", radius);
}

Shift parse_shift(std::string_view text) {
  const std::size_t colon = text.find(':');
  require(colon != std::string_view::npos,
          "shift: '{}' is not a divergence and a radius, such as kl:0.02, tv:0.05, chi2:0.1 or ratio:2",
          text);
  Shift shift;
  shift.divergence = parse_divergence(text.substr(0, colon));
  const std::string_view number = text.substr(colon + 1);
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), shift.radius);
  require(error == std::errc() && rest == number.data() + number.size(), "shift: '{}' is not a number",
          number);
  shift.validate();
  return shift;
}

std::string to_text(const Shift& shift) {
  return fmt::format("{}:{}", name(shift.divergence), exact_label(shift.radius));
}

double risk_under_shift(double risk, const Shift& shift) {
  require_risk(risk);
  shift.validate();
  const double radius = shift.radius;
  switch (shift.divergence) {
    case Divergence::kl:
      return risk == 0.0 ? 0.0 : risk_under_kl(risk, radius);
    case Divergence::total_variation:
      return radius == 0.0 ? risk : probability_up(risk + radius, 1);
    case Divergence::chi_squared:
      if (radius == 0.0 || risk == 0.0) return risk;
      // Three roots, two products and a difference: less than three roundings of a relative 2^-53 each.
      return probability_up(risk + up(std::sqrt(radius) * std::sqrt(risk) * std::sqrt(1 - risk), 6), 1);
    case Divergence::density_ratio:
      break;
  }
  return radius == 1.0 || risk == 0.0 ? risk : probability_up(radius * risk, 1);
}

double share_under_shift(double share, const Shift& shift) {
  require(share >= 0.0 && share <= 1.0, "share: {} is outside [0, 1]", share);
  // 1 - share is exact from 1/2 on.
  const double risk = risk_under_shift(share >= 0.5 ? 1.0 - share : probability_up(1.0 - share, 1), shift);
  return risk >= 1.0 ? 0.0 : (risk == 0.0 ? 1.0 : std::max(0.0, down(1.0 - risk)));
}

double shift_margin(double risk, double tolerated, Divergence divergence) {
  require_risk(risk);
  require(tolerated >= 0.0 && tolerated < 1.0, "tolerated: {} is outside [0, 1)", tolerated);
  const bool ratio = divergence == Divergence::density_ratio;
  if (risk >= tolerated) return ratio ? 1.0 : 0.0;
  const double gap = down(tolerated - risk);
  switch (divergence) {
    case Divergence::kl:
      return risk == 0.0 ? infinity : kl(tolerated, risk) * (1 - kl_error);
    case Divergence::total_variation:
      return gap;
    case Divergence::chi_squared:
      return risk == 0.0 ? infinity : down(finite(gap / risk * (gap / (1 - risk))), 6);
    case Divergence::density_ratio:
      break;
  }
  return risk == 0.0 ? infinity : std::max(1.0, down(finite(tolerated / risk)));
}

double gaussian_mean_shift(double rho) {
  require(rho >= 0.0, "kl: {} is not at least 0", rho);
  return rho == infinity || rho == 0.0 ? rho : down(std::sqrt(2 * rho));
}

}  // namespace surefoot::bounds
