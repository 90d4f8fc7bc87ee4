#include "surefoot/algorithms/maml.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace surefoot::algorithms {

problems::Vector maml_curve(const problems::Vector& z, const problems::Vector& inputs) {
  // H^2 + 4H + 1 numbers.
  const auto H = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(z.size() + 3)) - 2));
  require(H >= 1 && H * H + 4 * H + 1 == z.size(), "z: {} numbers are no network 1-H-H-1", z.size());
  const double* w1 = z.data();
  const double* b1 = w1 + H;
  const double* w2 = b1 + H;
  const double* b2 = w2 + H * H;
  const double* w3 = b2 + H;
  std::vector<double> h2(static_cast<std::size_t>(H));
  problems::Vector outputs(inputs.size());
  for (Index p = 0; p < inputs.size(); ++p) {
    std::copy_n(b2, H, h2.begin());
    for (Index j = 0; j < H; ++j) {
      const double h1 = std::max(0.0, w1[j] * inputs[p] + b1[j]);
      for (Index i = 0; i < H; ++i) h2[i] += w2[j * H + i] * h1;
    }
    outputs[p] = z[z.size() - 1];
    for (Index i = 0; i < H; ++i) outputs[p] += w3[i] * std::max(0.0, h2[i]);
  }
  return outputs;
}

}  // namespace surefoot::algorithms
