#pragma once

#include "surefoot/problems/matrix.hpp"

#include <memory>
#include <vector>

namespace surefoot::runs {

/// Where runs begin: nothing (the operator's cold start), or one iterate per instance.
struct Start {
  std::shared_ptr<const problems::Table> iterates;
};

inline Start cold_start() {
  return {};
}
/// N x iterate_size, in the units that read() gives.
Start given_start(problems::Table iterates);
/// The iterate of the base instance whose parameter is nearest (Euclidean distance, the first of equals).
/// The base set must be disjoint from the samples, or their runs are not independent.
Start nearest_neighbour_start(const problems::Table& parameters, const problems::Table& base_parameters,
                              const problems::Table& base_iterates);
}  // namespace surefoot::runs
