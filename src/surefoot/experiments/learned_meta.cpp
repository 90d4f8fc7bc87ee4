#include "surefoot/algorithms/maml.hpp"
#include "surefoot/experiments/learned_bench.hpp"

#include <memory>
#include <utility>

namespace surefoot::experiments {

Tasks draw_tasks(const MetaLearning& model, std::uint64_t family_seed, const BenchRequest& request) {
  return std::make_shared<const problems::RegressionTasks>(
      families::Sinusoids(model.family).draw(family_seed, request.set, request.count, request.first).tasks);
}

std::unique_ptr<algorithms::LearnedOperator> make_meta(const MetaLearning& model, Tasks tasks,
                                                       const BenchRequest& request) {
  algorithms::MamlOptions options;
  options.hidden = model.hidden;
  options.step = model.step;
  options.precision = request.precision;
  options.initial_deviation = 0;
  options.seed = request.seed;
  return algorithms::make_maml(std::move(tasks), options);
}

LearnedBench MetaLearning::bench(const LearnedSetting& setting, const BenchRequest& request) const {
  const std::string& name = learned_optimizer(setting.model).metric(request.metric).name;
  LearnedBench bench;
  bench.op = make_meta(*this, draw_tasks(*this, setting.family_seed, request), request);
  bench.metric = runs::quantity(name == "largest error" ? algorithms::Quantity::largest_error
                                                        : algorithms::Quantity::objective);
  bench.metric.name = name;
  return bench;
}

double MetaLearning::numbers_by_sample(const LearnedSetting& /*setting*/,
                                       algorithms::Precision /*precision*/) const {
  constexpr double numbers_by_point = 6;  // input and output, sorted too, and while they are drawn
  return numbers_by_point * static_cast<double>(family.train_points + family.test_points);
}

}  // namespace surefoot::experiments
