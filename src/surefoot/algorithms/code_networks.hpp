#pragma once

#include "surefoot/algorithms/code_network.hpp"

#include <string_view>
#include <vector>

namespace surefoot::algorithms {

/// Names of the learned soft-thresholding networks: alista, glista, tilista, lista.
const std::vector<std::string_view>& code_network_names();
/// One of them by its name; InputError lists the names.
std::unique_ptr<LearnedOperator> make_code_network(std::string_view name, SharedCodes codes,
                                                   CodeNetworkOptions options = {});

}  // namespace surefoot::algorithms
