#pragma once

#include "surefoot/algorithms/detail/code_network.hpp"

#include <array>
#include <memory>
#include <string_view>

namespace surefoot::algorithms {

/// Names of the learned soft-thresholding networks.
inline constexpr std::array<std::string_view, 4> code_network_names{"alista", "glista", "tilista", "lista"};
/// One of them by its name; InputError lists the names.
std::unique_ptr<LearnedOperator> make_code_network(std::string_view name, SharedCodes codes,
                                                   CodeNetworkOptions options = {});
/// Numbers of 8 bytes that it keeps of every sample besides the sample.
double numbers_kept_by_sample(std::string_view name, Index variables, Precision precision);

}  // namespace surefoot::algorithms
