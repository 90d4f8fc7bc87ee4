// Meta-learning as bench/baselines/maml_jax.py does it: second-order training steps of 10 tasks through 2
// inner steps (draws, the PAC-Bayes objective, Adam), and the evaluation of 10 inner steps on 50,000 tasks
// with the mean squared error of each. Prints JSON.
//   maml_bench [--batches 500] [--tasks 50000] [--threads 2] [--precision single]

#include "surefoot/algorithms/maml.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/families/sinusoids.hpp"
#include "surefoot/learning/train.hpp"
#include "surefoot/runs/run.hpp"

#include "bench_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using families::SampleSet;

constexpr Index batch = 10;

std::shared_ptr<problems::RegressionTasks> draw_tasks(SampleSet set, Index count) {
  return std::make_shared<problems::RegressionTasks>(families::Sinusoids().draw(0, set, count).tasks);
}

struct Times {
  double wall = 0;
  double processor = 0;
};

Times train(const algorithms::MamlOptions& maml, Index batches) {
  const auto op = algorithms::make_maml(draw_tasks(SampleSet::training, batches * batch), maml);
  learning::Loss loss;
  loss.kind = learning::LossKind::objective;
  learning::TrainOptions options;
  options.steps = 2;
  learning::Stage stage;
  stage.batch = batch;
  options.stages = {stage};
  const double begin = bench::processor();
  const learning::TrainResult result =
      learning::train(*op, learning::initial_posterior(*op, -10), loss, options);
  const auto steps = static_cast<double>(batches);
  return {result.seconds / steps, (bench::processor() - begin) / steps};
}

Times evaluate(const algorithms::MamlOptions& maml, Index tasks, double& median_error) {
  const auto op = algorithms::make_maml(draw_tasks(SampleSet::test, tasks), maml);
  const algorithms::InitialWeights weights = op->initial();
  op->assign(weights.mean, std::vector<double>(weights.mean.size(), 0.0));
  runs::RunOptions options;
  options.steps = 10;
  std::vector<double> errors(static_cast<std::size_t>(tasks));
  const double begin = bench::processor();
  const auto clock = std::chrono::steady_clock::now();
  runs::run(certify::SampledOperator(*op), {runs::quantity(algorithms::Quantity::objective)},
            runs::cold_start(), options, [&](std::size_t, Index task, const double* trace) {
              errors[static_cast<std::size_t>(task)] = trace[10];
            });
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
  std::nth_element(errors.begin(), errors.begin() + tasks / 2, errors.end());
  median_error = errors[static_cast<std::size_t>(tasks / 2)];
  return {wall, bench::processor() - begin};
}

}  // namespace

int main(int argc, char** argv) {
  Index batches = 500;
  Index tasks = 50000;
  int threads_wanted = 2;
  algorithms::MamlOptions maml;
  maml.precision = algorithms::Precision::single;
  maml.initial_deviation = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--batches") batches = std::atol(argv[i + 1]);
    if (key == "--tasks") tasks = std::atol(argv[i + 1]);
    if (key == "--threads") threads_wanted = std::atoi(argv[i + 1]);
    if (key == "--precision" && std::string(argv[i + 1]) == "double")
      maml.precision = algorithms::Precision::twice;
  }
  set_threads(threads_wanted);
  train(maml, batches / 10 + 1);
  const Times training = train(maml, batches);
  double median_error = 0;
  const Times evaluation = evaluate(maml, tasks, median_error);
  fmt::print(
      "{{\"threads\": {}, \"precision\": \"{}\", \"training_step_seconds\": {:.6f}, "
      "\"training_step_cpu_seconds\": {:.6f}, \"tasks\": {}, \"evaluation_seconds\": {:.3f}, "
      "\"evaluation_cpu_seconds\": {:.3f}, \"median_error_after_10\": {:.4f}}}\n",
      threads_wanted, maml.precision == algorithms::Precision::single ? "single" : "double", training.wall,
      training.processor, tasks, evaluation.wall, evaluation.processor, median_error);
  return 0;
}
