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
  std::vector<std::string> texts;
  std::string message;
};

// With a column of texts, the one called g, or without.
Outcome read(const std::string& text, std::size_t block_bytes, bool texts) {
  Outcome outcome;
  const std::vector<std::string> columns = texts ? std::vector<std::string>{"g"} : std::vector<std::string>{};
  outcome.message = fuzz::message_of([&] {
    io::CsvReader reader(io::memory_bytes("t", text), {.block_bytes = block_bytes, .text_columns = columns});
    io::RowBlock block;
    while (reader.next(block)) {
      if (block.values.size() != static_cast<std::size_t>(block.rows * reader.columns())) std::abort();
      if (block.texts.size() != static_cast<std::size_t>(block.rows) * columns.size()) std::abort();
      outcome.texts.insert(outcome.texts.end(), block.texts.begin(), block.texts.end());
      outcome.values.insert(outcome.values.end(), block.values.begin(), block.values.end());
    }
  });
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  set_threads(1);
  const std::string text = fuzz::text_of(data, size);
  for (const bool texts : {false, true}) {
    const Outcome whole = read(text, std::size_t{1} << 20U, texts);
    const Outcome pieces = read(text, 1 + size % 61, texts);
    if (whole.message != pieces.message) std::abort();
    if (!whole.message.empty()) continue;
    if (whole.texts != pieces.texts || whole.values.size() != pieces.values.size()) std::abort();
    const std::size_t bytes = whole.values.size() * sizeof(double);
    if (std::memcmp(whole.values.data(), pieces.values.data(), bytes) != 0) std::abort();
  }
  return 0;
}
