#include "surefoot/learning/checkpoint.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/sha256.hpp"

#include <cstring>
#include <string_view>

namespace surefoot::learning {

namespace {

constexpr std::string_view heading = "surefoot training checkpoint 1\n";
constexpr std::size_t digest_size = 64;
constexpr std::size_t largest_checkpoint = std::size_t{8} << 30;

// Calls visit(pointer, bytes) for every part of the state, in order.
template <class State, class Visit>
void visit_parts(State& state, const Visit& visit) {
  for (auto* number : {&state.stage, &state.epoch, &state.batch, &state.updates})
    visit(number, sizeof(*number));
  for (auto* vector : {&state.mean, &state.log_variance, &state.prior_log_variance})
    visit(vector->data(), static_cast<std::size_t>(vector->size()) * sizeof(double));
  for (auto* adam : {&state.mean_adam, &state.variance_adam, &state.prior_adam}) {
    visit(adam->first.data(), adam->first.size() * sizeof(float));
    visit(adam->second.data(), adam->second.size() * sizeof(float));
  }
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const std::string& configuration,
                      const TrainState& state) {
  require(configuration.size() == digest_size, "checkpoint: the configuration's digest is missing");
  std::size_t bytes = heading.size() + 2 * digest_size;
  visit_parts(state, [&](const void*, std::size_t size) { bytes += size; });
  std::string content;
  content.reserve(bytes);
  content.append(heading).append(configuration);
  visit_parts(state, [&](const void* data, std::size_t size) {
    if (size > 0) content.append(static_cast<const char*>(data), size);
  });
  content.append(io::sha256_hex(content));
  io::write_file_atomically(path, content);
}

void read_checkpoint(const std::filesystem::path& path, const std::string& configuration, TrainState& state) {
  const std::string content = io::read_file(path, largest_checkpoint);
  const std::string_view text(content);
  require(text.starts_with(heading) && text.size() >= heading.size() + 2 * digest_size,
          "{}: is not a training checkpoint", path.string());
  const std::string_view body = text.substr(0, text.size() - digest_size);
  require(io::sha256_hex(body) == text.substr(body.size()), "{}: is damaged (its checksum does not match)",
          path.string());
  require(text.substr(heading.size(), digest_size) == configuration,
          "{}: belongs to a training with other settings, initial weights or samples", path.string());
  std::size_t at = heading.size() + digest_size;
  std::size_t bytes = at;
  visit_parts(state, [&](const void*, std::size_t size) { bytes += size; });
  require(bytes == body.size(), "{}: holds {} bytes, {} are expected", path.string(), body.size(), bytes);
  visit_parts(state, [&](void* data, std::size_t size) {
    if (size > 0) std::memcpy(data, body.data() + at, size);
    at += size;
  });
}

}  // namespace surefoot::learning
