// Any bytes as a CSV table: the rows and the message must not depend on where blocks end.
#include "surefoot/core/parallel.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/csv_reader.hpp"

#include "fuzz_support.hpp"

#include <cstring>

namespace {

using namespace surefoot;

struct Outcome {
  std::vector<double> values;
  std::string message;
};

Outcome read(const std::string& text, std::size_t block_bytes) {
  Outcome outcome;
  outcome.message = fuzz::message_of([&] {
    io::CsvReader reader(io::memory_bytes("t", text), {.block_bytes = block_bytes});
    io::RowBlock block;
    while (reader.next(block)) {
      if (block.values.size() != static_cast<std::size_t>(block.rows * reader.columns())) std::abort();
      outcome.values.insert(outcome.values.end(), block.values.begin(), block.values.end());
    }
  });
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_threads(1);
  const std::string text = fuzz::text_of(data, size);
  const Outcome whole = read(text, std::size_t{1} << 20U);
  const Outcome pieces = read(text, 1 + size % 61);
  if (whole.message != pieces.message) std::abort();
  if (!whole.message.empty()) return 0;
  if (whole.values.size() != pieces.values.size()) std::abort();
  const std::size_t bytes = whole.values.size() * sizeof(double);
  if (std::memcmp(whole.values.data(), pieces.values.data(), bytes) != 0) std::abort();
  return 0;
}
