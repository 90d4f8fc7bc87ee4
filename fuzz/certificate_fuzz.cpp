#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

// A hostile certificate is refused or found false; it cannot crash the check.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto parsed = surefoot::certify::parse_certificate({reinterpret_cast<const char*>(data), size});
    (void)surefoot::certify::verify(parsed);
  } catch (const surefoot::InputError&) {
  }
  return 0;
}
