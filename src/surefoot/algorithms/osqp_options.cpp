#include "surefoot/algorithms/detail/osqp_room.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace surefoot::algorithms {

double row_rho(double lower, double upper, const OsqpOptions& options) {
  return row_rho(lower, upper, std::clamp(options.rho, osqp_smallest_rho, osqp_largest_rho), options);
}

double row_rho(double lower, double upper, double rho, const OsqpOptions& options) {
  return rho_of(row_kind(lower, upper), rho, options);
}

OsqpOptions OsqpOptions::defaults() {
  OsqpOptions options;
  options.adaptive_rho = true;
  options.check_termination = 25;
  return options;
}

OsqpOptions OsqpOptions::paper() {
  OsqpOptions options;
  options.rho = options.sigma = options.alpha = 1;
  options.equality_factor = 1;
  options.loose_rho = 0;
  options.scaling = 0;
  return options;
}

namespace {

/// What is run, in words.
std::string description_of(const OsqpOptions& options) {
  const bool as_package = options.scaling > 0 && options.equality_factor == OsqpOptions{}.equality_factor;
  std::string text =
      as_package ? fmt::format("OSQP as in the package {}", emulated_osqp) : std::string("OSQP");
  text += options.adaptive_rho ? fmt::format(", adaptive rho every {} iterations", options.rho_interval())
                               : std::string(", rho fixed");
  text += options.scaling > 0 ? fmt::format(", {} passes of scaling", options.scaling) : ", no scaling";
  if (!options.watches()) return text + ", no stopping test";
  if (options.check_termination == 0) return text + ", stopping test after the last iteration alone";
  return text + fmt::format(", stopping test every {} iterations, {}", options.check_termination,
                            options.stop ? "obeyed" : "recorded, not obeyed");
}

}  // namespace

// Taken apart by all fields, so that a new one cannot be left out unseen.
Settings settings_of(const OsqpOptions& options) {
  const auto& [rho, sigma, alpha, equality_factor, loose_rho, scaling, scale_each, reference_q, system,
               adaptive_rho, adaptive_rho_interval, adaptive_rho_tolerance, check_termination, eps_abs,
               eps_rel, eps_prim_inf, eps_dual_inf, check_dualgap, scaled_termination, max_iter, stop] =
      options;
  Settings own{{"rho", rho},
               {"sigma", sigma},
               {"alpha", alpha},
               {"equality_factor", equality_factor},
               {"loose_rho", loose_rho},
               {"scaling", scaling},
               {"scale_each", scale_each},
               {"reference_q", std::vector<double>(reference_q.begin(), reference_q.end())},
               {"system", setting_of(system)},
               {"adaptive_rho", adaptive_rho}};
  const OsqpOptions usual;
  const bool own_tolerances =
      eps_abs != usual.eps_abs || eps_rel != usual.eps_rel || scaled_termination != usual.scaled_termination;
  if (!options.watches() && !own_tolerances) {
    return {{"solver", "OSQP"}, {"settings", own}, {"description", description_of(options)}};
  }
  const Settings others{{"adaptive_rho_interval", adaptive_rho_interval},
                        {"adaptive_rho_tolerance", adaptive_rho_tolerance},
                        {"check_termination", check_termination},
                        {"eps_abs", eps_abs},
                        {"eps_rel", eps_rel},
                        {"eps_prim_inf", eps_prim_inf},
                        {"eps_dual_inf", eps_dual_inf},
                        {"check_dualgap", check_dualgap},
                        {"scaled_termination", scaled_termination},
                        {"max_iter", max_iter},
                        {"stop", stop}};
  own.insert(own.end(), others.begin(), others.end());
  return {{"solver", "OSQP"},
          {"settings", own},
          {"package", std::string(emulated_osqp)},
          {"description", description_of(options)}};
}

Index OsqpOptions::rho_interval() const {
  if (adaptive_rho_interval > 0) return adaptive_rho_interval;
  return check_termination > 0 ? 4 * check_termination : 100;
}

void OsqpOptions::validate() const {
  require(std::isfinite(rho) && rho > 0, "rho: is {}, must be > 0", rho);
  require(std::isfinite(sigma) && sigma > 0, "sigma: is {}, must be > 0", sigma);
  require(alpha > 0 && alpha < 2, "alpha: is {}, must be in (0, 2)", alpha);
  require(std::isfinite(equality_factor) && equality_factor > 0, "equality_factor: is {}, must be > 0",
          equality_factor);
  require(std::isfinite(loose_rho) && loose_rho >= 0, "loose_rho: is {}, must be >= 0", loose_rho);
  require(scaling >= 0 && scaling <= 1000, "scaling: is {}, must be in 0 .. 1000", scaling);
  require(adaptive_rho_interval >= 0, "adaptive_rho_interval: is {}, must be >= 0", adaptive_rho_interval);
  require(std::isfinite(adaptive_rho_tolerance) && adaptive_rho_tolerance >= 1,
          "adaptive_rho_tolerance: is {}, must be >= 1", adaptive_rho_tolerance);
  require(check_termination >= 0, "check_termination: is {}, must be >= 0", check_termination);
  require(std::isfinite(eps_abs) && eps_abs >= 0, "eps_abs: is {}, must be >= 0", eps_abs);
  require(std::isfinite(eps_rel) && eps_rel >= 0, "eps_rel: is {}, must be >= 0", eps_rel);
  require(eps_abs > 0 || eps_rel > 0, "eps_abs, eps_rel: both are 0, one must be > 0");
  require(std::isfinite(eps_prim_inf) && eps_prim_inf > 0, "eps_prim_inf: is {}, must be > 0", eps_prim_inf);
  require(std::isfinite(eps_dual_inf) && eps_dual_inf > 0, "eps_dual_inf: is {}, must be > 0", eps_dual_inf);
  require(max_iter >= 1, "max_iter: is {}, must be >= 1", max_iter);
}

}  // namespace surefoot::algorithms
