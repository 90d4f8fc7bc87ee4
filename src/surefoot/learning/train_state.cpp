#include "surefoot/learning/train_state.hpp"

#include "surefoot/core/error.hpp"

#include <cstring>

namespace surefoot::learning {

namespace {

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

std::string state_bytes(const TrainState& state) {
  std::size_t bytes = 0;
  visit_parts(state, [&](const void*, std::size_t size) { bytes += size; });
  std::string content;
  content.reserve(bytes);
  visit_parts(state, [&](const void* data, std::size_t size) {
    if (size > 0) content.append(static_cast<const char*>(data), size);
  });
  return content;
}

void restore_state(std::string_view bytes, TrainState& state) {
  std::size_t expected = 0;
  visit_parts(state, [&](const void*, std::size_t size) { expected += size; });
  require(bytes.size() == expected, "state of training: {} bytes, {} are expected", bytes.size(), expected);
  visit_parts(state, [&](void* data, std::size_t size) {
    if (size > 0) std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  });
  for (const Index number : {state.stage, state.epoch, state.batch, state.updates})
    require(number >= 0, "state of training: {} is no position", number);
}

}  // namespace surefoot::learning
