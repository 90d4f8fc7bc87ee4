#include "surefoot/algorithms/fista.hpp"
#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/algorithms/ista.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/learned_bench.hpp"

#include <cmath>
#include <memory>

namespace surefoot::experiments {

std::shared_ptr<const algorithms::Operator> make_solver(const ScheduledSolver& model,
                                                        const families::FolderProblems& problems) {
  if (const auto* qp = std::get_if<problems::Qp>(&problems)) {
    algorithms::OsqpOptions options = algorithms::OsqpOptions::fixed();
    options.rho = model.rho;
    if (model.alpha > 0) options.alpha = model.alpha;
    options.scaling = model.scaling;
    options.scale_each = model.scale_each;
    options.system = algorithms::SystemKind::kkt;
    return std::make_shared<algorithms::Osqp>(*qp, options);
  }
  if (const auto* cone = std::get_if<problems::ConeProgram>(&problems)) {
    algorithms::ScsOptions options = algorithms::ScsOptions::fixed();
    options.scale = model.scale;
    if (model.alpha > 0) options.alpha = model.alpha;
    options.returned = true;
    options.system = algorithms::SystemKind::kkt;
    return std::make_shared<algorithms::Scs>(*cone, options);
  }
  if (const auto* quadratic = std::get_if<problems::Quadratic>(&problems))
    return std::make_shared<algorithms::GradientDescent>(*quadratic,
                                                         algorithms::GradientDescentOptions{model.step});
  const auto& lasso = std::get<problems::Lasso>(problems);
  const algorithms::IstaOptions options{model.step > 0 ? 1 / model.step : 0};
  if (model.method() == "fista") return std::make_shared<algorithms::Fista>(lasso, options);
  return std::make_shared<algorithms::Ista>(lasso, options);
}

std::string ScheduledSolver::method() const {
  if (solver != usual_solver) return solver;
  switch (families::parse_folder_kind(family.kind)) {
    case families::FolderKind::qp:
      return "osqp";
    case families::FolderKind::quadratic:
      return "gradient-descent";
    case families::FolderKind::lasso:
      return "ista";
    case families::FolderKind::cone:
      return "scs";
  }
  return "";
}

LearnedBench ScheduledSolver::bench(const LearnedSetting& setting, const BenchRequest& request) const {
  families::FolderOptions folder = family;
  const families::FolderProblems all = read_independent(folder);
  LearnedBench bench;
  bench.op = std::make_unique<algorithms::StepSchedule>(
      make_solver(*this, families::rows_of_folder(folder, all, request.first, request.count)), setting.steps);
  bench.metric = runs::quantity(algorithms::Quantity::optimality_residual);
  return bench;
}

double ScheduledSolver::numbers_by_sample(const LearnedSetting& setting,
                                          algorithms::Precision /*precision*/) const {
  // The files are read whole, checked, and rows of them copied.
  constexpr double copies = 3;
  return copies * families::bytes_of_folder(family) / sizeof(double) / static_cast<double>(setting.samples);
}

// The silver step sizes (J. Altschuler, P. Parrilo, "Acceleration by stepsize hedging II", 2024): step k = 1,
// 2, ... is (1 + (1 + sqrt 2)^(v - 1)) / L with 2^v the largest power of two that divides k.
std::vector<double> ScheduledSolver::analytic_means(const LearnedSetting& setting) const {
  if (method() == "osqp" || method() == "scs") return {};
  ScheduledSolver plain = *this;
  plain.step = 0;
  const families::FolderProblems problems = families::read_folder(plain.family);
  const auto usual = [&](const ScheduledSolver& model) {
    return dynamic_cast<const algorithms::ScheduledStep&>(*make_solver(model, problems))
        .step_settings()
        .front();
  };
  const double unit = usual(plain).usual;  // 1 / L
  const algorithms::StepSetting own = usual(*this);
  std::vector<double> means;
  for (Index k = 1; k <= setting.steps; ++k) {
    int power = 0;
    while (k % (Index{1} << (power + 1)) == 0) ++power;
    const double silver = unit * (1 + std::pow(1 + std::sqrt(2.0), power - 1));
    means.push_back(algorithms::StepSchedule::weight_of(own, silver));
  }
  return means;
}

}  // namespace surefoot::experiments
