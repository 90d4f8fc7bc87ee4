#include "surefoot/core/error.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

// A hostile proof is refused or found false; it cannot crash the check.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto parsed = surefoot::worst_case::parse_proof({reinterpret_cast<const char*>(data), size});
    (void)surefoot::worst_case::replay(parsed);
  } catch (const surefoot::InputError&) {
  }
  return 0;
}
