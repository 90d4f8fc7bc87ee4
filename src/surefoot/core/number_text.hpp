#pragma once

#include "surefoot/core/types.hpp"

#include <string>
#include <string_view>

/// Numbers in print: the only place where a number that a person may quote becomes text. A printed bound,
/// read back as a double, is never stronger than the bound itself, so every function says which side it keeps
/// to: lower bounds are rounded down, upper bounds up, what the user named is shown exactly, and what was
/// only observed to nearest.
namespace surefoot {

/// What a cell shows where a bound says nothing, or a number is none.
inline constexpr std::string_view nothing = "-";

/// Shortest text that reads back as the same double, in engineering manner: 1e-3, 0.05, 250, -20.
std::string exact_label(double value);

/// A share given by the user: 0.9 is "90 %", 0.995 is "99.5 %".
std::string percent_label(double share);

/// Confidence 1 - delta, rounded down but for the last unit of the subtraction: 0.99, 0.9999, "1 - 1e-12".
std::string confidence_label(double delta);

/// 231, 50,000: a count with thousands apart.
std::string count_label(Index count);

/// An observed value, three significant digits to nearest; "inf" where more runs failed than the quantile
/// leaves out.
std::string observed_value(double value);

/// An upper bound, three significant digits rounded up; "-" if it says nothing.
std::string upper_bound_value(double bound);

/// A lower bound, three significant digits rounded down; "-" if it says nothing.
std::string lower_bound_value(double bound);

/// An upper bound on a number of steps that may be huge: the next whole number, or three digits rounded up;
/// "-" if it says nothing.
std::string upper_bound_count(double count);

/// An observed share, one decimal to nearest, but 100 % only if it is all of them.
std::string observed_percent(double share);

/// A lower bound on a share, rounded down to one decimal (more where it is within 0.1 % of all); "-" if it
/// says nothing.
std::string lower_bound_percent(double share);

/// An upper bound on a share, rounded up in the same way; "-" if it says nothing.
std::string upper_bound_percent(double share);

/// The smallest number of five significant digits that is not below `value`; infinity and NaN as they are.
double five_digits_up(double value);

/// 17 significant digits for programs; inf and nan by these names.
std::string full_precision(double value);

}  // namespace surefoot
