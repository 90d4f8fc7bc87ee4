#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/problems/matrix.hpp"

#include <string>
#include <vector>

namespace surefoot::experiments {

/// A variant counted from traces that are there: a row per problem, a column per step.
certify::Counted counted_traces(const std::string& name, const std::string& source,
                                const std::vector<Index>& steps, const problems::Table& traces,
                                const certify::Options& resolved_claims);

}  // namespace surefoot::experiments
