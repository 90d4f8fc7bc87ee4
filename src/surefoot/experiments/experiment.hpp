#pragma once

#include "surefoot/experiments/output.hpp"
#include "surefoot/experiments/record.hpp"
#include "surefoot/experiments/settings.hpp"

#include <optional>
#include <string>
#include <vector>

/// The experiments by name, and how each is run: into a folder of its own, with a mark that it is finished.
namespace surefoot::experiments {

struct Experiment {
  std::string name;                ///< on the command line
  std::string title;               ///< in reports
  Index samples = 0;               ///< unless asked for others; 0: as the scale says
  std::string usual_samples = {};  ///< for the help, by scale
  std::string usual_steps = {};
  double paper_seconds = 0;  ///< expected on two cores
  double quick_seconds = 0;
  /// Of memory, as measured and half as much again; null: it computes what it needs itself.
  double (*bytes)(const Settings& settings) = nullptr;
  std::vector<std::string> own_options = {};  ///< that other experiments do not have, "--letters"
  std::string example = {};                   ///< options of a command that shows it
  /// Runs, prints its tables and writes its files into the prepared folder.
  void (*run)(const Settings& settings, Output& output) = nullptr;

  [[nodiscard]] bool has_option(const std::string& option) const;
};

/// Bytes of so many samples and steps, besides what there is without them.
double bytes_of(double fixed, double by_sample, Index samples, double by_step, Index steps);

/// In the order of the report about all of them. experiments.cpp lists them; each is described in its own
/// file.
const std::vector<Experiment>& all_experiments();
/// InputError that lists the known ones.
const Experiment& experiment_named(const std::string& name);
/// "robust-kalman, deblurring, ..."
std::string experiment_names();
/// Those that have the option as their own.
std::string experiments_with(const std::string& option);
/// "Example: surefoot reproduce ...", a line for each experiment that has one.
std::string example_commands();

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

}  // namespace surefoot::experiments
