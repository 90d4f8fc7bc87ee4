#include "surefoot/certify/ledger.hpp"
#include "surefoot/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// A damaged ledger is refused; one that is read is written again as the same looks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot::certify;
  try {
    const std::vector<Look> looks = parse_ledger("fuzz", {reinterpret_cast<const char*>(data), size});
    for (const Look& look : looks) (void)earlier_looks(looks, look.range, look.request);
    if (parse_ledger("again", ledger_text(looks)) != looks) std::abort();
  } catch (const surefoot::InputError&) {
  }
  return 0;
}
