#pragma once

#include <fmt/format.h>

#include <string>

namespace surefoot::testing {

/// A small training of GLISTA in two stages of as many epochs.
inline std::string training_file(int epochs) {
  return fmt::format(R"(
model = "glista"
seed = 3
[family]
samples = 600
measurements = 24
variables = 48
flip_signs = true
[network]
steps = 4
[posterior]
initial = {{ overshoot = 0.02 }}
[[stage]]
noise = false
epochs = {0}
batch = 64
mean_rate = 1e-2
schedule = "cosine"
surrogate = "logarithm"
[[stage]]
name = "bound"
epochs = {0}
batch = 100
variance_rate = 1e-2
log_variance = -12
prior = "closed-form"
penalty = "one-sided"
target = 0.2
surrogate = "tolerance"
tolerance = -20
width = 4
)",
                     epochs);
}

}  // namespace surefoot::testing
