#pragma once

#include "record.hpp"
#include "reproduce.hpp"

#include <optional>
#include <string>
#include <vector>

/// The experiments by name, and how each is run: into a folder of its own, with a mark that it is finished.
namespace reproduce {

struct Experiment {
  const char* name;
  const char* title;
  Index samples;         ///< unless asked for others; 0: the experiment knows
  double paper_seconds;  ///< expected on two cores
  double quick_seconds;
  double kilobytes_by_sample;  ///< measured; 0: it computes what it needs itself
  bool wants_letters;          ///< real letters, which are not everywhere
  void (*run)(const Settings& settings, Output& output);
};

const std::vector<Experiment>& experiments();
/// InputError that lists the known ones.
const Experiment& experiment_named(const std::string& name);

/// What a finished experiment left, and how long it took.
struct Finished {
  Record record;
  double seconds = 0;
};

/// From an earlier run with the same settings and program into the same folder, if its certificates are as it
/// left them.
std::optional<Finished> finished_before(const Experiment& experiment, const Settings& settings);

/// Runs it into the settings' folder, which is made. Training and counting that was interrupted under the
/// same settings goes on.
Finished run_experiment(const Experiment& experiment, Settings settings);

/// All experiments, each into a folder inside the settings' folder, and one page about them.
void run_all(const Settings& settings, const std::string& command);

}  // namespace reproduce
