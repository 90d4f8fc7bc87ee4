#pragma once

#include "surefoot/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace surefoot::fuzz {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs `call`; bad input may throw InputError with a message of one line, and nothing else.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const InputError& error) {
    std::string message = error.what();
    if (message.empty() || message.find('\n') != std::string::npos) std::abort();
    return message;
  }
  return {};
}

}  // namespace surefoot::fuzz
