// The engine end to end: draw the family, factor, run N instances for K steps, count, and bound the risk at
// all K steps and 81 tolerances. Growth with N, K and the size of the problem, three of each; GFLOP/s of the
// linear algebra beside the machine's peak.
#include "surefoot/algorithms/detail/splitting_system.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/families/deblurring.hpp"
#include "surefoot/families/robust_kalman.hpp"
#include "surefoot/runs/metric.hpp"

#include "peak.hpp"

#include <benchmark/benchmark.h>

#include <cmath>

namespace surefoot {
namespace {

certify::Options all_cells() {
  certify::Options options;
  options.all_steps = true;
  options.kinds = {"success"};
  options.simultaneous = certify::Simultaneity::each;
  options.delta = 1e-4;
  for (int i = 0; i <= 80; ++i) options.tolerances.push_back(std::pow(10.0, -6 + 0.1 * i));
  return options;
}

void bound_residuals(const algorithms::Operator& op, Index steps) {
  runs::RunOptions run;
  run.steps = steps;
  const certify::Certificate certificate =
      certify::certify_run(op, runs::fixed_point_residual(), all_cells(), run);
  benchmark::DoNotOptimize(certificate.success.data());
}

// Multiply-adds of solves and products alone, two operations each; vector operations and projections are not
// counted.
void count_work(benchmark::State& state, double flops_per_step) {
  const auto instance_steps = static_cast<double>(state.range(0) * state.range(1));
  using benchmark::Counter;
  state.counters["us/instance-step"] =
      Counter(instance_steps * 1e-6, Counter::kIsIterationInvariantRate | Counter::kInvert);
  state.counters["GFLOP/s"] =
      Counter(instance_steps * flops_per_step * 1e-9, Counter::kIsIterationInvariantRate);
}

void robust_kalman(benchmark::State& state) {
  families::RobustKalmanOptions options;
  options.horizon = state.range(2);
  const families::RobustKalman family(options);
  double flops = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const problems::ConeProgram problem = family.problem(family.draw(0, state.range(0)).observations);
    const algorithms::Scs scs(problem, algorithms::ScsOptions::paper());
    bound_residuals(scs, state.range(1));
    const algorithms::SplittingSystem system(problem.P, problem.A, false);
    flops = 4.0 * static_cast<double>(system.factor_entries()) + static_cast<double>(system.variables()) +
            4.0 * static_cast<double>(problem.A.front().nonZeros());
  }
  count_work(state, flops);
}

void deblurring(benchmark::State& state) {
  families::DeblurringOptions options;
  options.side = state.range(2);
  const families::Deblurring family(options);
  const problems::Table letters = families::draw_letters(0, state.range(0), 0, options.side);
  for ([[maybe_unused]] auto iteration : state) {
    const algorithms::Osqp osqp(family.problem(family.observe(letters, 0)), algorithms::OsqpOptions::paper());
    bound_residuals(osqp, state.range(1));
  }
  // Four products of the four quadrants, (d/2)^3 multiply-adds each.
  const double half = static_cast<double>(options.side) / 2;
  count_work(state, 32 * half * half * half);
}

void grow(benchmark::internal::Benchmark* bench, std::vector<Index> sizes) {
  const Index usual = sizes[1];
  for (const Index n : {250, 1000, 4000}) bench->Args({n, 500, usual});
  for (const Index k : {125, 2000}) bench->Args({1000, k, usual});
  bench->Args({1000, 500, sizes[0]})->Args({1000, 500, sizes[2]});
  bench->UseRealTime()->Unit(benchmark::kMillisecond)->ArgNames({"N", "K", "size"});
}
BENCHMARK(robust_kalman)->Apply([](auto* bench) { grow(bench, {25, 50, 100}); });
BENCHMARK(deblurring)->Apply([](auto* bench) { grow(bench, {14, 28, 56}); });

void peak(benchmark::State& state) {
  double operations = 0;
  for ([[maybe_unused]] auto iteration : state) operations = multiply_adds<double>();
  state.counters["GFLOP/s"] =
      benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(peak)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace surefoot
