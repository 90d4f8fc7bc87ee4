// Training epochs of the learned sparse coding networks at full size, as bench/baselines/sparse_coding_jax.py
// does them: single precision, batches of 100, draws, the reverse sweep, the PAC-Bayes objective and Adam.
// Prints JSON.
//   training_bench [--model alista] [--samples 50000] [--epochs 1] [--threads 2] [--batch 100] [--noise 1]

#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/learning/train.hpp"

#include "bench_support.hpp"
#include "peak.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

namespace {

using namespace surefoot;

using bench::processor;

// Weights like those of a trained network: steps near 1, thresholds that leave about a tenth of the entries.
void settle(learning::Posterior& posterior, const std::string& model) {
  bounds::GaussianPair& pair = posterior.gaussians;
  for (std::size_t b = 0; b < posterior.layout.blocks.size(); ++b) {
    const auto& block = posterior.layout.blocks[b];
    const Index first = posterior.layout.offset(b);
    if (block.name == "threshold") {
      for (Index k = 0; k < block.size(); ++k)
        pair.mean[first + k] = std::max(0.06, 0.5 * std::pow(0.75, static_cast<double>(k)));
    }
    if (block.name == "overshoot") pair.mean.segment(first, block.size()).setConstant(0.02);
    if (block.name == "matrix")
      pair.mean.segment(first, block.size()) = pair.prior_mean.segment(first, block.size());
  }
  if (model == "lista") pair.mean.tail(pair.mean.size() - 10) = pair.prior_mean.tail(pair.mean.size() - 10);
  pair.log_variance.setConstant(-18);
}

double peak() {
  const auto begin = std::chrono::steady_clock::now();
  const double operations = multiply_adds<float>();
  return 1e-9 * operations / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  std::string model = "alista";
  Index samples = 50000;
  Index epochs = 1;
  int threads_wanted = 2;
  Index batch = 100;
  bool noise = true;  ///< weights drawn and the bound trained, or plain training
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--model") model = argv[i + 1];
    if (key == "--samples") samples = std::atol(argv[i + 1]);
    if (key == "--epochs") epochs = std::atol(argv[i + 1]);
    if (key == "--threads") threads_wanted = std::atoi(argv[i + 1]);
    if (key == "--batch") batch = std::atol(argv[i + 1]);
    if (key == "--noise") noise = std::atoi(argv[i + 1]) != 0;
  }
  set_threads(threads_wanted);
  const auto codes = std::make_shared<problems::SparseCodes>(
      families::SparseCoding(0).draw(families::SampleSet::training, samples));
  const auto op = algorithms::make_code_network(model, codes, {.precision = algorithms::Precision::single});
  learning::Loss loss;
  loss.kind = learning::LossKind::regression;
  loss.target = [&](Index first, Index count, algorithms::Batch target) {
    codes->write_codes(first, count, target.width, target.data);
  };
  learning::TrainOptions options;
  options.slots = 2;
  if (model == "tilista") options.tied = {"matrix"};
  learning::Stage stage;
  stage.epochs = epochs;
  stage.batch = batch;
  stage.noise = noise;
  stage.mean_rate = 1e-6;  // the same sparsity from begin to end
  options.stages = {stage};
  learning::Posterior begin = learning::initial_posterior(*op);
  settle(begin, model);
  if (model == "tilista") begin.gaussians.prior_log_variance[2] = -18;
  if (model == "alista") {  // products cost as much as iterates have nonzeros: as many as in training
    learning::TrainOptions first = options;
    first.stages[0].epochs = 2;
    first.stages[0].batch = 32;
    first.stages[0].samples = std::min<Index>(samples, 5000);
    first.stages[0].noise = false;
    first.stages[0].mean_rate = 2e-2;
    first.stages[0].surrogate.kind = learning::SurrogateKind::logarithm;
    begin.gaussians.mean = learning::train(*op, begin, loss, first).posterior.gaussians.mean;
  }
  const double cpu = processor();
  const learning::TrainResult result = learning::train(*op, begin, loss, options);
  const double cpu_seconds = processor() - cpu;
  const double passes = static_cast<double>(epochs);
  fmt::print(
      "{{\"model\": \"{}\", \"samples\": {}, \"threads\": {}, \"epoch_seconds\": {:.3f}, "
      "\"epoch_cpu_seconds\": {:.3f}, \"microseconds_per_sample_and_core\": {:.1f}, "
      "\"dense_gflop_per_second\": {:.1f}, \"peak_gflop_per_second\": {:.1f}}}\n",
      model, samples, threads_wanted, result.seconds / passes, cpu_seconds / passes,
      cpu_seconds / passes / static_cast<double>(samples) * 1e6,
      // what a dense program multiplies: forward, adjoint and, for LISTA, the derivatives by the matrices
      (model == "lista" ? 3.0 : 2.0) * 2.0 * 10 * (model == "lista" ? 512.0 * 768 : 512.0 * 512) *
          static_cast<double>(samples) * passes / result.seconds * 1e-9,
      peak());
  return 0;
}
