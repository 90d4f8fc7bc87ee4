#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/learning/adam.hpp"

#include <Eigen/Core>

#include <string>
#include <string_view>

namespace surefoot::learning {

/// Everything that training carries from one step to the next.
struct TrainState {
  Index stage = 0;
  Index epoch = 0;    ///< of the stage
  Index batch = 0;    ///< batches of the epoch that are done
  Index updates = 0;  ///< Adam's steps in this stage
  Eigen::VectorXd mean;
  Eigen::VectorXd log_variance;
  Eigen::VectorXd prior_log_variance;
  Adam mean_adam;
  Adam variance_adam;
  Adam prior_adam;
};

/// Its bytes, for a checkpoint.
std::string state_bytes(const TrainState& state);
/// Into a state of the right sizes. InputError if the bytes are of other sizes or the position is none.
void restore_state(std::string_view bytes, TrainState& state);

}  // namespace surefoot::learning
