#include "surefoot/certify/run_record.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace surefoot::certify {

namespace {

using Json = nlohmann::ordered_json;

/// How systems were solved: null where the patterns told it.
Json system_name(const std::optional<algorithms::SystemKind>& kind) {
  using algorithms::SystemKind;
  if (!kind) return nullptr;
  switch (*kind) {
    case SystemKind::sparse:
      return "sparse";
    case SystemKind::dense:
      return "dense";
    case SystemKind::kronecker:
      return "kronecker";
    case SystemKind::kkt:
      return "kkt";
  }
  return nullptr;
}

}  // namespace

// Each options struct is taken apart by all of its fields, so that a new one cannot be left out unseen.

std::string run_record(const algorithms::OsqpOptions& options) {
  const auto& [rho, sigma, alpha, equality_factor, loose_rho, scaling, scale_each, reference_q, system,
               adaptive_rho, adaptive_rho_interval, adaptive_rho_tolerance, check_termination, eps_abs,
               eps_rel, eps_prim_inf, eps_dual_inf, check_dualgap, scaled_termination, max_iter, stop] =
      options;
  Json record = {{"solver", "OSQP"},
                 {"settings",
                  {{"rho", rho},
                   {"sigma", sigma},
                   {"alpha", alpha},
                   {"equality_factor", equality_factor},
                   {"loose_rho", loose_rho},
                   {"scaling", scaling},
                   {"scale_each", scale_each},
                   {"reference_q", std::vector<double>(reference_q.begin(), reference_q.end())},
                   {"system", system_name(system)},
                   {"adaptive_rho", adaptive_rho}}}};
  const algorithms::OsqpOptions usual;
  const bool own_tolerances =
      eps_abs != usual.eps_abs || eps_rel != usual.eps_rel || scaled_termination != usual.scaled_termination;
  if (!options.watches() && !own_tolerances) return record.dump();
  const Json others = {{"adaptive_rho_interval", adaptive_rho_interval},
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
  record["settings"].update(others);
  record["package"] = algorithms::emulated_osqp;
  return record.dump();
}

std::string run_record(const algorithms::ScsOptions& options, const problems::Cones& cones) {
  const auto& [alpha, rho_x, scale, zero_factor, tau_factor, system] = options;
  const Json record = {{"solver", "SCS"},
                       {"settings",
                        {{"alpha", alpha},
                         {"rho_x", rho_x},
                         {"scale", scale},
                         {"zero_factor", zero_factor},
                         {"tau_factor", tau_factor},
                         {"system", system_name(system)},
                         {"normalize", false},
                         {"acceleration", false},
                         {"adaptive_scale", false}}},
                       {"cones",
                        {{"zero", cones.zero},
                         {"nonnegative", cones.nonnegative},
                         {"second_order", cones.second_order},
                         {"semidefinite", cones.semidefinite}}}};
  return record.dump();
}

}  // namespace surefoot::certify
