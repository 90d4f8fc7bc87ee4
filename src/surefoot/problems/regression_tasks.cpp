#include "surefoot/problems/regression_tasks.hpp"

#include "surefoot/core/error.hpp"

namespace surefoot::problems {

void RegressionTasks::validate() const {
  require(instances() >= 1, "train_inputs: there is no task");
  require(train_inputs.cols() >= 1, "train_inputs: a task has no points");
  require(test_inputs.cols() >= 1, "test_inputs: a task has no points");
  const auto same = [&](const Table& a, const Table& b, const char* name) {
    require(a.rows() == instances() && b.rows() == instances() && a.cols() == b.cols(),
            "{}: {} x {} inputs and {} x {} outputs for {} tasks", name, a.rows(), a.cols(), b.rows(),
            b.cols(), instances());
  };
  same(train_inputs, train_outputs, "train points");
  same(test_inputs, test_outputs, "test points");
  require_finite(train_inputs, "train_inputs");
  require_finite(train_outputs, "train_outputs");
  require_finite(test_inputs, "test_inputs");
  require_finite(test_outputs, "test_outputs");
}

}  // namespace surefoot::problems
