#pragma once

#include "surefoot/problems/matrix.hpp"

namespace surefoot::problems {

/// A family of small regression tasks with one input and one output: points to learn from (N x K_train) and
/// points to be judged by (N x K_test), one task per row.
struct RegressionTasks {
  Table train_inputs;
  Table train_outputs;
  Table test_inputs;
  Table test_outputs;

  [[nodiscard]] Index instances() const { return train_inputs.rows(); }
  void validate() const;
};

}  // namespace surefoot::problems
