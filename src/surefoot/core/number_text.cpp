#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace surefoot {
namespace {

constexpr int significant_digits = 3;
constexpr double smallest_fixed = 1e-2;
constexpr double largest_fixed = 1e5;
constexpr double largest_whole = 1e6;  ///< of counts written digit by digit

/// mantissa * 10^exponent, read as a decimal number.
double decimal(long long mantissa, int exponent) {
  return std::strtod(fmt::format("{}e{}", mantissa, exponent).c_str(), nullptr);
}

std::string non_finite(double value) {
  if (std::isnan(value)) return std::string(nothing);
  return value > 0 ? "inf" : "-inf";
}

/// "1.50e-03" to "1.50e-3".
std::string tidy_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  const int exponent = std::atoi(text.c_str() + e + 1);  // NOLINT(cert-err34-c): our own digits
  return text.substr(0, e) + 'e' + std::to_string(exponent);
}

bool is_written_plainly(double value) {
  const double size = std::abs(value);
  return value == 0 || (size >= smallest_fixed && size < largest_fixed);
}

/// 1e-2 rather than 0.01, but 0.05.
bool is_small_power_of_ten(double value) {
  const double size = std::abs(value);
  return size < 0.1 && size == decimal(1, static_cast<int>(std::lround(std::log10(size))));
}

enum class Toward { nearest, up, down };

/// The decimal with three significant digits nearest to value, moved by one unit to the side that is asked
/// for.
std::string three_digits(double value, Toward side) {
  if (side == Toward::down && value != 0 && std::isfinite(value)) {
    const std::string text = three_digits(-value, Toward::up);
    return text.front() == '-' ? text.substr(1) : '-' + text;
  }
  if (!std::isfinite(value)) return non_finite(value);
  if (value == 0) return "0";
  const std::string nearest = fmt::format("{:.{}e}", value, significant_digits - 1);
  const std::size_t e = nearest.find('e');
  int exponent = std::atoi(nearest.c_str() + e + 1) - (significant_digits - 1);  // NOLINT(cert-err34-c)
  long long mantissa = std::llround(std::strtod(nearest.substr(0, e).c_str(), nullptr) * 100);
  if (side == Toward::up && decimal(mantissa, exponent) < value) ++mantissa;
  if (mantissa == 1000) {
    mantissa = 100;
    ++exponent;
  }
  if (is_written_plainly(value) && exponent < 0) {
    return fmt::format("{:.{}f}", decimal(mantissa, exponent), -exponent);
  }
  if (is_written_plainly(value)) return fmt::format("{:.0f}", decimal(mantissa, exponent));
  return tidy_exponent(fmt::format("{:.{}e}", decimal(mantissa, exponent), significant_digits - 1));
}

std::string percent_of(long long units, int decimals) {
  return fmt::format("{:.{}f} %", decimal(units, -decimals), decimals);
}

int decimals_to_tell_from_all(double share) {
  if (share < 0.999) return 1;
  return share < 0.9999 ? 2 : 3;
}

std::string percent(double share, int decimals, bool down) {
  long long units = std::llround(share * std::pow(10.0, decimals + 2));
  if (down && decimal(units, -(decimals + 2)) > share) --units;
  return percent_of(units, decimals);
}

}  // namespace

std::string exact_label(double value) {
  if (!std::isfinite(value)) return non_finite(value);
  if (value == 0) return "0";
  if (is_written_plainly(value) && !is_small_power_of_ten(value)) return fmt::format("{}", value);
  for (int digits = 0; digits < 16; ++digits) {
    std::string text = fmt::format("{:.{}e}", value, digits);
    if (std::strtod(text.c_str(), nullptr) == value) return tidy_exponent(std::move(text));
  }
  return tidy_exponent(fmt::format("{:.16e}", value));
}

namespace {

// Shares and confidences are read as promises: with so many digits, or more where those would round them up.
std::string not_rounded_up(double value, int digits) {
  std::string text;
  for (; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
    if (std::strtod(text.c_str(), nullptr) <= value) break;
  }
  return text;
}

}  // namespace

std::string percent_label(double share) {
  if (!std::isfinite(share)) return std::string(nothing);
  const double percent = 100 * share;
  // 100 * 0.57 is the double above 57: what the user wrote is meant.
  const double written = std::round(percent * 1e8) / 1e8;
  const bool same = std::abs(percent - written) <= 4 * std::numeric_limits<double>::epsilon() * percent;
  return not_rounded_up(same ? written : percent, 10) + " %";
}

std::string confidence_label(double delta) {
  if (delta < 1e-9) return fmt::format("1 - {}", exact_label(delta));
  return not_rounded_up(std::nextafter(1 - delta, 2.0), 12);  // 1 - 0.0081 as written, not one unit below
}

std::string count_label(Index count) {
  std::string digits = std::to_string(count);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) {
    place -= 3;
    digits.insert(place, 1, ',');
  }
  return digits;
}

std::string observed_value(double value) {
  return three_digits(value, Toward::nearest);
}

std::string upper_bound_value(double bound) {
  return bound < infinity ? three_digits(bound, Toward::up) : std::string(nothing);
}

std::string lower_bound_value(double bound) {
  return bound > -infinity ? three_digits(bound, Toward::down) : std::string(nothing);
}

std::string upper_bound_count(double count) {
  if (!(count < infinity)) return std::string(nothing);
  return count <= largest_whole ? fmt::format("{:.0f}", std::ceil(count)) : upper_bound_value(count);
}

std::string observed_percent(double share) {
  if (!std::isfinite(share)) return std::string(nothing);
  if (share >= 1) return "100 %";
  const int decimals = decimals_to_tell_from_all(share);
  return percent(share, decimals, share >= 0.9999);
}

std::string lower_bound_percent(double share) {
  if (!(share > 0)) return std::string(nothing);
  if (share >= 1) return "100 %";
  return percent(share, decimals_to_tell_from_all(share), true);
}

std::string upper_bound_percent(double share) {
  if (!(share < 1)) return std::string(nothing);
  const int decimals = decimals_to_tell_from_all(share);
  long long units = std::llround(share * std::pow(10.0, decimals + 2));
  if (decimal(units, -(decimals + 2)) < share) ++units;
  const bool all = decimal(units, -(decimals + 2)) >= 1;
  return all ? std::string(nothing) : percent_of(units, decimals);
}

double five_digits_up(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 4);
  for (const double candidate : {value, value + unit / 2, value + unit, value + 2 * unit}) {
    const double rounded = std::strtod(fmt::format("{:.4e}", candidate).c_str(), nullptr);
    if (rounded >= value) return rounded;
  }
  return value;
}

std::string full_precision(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.17g}", value);
}

}  // namespace surefoot
