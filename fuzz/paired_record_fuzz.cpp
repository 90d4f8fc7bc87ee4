#include "surefoot/certify/paired_record.hpp"

#include "fuzz_support.hpp"

// A hostile record of a comparison is refused or found false; one that is found true is written as it was
// read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  const std::string text = fuzz::text_of(data, size);
  (void)certify::is_paired_record(text);
  fuzz::message_of([&] {
    const certify::CheckedRecord checked = certify::check_paired_record(text);
    if (!checked.findings.empty()) return;
    const std::string again = certify::to_json(checked.comparison);
    if (!certify::is_paired_record(again) || !certify::check_paired_record(again).findings.empty())
      std::abort();
  });
  return 0;
}
