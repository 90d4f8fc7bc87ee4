// Any bytes as a manifest: one that is read says names inside the folder alone, and is the same written
// again.
#include "surefoot/io/result_folder.hpp"

#include "fuzz_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  const std::string bytes = fuzz::text_of(data, size);
  (void)io::is_manifest(bytes);
  fuzz::message_of([&] {
    const io::Manifest manifest = io::parse_manifest("m", bytes);
    for (const auto& [name, file] : manifest.files) {
      const std::filesystem::path path(name);
      if (path.is_absolute() || !path.has_filename()) std::abort();
      for (const std::filesystem::path& part : path) {
        if (part == ".." || part == ".") std::abort();
      }
    }
    const std::string text = io::to_json(manifest);
    if (io::to_json(io::parse_manifest("m", text)) != text) std::abort();
  });
  return 0;
}
