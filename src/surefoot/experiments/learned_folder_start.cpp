#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/cones.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/families/folder_parameters.hpp"
#include "surefoot/runs/solve_cone.hpp"
#include "surefoot/runs/solve_qp.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace surefoot::experiments {

namespace {

algorithms::ScsOptions scs_options(const FolderStart& model) {
  algorithms::ScsOptions options = algorithms::ScsOptions::fixed();
  options.returned = false;  // steps of (mu, eta), which have a derivative
  options.scale = model.scale;
  if (model.alpha > 0) options.alpha = model.alpha;
  return options;
}

std::shared_ptr<const algorithms::Operator> solver_of(const FolderStart& model,
                                                      const families::FolderProblems& problems) {
  if (const auto* cone = std::get_if<problems::ConeProgram>(&problems))
    return std::make_shared<algorithms::Scs>(*cone, scs_options(model));
  algorithms::OsqpOptions options = algorithms::OsqpOptions::fixed();
  options.rho = model.rho;
  if (model.alpha > 0) options.alpha = model.alpha;
  options.scaling = model.scaling;
  options.scale_each = model.scale_each;
  return std::make_shared<algorithms::Osqp>(std::get<problems::Qp>(problems), options);
}

/// The solver's states at these iterates, a row per instance.
problems::Table states_at(const algorithms::Operator& op, const problems::Table& iterates) {
  problems::Table states(op.instances(), op.state_size());
  const auto workspace = op.make_workspace();
  const Index W = op.width();
  algorithms::Buffer iterate = algorithms::make_buffer(op.iterate_size(), W);
  algorithms::Buffer state = algorithms::make_buffer(op.state_size(), W);
  const algorithms::Batch z{state.data(), op.state_size(), W};
  for (Index first = 0; first < op.instances(); first += W) {
    host().check();
    const Index count = std::min(W, op.instances() - first);
    op.load(first, count, *workspace);
    for (Index i = 0; i < op.iterate_size(); ++i) {
      for (Index lane = 0; lane < W; ++lane)
        iterate[i * W + lane] = iterates(first + std::min(lane, count - 1), i);
    }
    op.write({iterate.data(), op.iterate_size(), W}, *workspace, z);
    for (Index i = 0; i < op.state_size(); ++i) {
      for (Index lane = 0; lane < count; ++lane) states(first + lane, i) = z.row(i)[lane];
    }
  }
  return states;
}

/// About the size of what the network is to say: the root mean square of the numbers of the start.
double scale_of(const problems::Table& states, Index numbers) {
  const auto part = states.leftCols(std::min(numbers, states.cols()));
  const double largest = part.cwiseAbs().maxCoeff();
  if (!(largest > 0)) return 1;
  return largest * std::sqrt((part / largest).squaredNorm() / static_cast<double>(part.size()));
}

std::unique_ptr<algorithms::WarmStart> network_on(const FolderStart& model, const FolderStartBench& bench,
                                                  double output_scale, std::uint64_t seed) {
  const families::ParameterMap map = families::ParameterMap::parse(model.inputs);
  algorithms::WarmStartOptions options;
  options.hidden = model.hidden;
  options.input_center = Eigen::Map<const problems::Vector>(map.center.data(), map.size());
  options.input_scale = Eigen::Map<const problems::Vector>(map.scale.data(), map.size());
  options.output_scale = output_scale;
  options.initial_deviation = 0;
  options.seed = seed;
  return std::make_unique<algorithms::WarmStart>(bench.solver, bench.parameters, options);
}

}  // namespace

FolderStartBench make_start(const FolderStart& model, families::FolderProblems problems,
                            const problems::Table* given, const BenchRequest& request) {
  const families::ParameterMap map = families::ParameterMap::parse(model.inputs);
  require(map.size() > 0, "inputs: what tells one problem from another is not known yet");
  FolderStartBench bench;
  bench.parameters = std::make_shared<const problems::Table>(families::parameters_of(map, problems, given));
  bench.problems = std::make_shared<const families::FolderProblems>(std::move(problems));
  bench.solver = solver_of(model, *bench.problems);
  bench.warm = network_on(model, bench, model.output_scale > 0 ? model.output_scale : 1, request.seed);
  return bench;
}

FolderStartBench make_start(const FolderStart& model, const BenchRequest& request) {
  families::FolderOptions folder = model.family;
  const families::FolderProblems all = read_independent(folder);
  const Index there = std::visit([](const auto& family) { return family.instances(); }, all);
  std::optional<problems::Table> given = families::read_beside(families::parameters_table, folder, there);
  families::FolderProblems rows = families::rows_of_folder(folder, all, request.first, request.count);
  if (given) given = problems::Table(given->middleRows(request.first, request.count));
  return make_start(model, std::move(rows), given ? &*given : nullptr, request);
}

problems::Table folder_solutions(const FolderStart& model, const FolderStartBench& bench, const Keep& keep) {
  return keep([&] {
    if (const auto* cone = std::get_if<problems::ConeProgram>(bench.problems.get())) {
      runs::SolveOptions how;
      how.interrupt = host().check;
      return runs::solve_cone(*cone, scs_options(model), how);
    }
    runs::QpSolveOptions how;
    how.interrupt = host().check;
    return runs::solve_qp(std::get<problems::Qp>(*bench.problems), how);
  });
}

problems::Table start_iterates(const FolderStart& model, const FolderStartBench& bench,
                               const learning::Posterior& weights, Index iterate_size) {
  algorithms::WarmStart& op = *bench.warm;
  const Eigen::VectorXd& mean = weights.gaussians.mean;
  const auto size = static_cast<std::size_t>(mean.size());
  op.assign({mean.data(), size}, std::vector<double>(size, 0.0));
  problems::Table starts(op.instances(), iterate_size);
  const auto workspace = op.make_workspace();
  const Index W = op.width();
  const Index own = op.iterate_size();
  algorithms::Buffer state = algorithms::make_buffer(op.state_size(), W);
  algorithms::Buffer iterate = algorithms::make_buffer(std::max(own, iterate_size), W);
  const auto* cone = std::get_if<problems::ConeProgram>(bench.problems.get());
  const bool returned = cone != nullptr && iterate_size > own;
  require(returned || iterate_size == own, "start: an iterate of the solver has {} numbers, not {}",
          iterate_size, own);
  algorithms::SemidefiniteRoom room =
      returned ? algorithms::SemidefiniteRoom(cone->cones, W) : algorithms::SemidefiniteRoom();
  for (Index first = 0; first < op.instances(); first += W) {
    host().check();
    const Index count = std::min(W, op.instances() - first);
    op.load(first, count, *workspace);
    op.use_means(*workspace);
    op.start({state.data(), op.state_size(), W}, *workspace);
    op.read({state.data(), op.state_size(), W}, *workspace, 0, own, iterate.data());
    if (returned) {
      // y = Pi(mu_y), s = (y - mu_y) / scale; the zero cone has s = 0.
      const Index n = cone->variables();
      const Index m = cone->constraints();
      double* y = iterate.data() + n * W;
      double* s = y + m * W;
      std::copy_n(y, m * W, s);
      algorithms::project_dual_cone(cone->cones, y, W, room);
      for (Index i = 0; i < m * W; ++i) s[i] = i < cone->cones.zero * W ? 0.0 : (y[i] - s[i]) / model.scale;
    }
    for (Index i = 0; i < iterate_size; ++i) {
      for (Index lane = 0; lane < count; ++lane) starts(first + lane, i) = iterate[i * W + lane];
    }
  }
  return starts;
}

LearnedBench FolderStart::bench(const LearnedSetting& /*setting*/, const BenchRequest& request) const {
  FolderStartBench made = make_start(*this, request);
  const runs::Metric metric = runs::quantity(algorithms::Quantity::optimality_residual);
  LearnedBench bench;
  if (request.for_training && request.solutions) {
    const auto states = std::make_shared<problems::Table>(
        states_at(*made.solver, folder_solutions(*this, made, request.keep)));
    bench.target = [states](Index first, Index count, algorithms::Batch target) {
      for (Index i = 0; i < target.rows; ++i) {
        for (Index lane = 0; lane < target.width; ++lane)
          target.row(i)[lane] = (*states)(first + std::min(lane, count - 1), i);
      }
    };
    if (output_scale == 0) {
      bench.output_scale = scale_of(*states, made.solver->differentiable()->start_size());
      made.warm = network_on(*this, made, bench.output_scale, request.seed);
    }
  }
  bench.op = std::move(made.warm);
  bench.metric = metric;
  return bench;
}

double FolderStart::numbers_by_sample(const LearnedSetting& setting,
                                      algorithms::Precision /*precision*/) const {
  // The files are read whole, checked, and rows of them copied; of each problem the solution and its state.
  constexpr double copies = 4;
  return copies * families::bytes_of_folder(family) / sizeof(double) /
         static_cast<double>(std::max<Index>(1, setting.samples));
}

}  // namespace surefoot::experiments
