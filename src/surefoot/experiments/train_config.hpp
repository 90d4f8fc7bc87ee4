#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/experiments/learned_setting.hpp"
#include "surefoot/learning/train.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace surefoot::experiments {

/// What a training file says. Every key but `folder` has a default; experiments/sparse_coding/*.toml are
/// examples.
struct TrainConfig {
  LearnedSetting setting;   ///< model, [family], [network]
  std::uint64_t seed = 0;   ///< of training; samples have their own
  bool flip_signs = false;  ///< [family]: fresh signs of the codes in every epoch
  algorithms::Precision precision = algorithms::Precision::single;  ///< [network]

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
  bool analytic_start = false;                ///< begin with analytic_means(), where the model has them
  std::filesystem::path start;  ///< weights to begin with: this model's, or ones that it can begin as
  std::filesystem::path prior;  ///< weights whose means are the prior means (and the start)
  Index slots = 4;

  // [[stage]]
  std::vector<learning::Stage> stages;

  /// What the file says of places (Field::is_place), by their names: `setting` has where they are.
  std::map<std::string, std::string> written;

  /// The fields of `setting`, and those above that only training has.
  [[nodiscard]] std::vector<Field> fields();
  /// InputError unless all values, alone and together, can be trained with.
  void validate() const;
};

/// Tolerances and widths of nmse losses are in dB, others in units of the loss and of its logarithm. Paths
/// are relative to the file. InputError names file, line and key.
TrainConfig read_train_config(const std::filesystem::path& path);
/// The same from its text; `path` is where it stands.
TrainConfig parse_train_config(const std::filesystem::path& path, std::string_view text);

}  // namespace surefoot::experiments
