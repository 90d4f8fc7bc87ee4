// Any bytes as a .npy, plain or gzip: as a table, and whole.
#include "surefoot/core/parallel.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/table_reader.hpp"

#include "fuzz_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  set_threads(1);
  constexpr std::size_t memory = std::size_t{256} << 20U;
  const std::string bytes = fuzz::text_of(data, size);
  Index elements = 0;
  const std::string refused = fuzz::message_of([&] {
    const auto reader =
        io::TableReader::open(io::memory_bytes("t", bytes), {.block_bytes = 65536, .memory_bytes = memory});
    io::RowBlock block;
    while (reader->next(block)) elements += block.rows * reader->columns();
  });
  fuzz::message_of([&] {
    const auto source = io::gunzip_if_compressed(io::memory_bytes("t", bytes));
    const io::NpyArray array = io::read_npy(*source, memory);
    const bool table = refused.empty() && (array.shape.size() == 1 || array.shape.size() == 2);
    if (table && static_cast<Index>(array.values.size()) != elements) std::abort();
  });
  return 0;
}
