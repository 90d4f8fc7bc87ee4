#pragma once

#include "surefoot/core/types.hpp"

#include <string_view>

namespace surefoot::families {

/// Sets of samples that share nothing: each has a random purpose of its own. `base` is for what is no sample
/// of any count: solutions to start from.
enum class SampleSet { training, validation, hold_out, test, base };
std::string_view to_string(SampleSet set);

/// Samples first .. first+count-1 are at least one, and have numbers; InputError otherwise.
void require_samples(Index count, Index first);

}  // namespace surefoot::families
