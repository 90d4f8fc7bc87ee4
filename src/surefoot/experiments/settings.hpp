#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/experiments/checkpoints.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace surefoot::experiments {

/// What an experiment is asked for, the same for all of them.
struct Settings {
  std::uint64_t seed = 0;
  Index samples = 0;  ///< 0: the experiment's own number
  Index steps = 0;    ///< 0: the experiment's own horizon
  std::filesystem::path folder;
  CheckpointOptions checkpoint;       ///< as asked for; always gone on from
  std::uint64_t memory_limit = 0;     ///< 0: what is there
  int threads = 0;                    ///< 0: all cores
  std::string letters;                ///< folder of EMNIST files; empty: drawn letters
  std::string blur = "box";           ///< or gaussian
  std::string scale = "paper";        ///< or quick: a short horizon, fewer samples
  std::string models;                 ///< sparse coding: list of models; empty: all
  Index epochs = 0;                   ///< sparse coding: at most so many per stage; 0: as the recipes say
  std::filesystem::path checkpoints;  ///< folder of this very experiment with these settings
  PartJournals* journals = nullptr;   ///< of what it counts, part by part, in that folder
};

/// The file of EMNIST's letters in a folder, if there is one; or InputError.
std::optional<std::string> find_letters(const std::string& folder);
std::string letters_file(const std::string& folder);

}  // namespace surefoot::experiments
