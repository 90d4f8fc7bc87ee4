#include "surefoot/algorithms/scs.hpp"
#include "surefoot/core/error.hpp"

#include <cmath>
#include <string>

namespace surefoot::algorithms {

ScsOptions ScsOptions::defaults() {
  ScsOptions options = fixed();
  options.normalize = options.adaptive_scale = options.adaptive_diag_scale = true;
  options.acceleration_lookback = 10;
  options.check_termination = true;
  return options;
}

ScsOptions ScsOptions::fixed() {
  ScsOptions options;
  options.returned = true;
  return options;
}

ScsOptions ScsOptions::paper() {
  ScsOptions options;
  options.alpha = options.rho_x = options.scale = options.zero_factor = options.tau_factor = 1;
  return options;
}

// Taken apart by all fields, so that a new one cannot be left out unseen.
Settings settings_of(const ScsOptions& options, const problems::Cones& cones) {
  const auto& [alpha, rho_x, scale, zero_factor, tau_factor, system, returned, normalize, adaptive_scale,
               adaptive_diag_scale, acceleration_lookback, acceleration_interval, acceleration_type_1,
               acceleration_regularization, acceleration_relaxation, check_termination, eps_abs, eps_rel,
               eps_infeas, max_iters, stop] = options;
  Settings own{{"alpha", alpha},           {"rho_x", rho_x},
               {"scale", scale},           {"zero_factor", zero_factor},
               {"tau_factor", tau_factor}, {"system", setting_of(system)},
               {"normalize", normalize}};
  const ScsOptions usual;
  const bool own_tolerances = eps_abs != usual.eps_abs || eps_rel != usual.eps_rel;
  if (!options.watches()) own.insert(own.end(), {{"acceleration", false}, {"adaptive_scale", false}});
  if (returned) own.push_back({"iterate", "returned"});
  if (own_tolerances && !options.watches())
    own.insert(own.end(), {{"eps_abs", eps_abs}, {"eps_rel", eps_rel}});
  if (options.watches()) {
    const Settings others{{"adaptive_scale", adaptive_scale},
                          {"adaptive_diag_scale", adaptive_diag_scale},
                          {"acceleration_lookback", acceleration_lookback},
                          {"acceleration_interval", acceleration_interval},
                          {"acceleration_type_1", acceleration_type_1},
                          {"acceleration_regularization", acceleration_regularization},
                          {"acceleration_relaxation", acceleration_relaxation},
                          {"check_termination", check_termination},
                          {"eps_abs", eps_abs},
                          {"eps_rel", eps_rel},
                          {"eps_infeas", eps_infeas},
                          {"max_iters", max_iters},
                          {"stop", stop}};
    own.insert(own.end(), others.begin(), others.end());
  }
  Settings of_cones{{"zero", cones.zero},
                    {"nonnegative", cones.nonnegative},
                    {"second_order", cones.second_order},
                    {"semidefinite", cones.semidefinite}};
  if (cones.triples() > 0) {
    of_cones.insert(of_cones.end(), {{"exponential", cones.exponential},
                                     {"dual_exponential", cones.dual_exponential},
                                     {"power", cones.power}});
  }
  Settings all{{"solver", "SCS"}, {"settings", own}, {"cones", of_cones}};
  if (options.watches()) all.push_back({"package", std::string(emulated_scs)});
  return all;
}

void ScsOptions::validate() const {
  require(alpha > 0 && alpha < 2, "alpha: is {}, must be in (0, 2)", alpha);
  require(std::isfinite(rho_x) && rho_x > 0, "rho_x: is {}, must be > 0", rho_x);
  require(std::isfinite(scale) && scale > 0, "scale: is {}, must be > 0", scale);
  require(std::isfinite(zero_factor) && zero_factor > 0, "zero_factor: is {}, must be > 0", zero_factor);
  require(std::isfinite(tau_factor) && tau_factor > 0, "tau_factor: is {}, must be > 0", tau_factor);
  require(acceleration_lookback >= 0 && acceleration_lookback <= 1000,
          "acceleration_lookback: is {}, must be in 0 .. 1000", acceleration_lookback);
  require(acceleration_interval >= 1, "acceleration_interval: is {}, must be >= 1", acceleration_interval);
  require(std::isfinite(acceleration_regularization), "acceleration_regularization: is {}, must be finite",
          acceleration_regularization);
  require(acceleration_relaxation >= 0 && acceleration_relaxation <= 2,
          "acceleration_relaxation: is {}, must be in [0, 2]", acceleration_relaxation);
  require(std::isfinite(eps_abs) && eps_abs >= 0, "eps_abs: is {}, must be >= 0", eps_abs);
  require(std::isfinite(eps_rel) && eps_rel >= 0, "eps_rel: is {}, must be >= 0", eps_rel);
  require(std::isfinite(eps_infeas) && eps_infeas >= 0, "eps_infeas: is {}, must be >= 0", eps_infeas);
  require(max_iters >= 1, "max_iters: is {}, must be >= 1", max_iters);
  require(!stop || check_termination, "stop: needs check_termination");
}

}  // namespace surefoot::algorithms
