#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/experiments/learned_bench.hpp"

#include <memory>

namespace surefoot::experiments {

StartBench<algorithms::Operator> make_start(const GradientStart& model, std::uint64_t family_seed,
                                            const BenchRequest& request) {
  const families::UnconstrainedQp law(model.family);
  StartBench<algorithms::Operator> bench;
  bench.parameters = std::make_shared<const problems::Table>(
      law.draw(family_seed, request.set, request.count, request.first));
  bench.solver = std::make_shared<algorithms::GradientDescent>(
      law.problem(*bench.parameters), algorithms::GradientDescentOptions{1 / law.curvature().maxCoeff()});
  algorithms::WarmStartOptions options;
  options.hidden = {model.hidden};
  options.input_scale = law.ranges();
  options.output_scale = model.output_scale;
  options.initial_deviation = 0.1;
  options.initial_bias = 4;
  options.seed = request.seed;
  bench.warm = std::make_unique<algorithms::WarmStart>(bench.solver, bench.parameters, options);
  return bench;
}

LearnedBench GradientStart::bench(const LearnedSetting& setting, const BenchRequest& request) const {
  return {make_start(*this, setting.family_seed, request).warm, runs::fixed_point_residual()};
}

double GradientStart::numbers_by_sample(const LearnedSetting& /*setting*/,
                                        algorithms::Precision /*precision*/) const {
  constexpr double copies = 3;  // parameters, linear terms, while they are drawn
  return copies * static_cast<double>(family.stiff + family.flat);
}

}  // namespace surefoot::experiments
