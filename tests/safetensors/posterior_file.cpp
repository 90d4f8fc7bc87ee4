// posterior_file write FILE: weights made by formula. posterior_file copy IN OUT: reads weights and writes
// them.
#include "surefoot/learning/posterior_file.hpp"

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

namespace {

surefoot::learning::Posterior example() {
  surefoot::learning::Posterior posterior;
  posterior.layout.blocks = {{"W", 3, 4}, {"step", 5, 1}};
  auto& pair = posterior.gaussians;
  pair.group_size = {12, 5};
  const Eigen::VectorXd index = Eigen::VectorXd::LinSpaced(17, 0, 16);
  pair.mean = index / 7.0;
  pair.log_variance = -index;
  pair.prior_mean = index.array().square();
  pair.prior_log_variance.resize(2);
  pair.prior_log_variance << -1.5, -2.5;
  posterior.metadata = {{"model", "example"}};
  return posterior;
}

}  // namespace

int main(int count, char** arguments) try {
  namespace learning = surefoot::learning;
  const std::string verb = count > 1 ? arguments[1] : "";
  if (verb == "write" && count == 3) {
    learning::save_posterior(example(), arguments[2]);
  } else if (verb == "copy" && count == 4) {
    learning::save_posterior(learning::load_posterior(arguments[2]), arguments[3]);
  } else {
    std::fputs("posterior_file write FILE | copy IN OUT\n", stderr);
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
