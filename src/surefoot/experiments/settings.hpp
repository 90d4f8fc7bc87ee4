#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/families/deblurring.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace surefoot::experiments {

/// As large as the paper's, or with a short horizon and fewer samples.
enum class Size { paper, quick };
std::string_view to_string(Size size);
Size parse_size(std::string_view name);

/// What an experiment is asked for, the same for all of them.
struct Settings {
  std::uint64_t seed = 0;
  Index samples = 0;  ///< 0: the experiment's own number
  Index steps = 0;    ///< 0: the experiment's own horizon
  std::filesystem::path folder;
  CheckpointOptions checkpoint;    ///< as asked for; always gone on from
  std::uint64_t memory_limit = 0;  ///< 0: what is there
  int threads = 0;                 ///< 0: all cores
  std::string letters;             ///< folder of EMNIST files; empty: drawn letters
  std::string blur{to_string(families::DeblurringOptions().blur)};
  std::string scale{to_string(Size::paper)};
  std::string models;                 ///< sparse coding: list of models; empty: all
  Index epochs = 0;                   ///< sparse coding: at most so many per stage; 0: as the recipes say
  std::filesystem::path checkpoints;  ///< folder of this very experiment with these settings
  PartJournals* journals = nullptr;   ///< of what it counts, part by part, in that folder

  [[nodiscard]] bool quick() const { return parse_size(scale) == Size::quick; }
};

/// Where all experiments look for EMNIST's letters, unless another folder is given.
inline constexpr const char* usual_letters = "../shared/emnist";
/// The file of EMNIST's letters in a folder, if there is one; or InputError.
std::optional<std::string> find_letters(const std::string& folder);
std::string letters_file(const std::string& folder);

}  // namespace surefoot::experiments
