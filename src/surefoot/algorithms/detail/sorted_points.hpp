#pragma once

#include "surefoot/algorithms/detail/registers.hpp"
#include "surefoot/problems/matrix.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace surefoot::algorithms {

/// The points of all tasks, each task's in the order of their inputs.
template <class T>
struct SortedPoints {
  SortedPoints(const problems::Table& inputs, const problems::Table& outputs)
      : count(inputs.cols()), input(inputs.rows(), count), output(inputs.rows(), count) {
    std::vector<std::pair<T, T>> points(static_cast<std::size_t>(count));
    for (Index task = 0; task < inputs.rows(); ++task) {
      for (Index i = 0; i < count; ++i)
        points[static_cast<std::size_t>(i)] = {static_cast<T>(inputs(task, i)),
                                               static_cast<T>(outputs(task, i))};
      std::sort(points.begin(), points.end());
      for (Index i = 0; i < count; ++i)
        std::tie(input[task][i], output[task][i]) = points[static_cast<std::size_t>(i)];
    }
  }

  Index count;  // per task
  RegisterRows<T> input;
  RegisterRows<T> output;
};

}  // namespace surefoot::algorithms
