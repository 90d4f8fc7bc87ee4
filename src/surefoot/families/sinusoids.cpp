#include "surefoot/families/sinusoids.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace surefoot::families {

void SinusoidsOptions::validate() const {
  require(amplitude_low >= 0 && amplitude_low <= amplitude_high && std::isfinite(amplitude_high),
          "amplitudes: {} .. {} is no range", amplitude_low, amplitude_high);
  require(std::isfinite(phase_high) && phase_high >= 0, "phase_high: is {}, must be >= 0", phase_high);
  require(std::isfinite(input_range) && input_range > 0, "input_range: is {}, must be > 0", input_range);
  require(train_points >= 1, "train_points: {} is below 1", train_points);
  require(test_points >= 1, "test_points: {} is below 1", test_points);
}

Sinusoids::Sinusoids(SinusoidsOptions options) : options_(options) {
  options_.validate();
}

Sinusoids::Samples Sinusoids::draw(std::uint64_t seed, SampleSet set, Index count, Index first) const {
  require_samples(count, first);
  const std::string purpose = "sinusoids: " + std::string(to_string(set));
  Samples samples;
  samples.amplitude.resize(count);
  samples.phase.resize(count);
  problems::RegressionTasks& tasks = samples.tasks;
  tasks.train_inputs.resize(count, options_.train_points);
  tasks.train_outputs.resize(count, options_.train_points);
  tasks.test_inputs.resize(count, options_.test_points);
  tasks.test_outputs.resize(count, options_.test_points);
  constexpr Index rows = 256;
  parallel_blocks((count + rows - 1) / rows, [&](Index block) {
    for (Index i = block * rows; i < std::min(count, (block + 1) * rows); ++i) {
      RandomStream stream(seed, purpose, static_cast<std::uint64_t>(first + i));
      const double amplitude = stream.uniform(options_.amplitude_low, options_.amplitude_high);
      const double phase = stream.uniform(0, options_.phase_high);
      samples.amplitude[i] = amplitude;
      samples.phase[i] = phase;
      const auto fill = [&](problems::Table& inputs, problems::Table& outputs) {
        for (Index j = 0; j < inputs.cols(); ++j) {
          inputs(i, j) = stream.uniform(-options_.input_range, options_.input_range);
          outputs(i, j) = amplitude * std::sin(inputs(i, j) - phase);
        }
      };
      fill(tasks.train_inputs, tasks.train_outputs);
      fill(tasks.test_inputs, tasks.test_outputs);
    }
  });
  return samples;
}

}  // namespace surefoot::families
