// Any bytes as an IDX file, plain or gzip.
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/idx.hpp"

#include "fuzz_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  fuzz::message_of([&] {
    const auto source = io::gunzip_if_compressed(io::memory_bytes("i", fuzz::text_of(data, size)));
    const io::IdxArray array = io::read_idx(*source, std::size_t{256} << 20U);
    std::size_t elements = 1;
    for (const std::size_t extent : array.shape) elements *= extent;
    if (array.values.size() != elements) std::abort();
  });
  return 0;
}
