#pragma once

#include "surefoot/core/types.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <string>

/// For integer options: a number that does not fit is refused as it was typed, instead of being cut to what
/// fits.
inline const CLI::Validator whole_number(
    [](const std::string& text) {
      surefoot::Index value = 0;
      const char* end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, value);
      const bool fits = error == std::errc() && rest == end;
      return fits ? std::string() : "'" + text + "' is not a whole number in range";
    },
    "", "whole number");

/// For numbers of seconds and the like: at least 0 and finite, so no NaN either.
inline const CLI::Validator finite_nonnegative(
    [](const std::string& text) {
      double value = -1;
      const char* end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, value);
      const bool fits = error == std::errc() && rest == end && std::isfinite(value) && value >= 0;
      return fits ? std::string() : "'" + text + "' is not a number of at least 0";
    },
    "", "number >= 0");

/// For counts where an option that is given asks for at least one.
inline const CLI::Validator at_least_one(
    [](const std::string& text) {
      const std::string bad = whole_number(text);
      if (!bad.empty() || (!text.starts_with('-') && text.find_first_not_of('0') != std::string::npos))
        return bad;
      return "'" + text + "' is below 1";
    },
    "", "whole number >= 1");
