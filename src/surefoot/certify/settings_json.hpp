#pragma once

#include "surefoot/algorithms/settings.hpp"

#include <string>

namespace surefoot::certify {

/// What an operator says of itself (Operator::settings()) as the JSON text of an object, for
/// Certificate::run. Whoever runs it adds the data and the iterations.
std::string settings_json(const algorithms::Settings& settings);

}  // namespace surefoot::certify
