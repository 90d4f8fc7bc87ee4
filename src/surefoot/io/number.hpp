#pragma once

#include <fast_float/fast_float.h>

#include <system_error>

namespace surefoot::io {

/// Reads the number at the front of [begin, end); returns where it stops, or nullptr if there is none.
/// Private to this room: it needs fast_float, which users of the library need not have.
inline const char* parse_double(const char* begin, const char* end, double& value) {
  if (end - begin > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = fast_float::from_chars(begin, end, value);
  return error == std::errc() || error == std::errc::result_out_of_range ? stop : nullptr;
}

}  // namespace surefoot::io
