#include "surefoot/experiments/experiment.hpp"

namespace surefoot::experiments {

// A line here and one below for each experiment.
Experiment robust_kalman();
Experiment deblurring();
Experiment l2ws();
Experiment maml();
Experiment sparse_coding();
Experiment mpc_warm_start();

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> all{
      robust_kalman(), deblurring(), l2ws(), maml(), sparse_coding(), mpc_warm_start(),
  };
  return all;
}

}  // namespace surefoot::experiments
