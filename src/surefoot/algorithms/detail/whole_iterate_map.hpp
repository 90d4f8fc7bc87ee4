#pragma once

#include "surefoot/algorithms/operator.hpp"

#include <algorithm>

namespace surefoot::algorithms {

/// A map of the iterate itself, averaged in the Euclidean norm.
class WholeIterateMap final : public AveragedMap {
 public:
  WholeIterateMap(double averagedness, Index size) : averagedness_(averagedness), size_(size) {}

  [[nodiscard]] double averagedness() const override { return averagedness_; }
  [[nodiscard]] std::string variables() const override { return "the Euclidean norm of z"; }
  [[nodiscard]] Index size() const override { return size_; }
  void coordinates(Index /*instance*/, const double* iterate, double* s) const override {
    std::copy_n(iterate, size_, s);
  }

 private:
  double averagedness_;
  Index size_;
};

}  // namespace surefoot::algorithms
