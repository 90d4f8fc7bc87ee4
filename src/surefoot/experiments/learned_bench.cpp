#include "surefoot/experiments/learned_bench.hpp"

#include "surefoot/core/error.hpp"

#include <variant>

namespace surefoot::experiments {

certify::ProblemData data_of(const families::FolderProblems& problems) {
  if (const auto* qp = std::get_if<problems::Qp>(&problems)) return certify::data_of(*qp);
  if (const auto* cone = std::get_if<problems::ConeProgram>(&problems)) return certify::data_of(*cone);
  certify::ProblemData data;
  if (const auto* quadratic = std::get_if<problems::Quadratic>(&problems))
    data.tables.push_back(certify::view_of(quadratic->c));
  else
    data.tables.push_back(certify::view_of(std::get<problems::Lasso>(problems).b));
  return data;
}

families::FolderProblems read_independent(families::FolderOptions& folder) {
  families::FolderProblems all = families::read_folder(folder);
  certify::independence_of_problems(data_of(all)).require_none(folder.folder, false);
  return all;
}

LearnedBench make_bench(const LearnedSetting& setting, const BenchRequest& request) {
  return std::visit([&](const auto& own) { return own.bench(setting, request); }, setting.options);
}

double numbers_by_sample(const LearnedSetting& setting, algorithms::Precision precision) {
  return std::visit([&](const auto& own) { return own.numbers_by_sample(setting, precision); },
                    setting.options);
}

StepNumbers numbers_by_step(const LearnedSetting& setting) {
  return std::visit(
      [&](const auto& own) {
        if constexpr (requires { own.numbers_by_step(setting); }) {
          return own.numbers_by_step(setting);
        } else {
          return StepNumbers();
        }
      },
      setting.options);
}

std::vector<double> converted_means(const LearnedSetting& setting, const learning::Posterior& other) {
  return std::visit(
      [&](const auto& own) {
        if constexpr (requires { own.converted_means(setting, other); }) {
          return own.converted_means(setting, other);
        } else {
          return std::vector<double>();
        }
      },
      setting.options);
}

std::vector<double> analytic_means(const LearnedSetting& setting) {
  std::vector<double> means = std::visit(
      [&](const auto& own) {
        if constexpr (requires { own.analytic_means(setting); }) {
          return own.analytic_means(setting);
        } else {
          return std::vector<double>();
        }
      },
      setting.options);
  require(!means.empty(), "analytic_start: is for lista and schedules of step sizes, the model is {}",
          setting.model);
  return means;
}

}  // namespace surefoot::experiments
