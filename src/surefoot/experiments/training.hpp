#pragma once

#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/train_config.hpp"
#include "surefoot/learning/train.hpp"

#include <filesystem>
#include <string>

namespace surefoot::experiments {

/// Name of the weights file in the folder of a training.
inline constexpr const char* weights_name = "weights.safetensors";
/// Of a schedule: the settings of every step at the means, as a table.
inline constexpr const char* settings_name = "schedule.csv";

/// A training from its configuration: what is trained, where it goes.
struct Training {
  TrainConfig config;
  std::string config_name;  ///< of the file, for the metadata of the weights
  std::string config_sha256;
  std::filesystem::path folder;  ///< for the weights; created if needed
  std::filesystem::path ledger;  ///< of looks at hold-out samples, shared; begun if it is not there
  CheckpointOptions checkpoint;
  std::uint64_t memory_limit = 0;  ///< 0: what is there
  bool quiet = false;              ///< no line per epoch
};

/// From a configuration file; the folder is still to be named.
Training read_training(const std::filesystem::path& config);

/// Whether these weights are what the training makes: their metadata say so, but for the version.
bool is_of(const learning::Posterior& posterior, const Training& training);

/// Draws the samples, trains, and writes weights.safetensors with metadata that say how it was made. A signal
/// that StopSignals catches ends it with Interrupted after a last checkpoint.
learning::TrainResult run_training(const Training& asked);

}  // namespace surefoot::experiments
