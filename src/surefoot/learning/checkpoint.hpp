#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/learning/adam.hpp"

#include <Eigen/Core>

#include <filesystem>
#include <string>

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

/// Written beside its destination and renamed, with its SHA-256 at the end: a reader sees a whole one or
/// none.
void write_checkpoint(const std::filesystem::path& path, const std::string& configuration,
                      const TrainState& state);
/// Into a state of the right sizes. InputError if the file is damaged, or belongs to another configuration (a
/// digest of settings, initial weights and samples).
void read_checkpoint(const std::filesystem::path& path, const std::string& configuration, TrainState& state);

}  // namespace surefoot::learning
