#pragma once

#include "surefoot/core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace surefoot::test_support {

/// The message of the InputError that `call` throws; says so if it throws none.
template <class Call>
std::string input_error(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

/// Whether `call` throws an InputError whose message holds `part`.
template <class Call>
::testing::AssertionResult refuses(Call&& call, std::string_view part) {
  const std::string message = input_error(call);
  if (message.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << message << "\" does not say \"" << part << "\"";
}

}  // namespace surefoot::test_support

/// That `call` throws an InputError, and that its message says `part`: the argument with the bad value. Used
/// instead of EXPECT_THROW, which any InputError satisfies.
#define EXPECT_INPUT_ERROR(call, part) \
  EXPECT_TRUE(::surefoot::test_support::refuses([&] { static_cast<void>(call); }, part))
