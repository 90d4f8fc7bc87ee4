#include "surefoot/certify/run_record.hpp"

#include <nlohmann/json.hpp>

namespace surefoot::certify {

std::string run_record(const algorithms::OsqpOptions& options) {
  const nlohmann::ordered_json record = {{"solver", "OSQP"},
                                         {"settings",
                                          {{"rho", options.rho},
                                           {"sigma", options.sigma},
                                           {"alpha", options.alpha},
                                           {"equality_factor", options.equality_factor},
                                           {"scaling", options.scaling},
                                           {"adaptive_rho", false}}}};
  return record.dump();
}

std::string run_record(const algorithms::ScsOptions& options, const problems::Cones& cones) {
  const nlohmann::ordered_json record = {{"solver", "SCS"},
                                         {"settings",
                                          {{"alpha", options.alpha},
                                           {"rho_x", options.rho_x},
                                           {"scale", options.scale},
                                           {"zero_factor", options.zero_factor},
                                           {"tau_factor", options.tau_factor},
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
