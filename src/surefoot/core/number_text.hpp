#pragma once

#include "surefoot/core/types.hpp"

#include <string>
#include <string_view>

/// Numbers in print. A printed bound, read back as a double, is never stronger than the bound itself: lower
/// bounds are rounded down, upper bounds up.
namespace surefoot {

/// What a cell shows where a bound says nothing, or a number is none.
inline constexpr std::string_view nothing = "-";

/// Shortest text that reads back as the same double, in engineering manner: 1e-3, 0.05, 250, -20.
std::string exact_label(double value);

/// A share given by the user: 0.9 is "90 %", 0.995 is "99.5 %".
std::string percent_label(double share);

/// Confidence 1 - delta, free of the noise of the subtraction: 0.99, 0.9999.
std::string confidence_label(double delta);

/// 231, 50,000: a count with thousands apart.
std::string count_label(Index count);

/// An observed value, three significant digits to nearest; "inf" where more runs failed than the quantile
/// leaves out.
std::string observed_value(double value);

/// An upper bound, three significant digits rounded up; "-" if it says nothing.
std::string upper_bound_value(double bound);

/// An observed share, one decimal to nearest, but 100 % only if it is all of them.
std::string observed_percent(double share);

/// A lower bound on a share, rounded down to one decimal (more where it is within 0.1 % of all); "-" if it
/// says nothing.
std::string lower_bound_percent(double share);

/// An upper bound on a share, rounded up in the same way; "-" if it says nothing.
std::string upper_bound_percent(double share);

/// 17 significant digits for programs; inf and nan by these names.
std::string full_precision(double value);

}  // namespace surefoot
