#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/folder_names.hpp"
#include "surefoot/report/text.hpp"

#include "begin_work.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

constexpr const char* all_of_them = "all";

void require_options_fit(const CLI::App& verb, const std::string& name) {
  if (name == all_of_them) {
    require(verb.get_option("--steps")->count() == 0,
            "--steps belongs to single experiments: each has a horizon of its own");
    return;
  }
  const Experiment& asked = experiment_named(name);
  for (const Experiment& other : all_experiments()) {
    for (const std::string& option : other.own_options) {
      require(asked.has_option(option) || verb.get_option(option)->count() == 0,
              "{} belongs to the experiment {}, not {}", option, other.name, name);
    }
  }
}

void require_valid(const Settings& settings, bool samples_given) {
  require((settings.samples >= 1 || !samples_given) && settings.samples <= 10'000'000,
          "--samples: {} is outside 1 .. 10,000,000", settings.samples);
  require(settings.epochs >= 0 && settings.epochs <= 1'000'000, "--epochs: {} is outside 0 .. 1,000,000",
          settings.epochs);
  require(settings.steps >= 0 && settings.steps <= 1'000'000, "--steps: {} is outside 0 .. 1,000,000",
          settings.steps);
  (void)parse_size(settings.scale);
}

/// The command line as it was given, for the reader to repeat.
std::string command_of(const CLI::App& verb, const std::string& name) {
  std::string command = "surefoot reproduce " + name;
  for (const CLI::Option* option : verb.get_options()) {
    const std::string given = option->get_name();
    if (option->count() == 0 || !given.starts_with("--") || given == "--resume") continue;
    command += fmt::format(" {} {}", given, report::shell_quoted(option->as<std::string>()));
  }
  return command;
}

void run_one(const Experiment& experiment, const Settings& settings) {
  const Finished finished = run_experiment(experiment, settings);
  fmt::print("\nWritten to {}: tables (Markdown, CSV, LaTeX), figures and pictures (SVG, PDF), reports\n",
             report::printable(settings.folder.string()));
  for (const RecordedCertificate& certificate : finished.record.certificates) {
    const std::filesystem::path file = io::inside(settings.folder, certificate.folder) / "certificate.json";
    if (certificate.main) {
      fmt::print("Check it:  surefoot verify {}\n", report::shell_path(file.lexically_normal().string()));
    }
  }
  fmt::print("Time: {:.1f} s on {} threads\n", finished.seconds, threads());
}

/// "[NAME 1000; ...]"
std::string by_experiment(std::string Experiment::*usual) {
  std::string text;
  for (const Experiment& experiment : all_experiments())
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", experiment.name, experiment.*usual);
  return "[" + text + "]";
}

void run(const std::string& name, Settings settings, const CLI::App& verb) {
  require_options_fit(verb, name);
  require_valid(settings, verb.get_option("--samples")->count() > 0);
  set_threads(settings.threads);
  begin_work();
  if (settings.folder.empty()) settings.folder = "surefoot-" + name;
  const StopSignals signals("what is done is kept; resume with: " + command_line());
  if (name == all_of_them) {
    run_all(settings, command_of(verb, name));
    return;
  }
  const Experiment& experiment = experiment_named(name);
  if (settings.samples == 0) settings.samples = experiment.samples;
  run_one(experiment, settings);
}

}  // namespace

void add_reproduce_verb(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  const auto settings = std::make_shared<Settings>();
  CLI::App* verb = app.add_subcommand(
      "reproduce",
      fmt::format("The paper's experiments with its numbers beside ours, and one beyond it: {}; or all of "
                  "them with one report",
                  experiment_names()));
  verb->add_option("experiment", *name, fmt::format("{} or {}", experiment_names(), all_of_them))->required();
  verb->add_option("--samples", settings->samples,
                   "problems drawn; tables are of the first 10, 100, 1000 and of all " +
                       by_experiment(&Experiment::usual_samples))
      ->check(whole_number);
  verb->add_option("--steps", settings->steps,
                   "steps of the solver " + by_experiment(&Experiment::usual_steps))
      ->check(whole_number);
  verb->add_option("--seed", settings->seed, "of all random numbers")
      ->check(whole_number)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--scale", settings->scale, "paper, or quick: a short horizon, fewer samples")
      ->capture_default_str();
  const auto add_own = [&](const char* option, auto& value, const std::string& text) {
    return verb->add_option(option, value, experiments_with(option) + ": " + text);
  };
  add_own("--letters", settings->letters,
          fmt::format(
              "folder with the EMNIST letters as NIST names them [letters drawn here; {}: {} or left out]",
              all_of_them, usual_letters));
  add_own("--blur", settings->blur, "box or gaussian")->capture_default_str();
  add_own("--models", settings->models, "list of models [all]");
  add_own("--epochs", settings->epochs, "at most so many per stage of training [as the recipes say; quick 3]")
      ->check(whole_number);
  verb->add_option("--threads", settings->threads, "threads [all cores]")->check(whole_number);
  verb->add_option("--out", settings->folder, "output folder [surefoot-EXPERIMENT]");
  add_checkpoint_options(*verb, settings->checkpoint, "checkpoints in the output folder");
  add_memory_option(*verb, settings->memory_limit);
  verb->get_option("--resume")->description("resume from the checkpoint; always done here");
  verb->footer(example_commands() + "         surefoot reproduce all --scale quick --out everything");
  verb->callback([name, settings, verb] { run(*name, *settings, *verb); });
}
