// Any bytes as weights: read as tensors, and as a posterior; what is read can be written and read again.
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/safetensors.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "fuzz_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  const std::string bytes = fuzz::text_of(data, size);
  fuzz::message_of([&] {
    const io::Safetensors content = io::read_safetensors(*io::memory_bytes("w", bytes));
    const std::string again = io::to_safetensors(content);
    const io::Safetensors reread = io::read_safetensors(*io::memory_bytes("w", again));
    if (io::to_safetensors(reread) != again) std::abort();
  });
  fuzz::message_of([&] {
    const learning::Posterior posterior = learning::load_posterior(*io::memory_bytes("w", bytes));
    const std::string again = learning::posterior_bytes(posterior);
    if (learning::posterior_bytes(learning::load_posterior(*io::memory_bytes("w", again))) != again)
      std::abort();
  });
  return 0;
}
