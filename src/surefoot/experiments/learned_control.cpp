#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/runs/run.hpp"

#include <algorithm>
#include <memory>

namespace surefoot::experiments {

namespace {

constexpr Index plan_steps = 500;  ///< of the controller before: its plan is then exact for all purposes

/// The solver as a controller sets it up: once, vectors updated from problem to problem. The problems are in
/// natural units, so that they are not scaled; rho suits cold starts. Others are the solver's own defaults.
algorithms::OsqpOptions controller_options(const ControlStart& model) {
  algorithms::OsqpOptions options = algorithms::OsqpOptions::fixed();
  options.scaling = 0;
  options.rho = model.rho;
  options.system = algorithms::SystemKind::dense;
  return options;
}

}  // namespace

problems::Table control_solutions(const ControlStart& model, const problems::Qp& problem, const Keep& keep) {
  return keep([&] {
    runs::RunOptions options;
    options.steps = plan_steps;
    options.interrupt = host().check;
    return runs::run_iterates(algorithms::Osqp(problem, controller_options(model)), runs::cold_start(),
                              options);
  });
}

ControlBench make_start(const ControlStart& model, std::uint64_t family_seed, const BenchRequest& request) {
  const families::ModelPredictiveControl law(model.family);
  const problems::Table before = law.draw(family_seed, request.set, request.count, request.first);
  ControlBench bench;
  bench.plans = control_solutions(model, law.problem(before), request.keep);
  bench.parameters = std::make_shared<const problems::Table>(
      law.advance(before, bench.plans, family_seed, request.set, request.first));
  bench.solver =
      std::make_shared<algorithms::Osqp>(law.problem(*bench.parameters), controller_options(model));
  algorithms::WarmStartOptions options;
  options.hidden = model.hidden;
  options.input_scale = law.ranges();
  options.initial_deviation = 0;
  options.seed = request.seed;
  bench.warm = std::make_unique<algorithms::WarmStart>(bench.solver, bench.parameters, options);
  return bench;
}

LearnedBench ControlStart::bench(const LearnedSetting& setting, const BenchRequest& request) const {
  ControlBench made = make_start(*this, setting.family_seed, request);
  LearnedBench bench{std::move(made.warm), runs::quantity(algorithms::Quantity::optimality_residual)};
  if (!request.for_training) return bench;
  const auto solutions =
      std::make_shared<problems::Table>(control_solutions(*this, made.solver->problem(), request.keep));
  // Without scaling the state is the iterate.
  bench.target = [solutions](Index first, Index count, algorithms::Batch target) {
    for (Index i = 0; i < target.rows; ++i) {
      for (Index lane = 0; lane < target.width; ++lane)
        target.row(i)[lane] = (*solutions)(first + std::min(lane, count - 1), i);
    }
  };
  return bench;
}

double ControlStart::numbers_by_sample(const LearnedSetting& /*setting*/,
                                       algorithms::Precision /*precision*/) const {
  const families::ModelPredictiveControl law(family);
  // Two problems of a loop with their vectors, their solutions, and the states.
  const auto iterate = static_cast<double>(law.variables() + 2 * law.constraints());
  return 5 * iterate + 4 * static_cast<double>(law.states());
}

}  // namespace surefoot::experiments
