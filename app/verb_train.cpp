#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/guarantees.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/training.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/text.hpp"

#include "begin_work.hpp"
#include "stopping.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct TrainArguments {
  std::string config;
  std::string out = "surefoot-training";
  CheckpointOptions checkpoint;
  std::uint64_t memory_limit = 0;
  Index samples = 0;
  Index seed = -1;
  double target = -1;
  int threads = 0;
  bool quiet = false;
  Index validate = 0;
  LookOptions looks;
};

/// What is observed of the weights on validation samples.
void print_validation(Training& training, const TrainArguments& arguments) {
  GuaranteePlan plan;
  // A dictionary of the user's still lies where training has read it.
  for (const Field& field : training.config.setting.fields()) {
    if (field.is_place && !field.text().empty())
      plan.folder = std::filesystem::absolute(field.text()).parent_path().string();
  }
  plan.memory_limit = arguments.memory_limit;
  fmt::print("{}", observed_in_validation({load_candidate(training.folder / weights_name)}, plan,
                                          arguments.validate));
}

void run(const TrainArguments& arguments) {
  set_threads(arguments.threads);
  begin_work();
  Training training = read_training(arguments.config);
  if (arguments.validate > 0) require_validation_set(training.config.setting);
  if (arguments.samples > 0) training.config.setting.samples = arguments.samples;
  if (arguments.seed >= 0) training.config.seed = static_cast<std::uint64_t>(arguments.seed);
  if (arguments.target >= 0) {
    for (learning::Stage& stage : training.config.stages) stage.penalty.target = arguments.target;
  }
  training.folder = arguments.out;
  training.ledger = arguments.looks.ledger;
  training.checkpoint = arguments.checkpoint;
  if (training.checkpoint.folder.empty()) training.checkpoint.folder = arguments.out;
  training.memory_limit = arguments.memory_limit;
  training.quiet = arguments.quiet;
  const learning::TrainResult result = [&] {
    const StopSignals signals(how_to_go_on(training.checkpoint));
    return run_training(training);
  }();
  const std::filesystem::path weights = training.folder / weights_name;
  const LearnedSetting setting = setting_of(result.posterior, weights.string());
  fmt::print("{}: {} weights, B = {} at N = {}, {:.0f} s\n", io::printable(weights.string()),
             result.posterior.layout.size(), upper_bound_value(result.regularizer), setting.samples,
             result.seconds);
  if (setting.folder() != nullptr) {
    const std::filesystem::path problems = training.config.setting.folder()->folder;
    fmt::print(
        "Learned from problems {} .. {} of {}. Certify it on others of them, which may be used once:\n"
        "  surefoot calibrate {} --hold-out {}:COUNT{}\n",
        setting.seen_first, setting.seen_last, io::printable(problems.string()),
        report::shell_path(weights.string()), setting.seen_last + 1,
        problems.is_absolute() ? " --problems " + report::shell_path(problems.string()) : "");
  }
  if (arguments.validate > 0) print_validation(training, arguments);
}

}  // namespace

void add_train_verb(CLI::App& app) {
  const auto arguments = std::make_shared<TrainArguments>();
  CLI::App* verb = app.add_subcommand("train", "Train a learned optimizer for its guarantee (PAC-Bayes)");
  verb->add_option("config", arguments->config, "TOML file: model, family, stages")->required();
  verb->add_option("--out", arguments->out, "folder for weights.safetensors")->capture_default_str();
  add_checkpoint_options(*verb, arguments->checkpoint, "the output folder");
  add_memory_option(*verb, arguments->memory_limit);
  verb->add_option("--samples", arguments->samples, "N, instead of the file's")->check(at_least_one);
  verb->add_option("--seed", arguments->seed, "of training, instead of the file's")
      ->check(whole_number)
      ->check(finite_nonnegative);
  verb->add_option("--target", arguments->target, "B_target of every stage, instead of the file's")
      ->check(finite_nonnegative);
  verb->add_option("--threads", arguments->threads, "0: all cores; results do not depend on it")
      ->check(CLI::Range(0, 4096));
  verb->add_option("--validate", arguments->validate,
                   "then print what is observed on this many validation samples; may be repeated")
      ->check(at_least_one);
  add_ledger_option(*verb, arguments->looks);
  verb->add_flag("--quiet", arguments->quiet, "no line per epoch");
  verb->footer("Example: surefoot train experiments/sparse_coding/alista.toml --out alista");
  verb->callback([arguments] { run(*arguments); });
}
