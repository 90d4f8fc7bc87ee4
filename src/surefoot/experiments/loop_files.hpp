#pragma once

#include "surefoot/families/family_files.hpp"
#include "surefoot/runs/closed_loop.hpp"
#include "surefoot/runs/rollout_values.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// A closed loop as files: what `run loop` reads.
namespace surefoot::experiments {

/// Names of the files, without endings, in the order of the help; each is an option too.
const std::vector<std::string>& loop_file_names();
/// What a file holds, in words.
std::string loop_file_help(const std::string& name);

struct LoopSetup {
  runs::LoopModel model;
  runs::LinearPlant plant;
  runs::PlantTask task;
  problems::Table initial;   ///< a row per rollout
  std::string initial_from;  ///< "gaussian", "uniform", "table"
  std::string disturbed_by;  ///< "none", "gaussian", "bounded", "rows"
};

/// Reads the loop of so many rollouts. Initial states and disturbances are of streams that belong to `seed`.
/// InputError names the file.
LoopSetup read_loop(families::FamilyFiles& files, Index rollouts, Index ticks, std::uint64_t seed,
                    runs::LoopStart start);

}  // namespace surefoot::experiments
