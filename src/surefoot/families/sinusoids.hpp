#pragma once

#include "surefoot/families/sample_set.hpp"
#include "surefoot/problems/regression_tasks.hpp"

#include <cstdint>
#include <numbers>

namespace surefoot::families {

struct SinusoidsOptions {
  double amplitude_low = 0.1;
  double amplitude_high = 5;
  double phase_high = std::numbers::pi;  ///< phases from 0
  double input_range = 5;                ///< inputs on [-range, range]
  Index train_points = 10;               ///< that a task is learned from
  Index test_points = 100;               ///< that it is judged by

  void validate() const;
};

/// Tasks to learn y = A sin(a - phase), A and phase uniform, from a few points with uniform inputs a. C.
/// Finn, P. Abbeel, S. Levine, "Model-agnostic meta-learning for fast adaptation of deep networks", ICML
/// 2017.
class Sinusoids {
 public:
  explicit Sinusoids(SinusoidsOptions options = {});

  [[nodiscard]] const SinusoidsOptions& options() const { return options_; }
  struct Samples {
    problems::RegressionTasks tasks;
    problems::Vector amplitude;
    problems::Vector phase;
  };
  /// Tasks first .. first+count-1 of a set; task i depends on (seed, set, i) only.
  [[nodiscard]] Samples draw(std::uint64_t seed, SampleSet set, Index count, Index first = 0) const;

 private:
  SinusoidsOptions options_;
};

}  // namespace surefoot::families
