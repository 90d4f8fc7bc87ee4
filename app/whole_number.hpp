#pragma once

#include "surefoot/core/types.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
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
