#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "reproduce.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace surefoot;

struct Experiment {
  const char* name;
  const char* folder;
  Index samples;  ///< unless asked for others; 0: the experiment knows
  /// Returns the place of its certificate inside the folder.
  std::function<std::filesystem::path(const reproduce::Settings&)> run;
};

template <void (*experiment)(const reproduce::Settings&)>
std::filesystem::path with_certificate(const reproduce::Settings& settings) {
  experiment(settings);
  return "certificate.json";
}

const std::array<Experiment, 6>& experiments() {
  static const std::array<Experiment, 6> all{
      {{"robust-kalman", "surefoot-robust-kalman", 1000, with_certificate<reproduce::robust_kalman>},
       {"deblurring", "surefoot-deblurring", 1000, with_certificate<reproduce::deblurring>},
       {"sparse-coding", "surefoot-sparse-coding", 0, reproduce::sparse_coding},
       {"l2ws", "surefoot-l2ws", 0, with_certificate<reproduce::l2ws>},
       {"maml", "surefoot-maml", 0, with_certificate<reproduce::maml>},
       {"mpc-warm-start", "surefoot-mpc-warm-start", 0, with_certificate<reproduce::mpc_warm_start>}}};
  return all;
}

const Experiment& experiment_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == name) return experiment;
    known.emplace_back(experiment.name);
  }
  throw InputError(fmt::format("'{}' is not an experiment; known are {}", name, fmt::join(known, ", ")));
}

void require_options_fit(const CLI::App& verb, const std::string& name) {
  const auto belongs = [&](const char* option, const char* experiment) {
    require(name == experiment || verb.get_option(option)->count() == 0,
            "{} belongs to the experiment {}, not {}", option, experiment, name);
  };
  for (const char* option : {"--letters", "--blur"}) belongs(option, "deblurring");
  for (const char* option : {"--models", "--epochs"}) belongs(option, "sparse-coding");
}

void run(const std::string& name, reproduce::Settings settings, const CLI::App& verb) {
  const Experiment& experiment = experiment_named(name);
  require_options_fit(verb, name);
  const bool asked = verb.get_option("--samples")->count() > 0;
  if (!asked) settings.samples = experiment.samples;
  require((settings.samples >= 1 || !asked) && settings.samples <= 10'000'000,
          "--samples: {} is outside 1 .. 10,000,000", settings.samples);
  require(settings.epochs >= 0 && settings.epochs <= 1'000'000, "--epochs: {} is outside 0 .. 1,000,000",
          settings.epochs);
  require(settings.steps >= 0 && settings.steps <= 1'000'000, "--steps: {} is outside 0 .. 1,000,000",
          settings.steps);
  require(settings.scale == "quick" || settings.scale == "paper", "--scale: '{}' is not one of quick, paper",
          settings.scale);
  set_threads(settings.threads);
  if (settings.folder.empty()) settings.folder = experiment.folder;
  io::prepare_output_folder(settings.folder);
  const auto begin = std::chrono::steady_clock::now();
  const std::filesystem::path certificate = experiment.run(settings);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("\nWritten to {}: tables (Markdown, CSV), figures and pictures (SVG, PDF), report.html\n",
             settings.folder.string());
  fmt::print("Check it:  surefoot verify {}\n", (settings.folder / certificate).string());
  fmt::print("Time: {:.1f} s on {} threads\n", seconds, threads());
}

}  // namespace

void add_reproduce_verb(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  const auto settings = std::make_shared<reproduce::Settings>();
  CLI::App* verb = app.add_subcommand("reproduce",
                                      "The paper's experiments with its numbers beside ours: robust-kalman, "
                                      "deblurring, sparse-coding, l2ws, maml; and beyond it mpc-warm-start");
  verb->add_option("experiment", *name,
                   "robust-kalman, deblurring, sparse-coding, l2ws, maml or mpc-warm-start")
      ->required();
  verb->add_option("--samples", settings->samples,
                   "problems drawn [1000, N = 10, 100, 1000 being the first of them; sparse-coding, l2ws, "
                   "maml and mpc-warm-start 50000]")
      ->check(whole_number);
  verb->add_option(
          "--steps", settings->steps,
          "steps of the solver [500; deblurring 16000, quick 500; sparse-coding 10; l2ws 800; maml 10; "
          "mpc-warm-start 120]")
      ->check(whole_number);
  verb->add_option("--seed", settings->seed, "of all random numbers")
      ->check(whole_number)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--scale", settings->scale, "paper, or quick: a short horizon, fewer samples")
      ->capture_default_str();
  verb->add_option("--letters", settings->letters,
                   "deblurring: folder with the EMNIST letters as NIST names them [letters drawn here]");
  verb->add_option("--blur", settings->blur, "deblurring: box or gaussian")->capture_default_str();
  verb->add_option("--models", settings->models,
                   "sparse-coding: list of alista, tilista, glista, lista [all]");
  verb->add_option("--epochs", settings->epochs,
                   "sparse-coding: at most so many per stage of training [as the recipes say; quick 3]")
      ->check(whole_number);
  verb->add_option("--threads", settings->threads, "threads [all cores]")->check(whole_number);
  verb->add_option("--out", settings->folder, "output folder [surefoot-EXPERIMENT]");
  verb->footer(
      "Example: surefoot reproduce robust-kalman --samples 1000 --out kalman\n"
      "         surefoot reproduce deblurring --letters ../emnist --scale quick\n"
      "         surefoot reproduce sparse-coding --scale quick\n"
      "         surefoot reproduce l2ws --scale quick\n"
      "         surefoot reproduce mpc-warm-start --scale quick");
  verb->callback([name, settings, verb] { run(*name, *settings, *verb); });
}
