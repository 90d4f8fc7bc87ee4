// Any bytes as a tally of a part of the samples; and, sealed with a digest that fits, as the counts inside
// one.
#include "surefoot/certify/part_tally.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/sealed_bytes.hpp"

#include "fuzz_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  const std::string bytes = fuzz::text_of(data, size);
  fuzz::message_of([&] { (void)certify::PartTally::from_bytes(bytes, "t"); });

  // A seed is what follows its version, whichever that was.
  constexpr std::string_view heading = "surefoot tally 2\n";
  constexpr std::size_t digest = 64;
  std::string_view body = bytes;
  if (body.starts_with(heading) && body.size() >= heading.size() + digest) {
    body = body.substr(heading.size(), body.size() - heading.size() - digest);
    fuzz::message_of([&] {
      ByteReader from(body, "seed");
      body.remove_prefix(sizeof(Index) + from.text_view().size());
    });
  }
  const std::string sealed = io::sealed_bytes(heading, [&](ByteWriter& to) {
    to.text(version);
    to.bytes(body);
  });
  fuzz::message_of([&] {
    certify::PartTally tally = certify::PartTally::from_bytes(sealed, "t");
    const std::string again = tally.bytes();
    if (certify::PartTally::from_bytes(again, "t").bytes() != again) std::abort();
    fuzz::message_of([&] { tally.merge(tally, "u"); });
    fuzz::message_of([&] { (void)tally.certificate(true); });
  });
  return 0;
}
