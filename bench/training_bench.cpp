// Training epochs of the learned sparse coding networks at full size, as bench/baselines/sparse_coding_jax.py
// does them: single precision, batches of 100, draws, the reverse sweep, the PAC-Bayes objective and Adam.
// Prints JSON.
//   training_bench [--model alista] [--samples 50000] [--epochs 1] [--threads 2]

#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/learning/train.hpp"

#include "bench_support.hpp"

#include <fmt/format.h>

#ifdef __FMA__
#include <immintrin.h>
#endif

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

double fused_multiply_adds(double seconds) {
  using Vector = float __attribute__((vector_size(32)));
  Vector sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = static_cast<float>(i) - Vector{};
  const Vector a = 0.999999F - Vector{};
  const Vector b = 1e-7F - Vector{};
  double operations = 0;
  const double begin = processor();
  while (processor() - begin < seconds) {
    for (int repeat = 0; repeat < 100000; ++repeat) {
      for (auto& s : sum) {
#ifdef __FMA__
        s = _mm256_fmadd_ps(s, a, b);
#else
        s = s * a + b;
#endif
        asm volatile("" : "+x"(s));
      }
    }
    operations += 100000.0 * 12 * 8 * 2;
  }
  return operations / (processor() - begin) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  std::string model = "alista";
  Index samples = 50000;
  Index epochs = 1;
  int threads_wanted = 2;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--model") model = argv[i + 1];
    if (key == "--samples") samples = std::atol(argv[i + 1]);
    if (key == "--epochs") epochs = std::atol(argv[i + 1]);
    if (key == "--threads") threads_wanted = std::atoi(argv[i + 1]);
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
  options.slots = model == "lista" ? 2 : 4;
  if (model == "tilista") options.tied = {"matrix"};
  learning::Stage stage;
  stage.epochs = epochs;
  stage.mean_rate = 1e-6;  // the same sparsity from begin to end
  options.stages = {stage};
  learning::Posterior begin = learning::initial_posterior(*op);
  settle(begin, model);
  if (model == "tilista") begin.gaussians.prior_log_variance[2] = -18;
  const double cpu = processor();
  const learning::TrainResult result = learning::train(*op, begin, loss, options);
  const double cpu_seconds = processor() - cpu;
  const double passes = static_cast<double>(epochs);
  fmt::print(
      "{{\"model\": \"{}\", \"samples\": {}, \"threads\": {}, \"epoch_seconds\": {:.3f}, "
      "\"epoch_cpu_seconds\": "
      "{:.3f}, \"microseconds_per_sample_and_core\": {:.1f}, \"dense_gflop_per_second\": {:.1f}, "
      "\"fma_peak_gflop_per_second_and_core\": {:.1f}}}\n",
      model, samples, threads_wanted, result.seconds / passes, cpu_seconds / passes,
      cpu_seconds / passes / static_cast<double>(samples) * 1e6,
      // what a dense program multiplies: forward, adjoint and, for LISTA, the derivatives by the matrices
      (model == "lista" ? 3.0 : 2.0) * 2.0 * 10 * (model == "lista" ? 512.0 * 768 : 512.0 * 512) *
          static_cast<double>(samples) * passes / result.seconds * 1e-9,
      fused_multiply_adds(0.5));
  return 0;
}
