#pragma once

#include "surefoot/core/error.hpp"

#include <string>

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

}  // namespace surefoot::test_support
