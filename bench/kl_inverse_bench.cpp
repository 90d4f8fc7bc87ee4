#include "surefoot/bounds/kl.hpp"
#include "surefoot/core/random.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <utility>
#include <vector>

namespace {

// Arguments as certificates have them: any q, c over ten decades.
void kl_inverse(benchmark::State& state) {
  surefoot::RandomStream random(1, "kl inverse bench", 0);
  std::vector<std::pair<double, double>> arguments(4096);
  for (auto& [q, c] : arguments) {
    q = random.uniform();
    c = std::pow(10.0, random.uniform(-9.0, 1.0));
  }
  for (auto unused : state) {
    for (const auto& [q, c] : arguments) benchmark::DoNotOptimize(surefoot::bounds::kl_inverse(q, c));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 4096);
}
BENCHMARK(kl_inverse);

}  // namespace
