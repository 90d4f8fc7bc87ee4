#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/learning/train.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace surefoot::experiments {

/// What a training file says. Every key has a default; experiments/sparse_coding/*.toml are examples.
struct TrainConfig {
  std::string model = "alista";
  std::uint64_t seed = 0;  ///< of training; samples have their own

  // [family]
  std::uint64_t family_seed = 0;
  families::SparseCodingOptions family;
  Index samples = 50000;
  Index first = 0;          ///< first sample: parts of one set of samples
  bool flip_signs = false;  ///< fresh signs of the codes in every epoch

  // [network]
  Index steps = 10;
  algorithms::Precision precision = algorithms::Precision::single;

  // [loss]
  learning::LossKind loss = learning::LossKind::nmse;
  std::vector<double> step_weights;

  // [posterior]
  double log_variance = -10;
  double prior_variance = 1e-2;
  double delta = 1e-5;
  std::set<std::string> tied;
  std::set<std::string> at_prior;             ///< blocks whose means begin at the prior's
  std::map<std::string, double> initial;      ///< means of whole blocks to begin with
  std::map<std::string, double> rate_factor;  ///< of blocks
  bool analytic_start = false;  ///< LISTA begins as ALISTA with steps 1 and thresholds 0.6 * 0.7^k
  std::filesystem::path start;  ///< weights to begin with: this model's, or ALISTA's
  std::filesystem::path prior;  ///< weights whose means are the prior means (and the start)
  Index slots = 4;

  // [[stage]]
  std::vector<learning::Stage> stages;

  /// InputError unless all values, alone and together, can be trained with.
  void validate() const;
};

/// Tolerances and widths of nmse losses are in dB, others in units of the loss and of its logarithm. Paths
/// are relative to the file. InputError names file, line and key.
TrainConfig read_train_config(const std::filesystem::path& path);
/// The same from its text; `path` is where it stands.
TrainConfig parse_train_config(const std::filesystem::path& path, std::string_view text);

}  // namespace surefoot::experiments
