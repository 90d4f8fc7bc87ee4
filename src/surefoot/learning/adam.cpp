#include "surefoot/learning/adam.hpp"

#include <cmath>

namespace surefoot::learning {

void Adam::update(Index count, double rate, Index begin, Index end, const double* gradient, double* x,
                  double factor) {
  const auto steps = static_cast<double>(count);
  const double scale = rate / (1 - std::pow(b1, steps));
  const double correction = 1 / (1 - std::pow(b2, steps));
  float* __restrict m = first.data() + begin;
  float* __restrict v = second.data() + begin;
  double* __restrict own = x + begin;
  for (Index i = 0; i < end - begin; ++i) {
    const double g = factor * gradient[i];
    const double mean = b1 * static_cast<double>(m[i]) + (1 - b1) * g;
    const double square = b2 * static_cast<double>(v[i]) + (1 - b2) * g * g;
    m[i] = static_cast<float>(mean);
    v[i] = static_cast<float>(square);
    own[i] -= scale * mean / (std::sqrt(square * correction) + epsilon);
  }
}

}  // namespace surefoot::learning
