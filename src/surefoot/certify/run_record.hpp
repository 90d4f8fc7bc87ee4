#pragma once

#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"

#include <string>

namespace surefoot::certify {

/// What a certificate records of our own runs (Certificate::run), as JSON text of an object: the solver, its
/// settings and, for SCS, the cones. Whoever runs adds its data and the iterations.
std::string run_record(const algorithms::OsqpOptions& options);
std::string run_record(const algorithms::ScsOptions& options, const problems::Cones& cones);

}  // namespace surefoot::certify
