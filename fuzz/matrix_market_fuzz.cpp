// Any bytes as a Matrix Market file, plain or gzip.
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/matrix_market.hpp"

#include "fuzz_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  fuzz::message_of([&] {
    const auto source = io::gunzip_if_compressed(io::memory_bytes("m", fuzz::text_of(data, size)));
    const auto matrix = io::read_matrix_market(*source, {.dimension = 100'000, .entries = 1'000'000});
    if (!matrix.isCompressed()) std::abort();
  });
  return 0;
}
