// The engine end to end: draw the family, factor, run N instances for K steps, count, and bound the risk at
// all K steps and 81 tolerances. Growth with N, K and the size of the problem, three of each; GFLOP/s of the
// linear algebra beside the machine's peak. Matrices that vary, in lanes and one problem at a time.
#include "surefoot/algorithms/detail/splitting_system.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/families/deblurring.hpp"
#include "surefoot/families/robust_kalman.hpp"
#include "surefoot/runs/metric.hpp"
#include "surefoot/runs/run.hpp"

#include "peak.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

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

/// Quadratic programs on a chain of n variables whose P and A vary from problem to problem on one pattern: P
/// couples neighbours, the rows of A bound each variable and each difference. Each problem has scaling and
/// factors of its own.
problems::Qp varied_programs(Index count, Index n) {
  problems::Qp programs;
  programs.q.resize(count, n);
  programs.l = problems::Table::Constant(1, 2 * n - 1, -1);
  programs.u = problems::Table::Constant(1, 2 * n - 1, 1);
  for (Index i = 0; i < count; ++i) {
    RandomStream random(0, "matrices that vary", static_cast<std::uint64_t>(i));
    std::vector<Eigen::Triplet<double>> P;
    std::vector<Eigen::Triplet<double>> A;
    const auto at = [](Index row, Index column, double value) {
      return Eigen::Triplet<double>(static_cast<int>(row), static_cast<int>(column), value);
    };
    for (Index j = 0; j < n; ++j) {
      programs.q(i, j) = random.normal();
      P.push_back(at(j, j, random.uniform(2, 3)));
      A.push_back(at(j, j, random.uniform(0.5, 1)));
      if (j + 1 == n) break;
      const double coupling = random.uniform(-1, 1);
      P.push_back(at(j, j + 1, coupling));
      P.push_back(at(j + 1, j, coupling));
      A.push_back(at(n + j, j, random.uniform(1, 2)));
      A.push_back(at(n + j, j + 1, -random.uniform(1, 2)));
    }
    programs.P.emplace_back(n, n);
    programs.A.emplace_back(2 * n - 1, n);
    programs.P.back().setFromTriplets(P.begin(), P.end());
    programs.A.back().setFromTriplets(A.begin(), A.end());
  }
  return programs;
}

algorithms::OsqpOptions varied_options() {
  algorithms::OsqpOptions options = algorithms::OsqpOptions::fixed();
  options.check_termination = 0;
  return options;
}

/// All in lanes: one symbolic analysis, numeric factors of a block at a time.
void varied_in_lanes(benchmark::State& state) {
  const problems::Qp programs = varied_programs(state.range(0), state.range(2));
  runs::RunOptions run;
  run.steps = state.range(1);
  for ([[maybe_unused]] auto iteration : state)
    benchmark::DoNotOptimize(
        runs::run_iterates(algorithms::Osqp(programs, varied_options()), runs::cold_start(), run).data());
  count_work(state, 0);
}

/// One after the other, as a solver is called that knows one problem.
void varied_one_by_one(benchmark::State& state) {
  const problems::Qp programs = varied_programs(state.range(0), state.range(2));
  runs::RunOptions run;
  run.steps = state.range(1);
  for ([[maybe_unused]] auto iteration : state) {
    for (Index i = 0; i < programs.instances(); ++i) {
      problems::Qp one;
      one.P = {programs.P_of(i)};
      one.A = {programs.A_of(i)};
      one.q = programs.q.middleRows(i, 1);
      one.l = programs.l;
      one.u = programs.u;
      benchmark::DoNotOptimize(
          runs::run_iterates(algorithms::Osqp(std::move(one), varied_options()), runs::cold_start(), run)
              .data());
    }
  }
  count_work(state, 0);
}

void varied_sizes(benchmark::internal::Benchmark* bench) {
  for (const Index n : {20, 80, 320})
    for (const Index k : {1, 50, 200}) bench->Args({512, k, n});
  bench->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond)->ArgNames({"N", "K", "n"});
}
BENCHMARK(varied_in_lanes)->Apply(varied_sizes);
BENCHMARK(varied_one_by_one)->Apply(varied_sizes);

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
