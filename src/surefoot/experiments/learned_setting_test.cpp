#include "surefoot/experiments/learned_setting.hpp"

#include "surefoot/core/interruption.hpp"
#include "surefoot/experiments/data.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/training.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace surefoot::experiments {
namespace {

/// Another value that is as good: of a list, one entry more.
struct Change {
  void operator()(Index* value) const { *value += 1; }
  void operator()(std::uint64_t* value) const { *value += 1; }
  void operator()(double* value) const { *value = *value == 0 ? 0.5 : *value * 1.125; }
  void operator()(bool* value) const { *value = !*value; }
  void operator()(std::vector<Index>* value) const { value->push_back(1); }
  void operator()(algorithms::Precision* value) const {
    *value = *value == algorithms::Precision::single ? algorithms::Precision::twice
                                                     : algorithms::Precision::single;
  }
  void operator()(std::string* value) const {
    static const std::map<std::string, std::string> others{
        {"alista", "glista"}, {"qp", "quadratic"}, {ScheduledSolver::usual_solver, "osqp"}};
    const auto other = others.find(*value);
    *value = other == others.end() ? "alista" : other->second;
  }
};

void change(const std::vector<Field>& fields, std::size_t which) {
  const Field& field = fields[which];
  const bool is_start = std::any_of(fields.begin(), fields.end(),
                                    [](const Field& one) { return one.name() == "network.inputs"; });
  // Texts that have a form.
  static const std::map<std::string, std::string> formed{
      {"network.inputs", "q[0] 0.5 2"},
      {"problems.cones", "zero=1;nonnegative=0;second_order=3,4;semidefinite="}};
  if (const auto text = formed.find(field.name()); text != formed.end())
    *std::get<std::string*>(field.value) = text->second;
  else if (field.name() == "samples")
    *std::get<Index*>(field.value) += 16;
  else if (field.name() == "problems.kind" && is_start)
    *std::get<std::string*>(field.value) = "cone";
  else
    std::visit(Change(), field.value);
}

/// The problems of a folder have no seed; measurements need codes.
bool may_change(const LearnedSetting& setting, const Field& field) {
  if (field.key == "measurement_file") return false;
  return setting.folder() == nullptr || field.name() != "family.seed";
}

std::string texts(const std::vector<Field>& fields) {
  std::string all;
  for (const Field& field : fields) all += field.name() + " = " + field.text() + "\n";
  return all;
}

/// A training of the model that takes no time.
std::string small_file(const std::string& model) {
  std::string text = fmt::format("model = \"{}\"\n[family]\nsamples = 32\n", model);
  if (std::holds_alternative<CodeNetworks>(learned_optimizer(model).defaults.options))
    text += "measurements = 8\nvariables = 16\n[network]\nsteps = 2\n";
  else if (model == "schedule")
    text += "folder = \"" SUREFOOT_SOURCE_DIR "/examples/mpc\"\n[network]\nsteps = 5\n";
  else if (model == "warm-start")
    text += "folder = \"" SUREFOOT_SOURCE_DIR "/examples/mpc\"\n[network]\nsteps = 5\nhidden = [4]\n";
  else if (model == "mpc-warm-start")
    text += "horizon = 3\n[network]\nsteps = 5\nhidden = [4]\n";
  else
    text += "[network]\nsteps = 5\nhidden = 4\n";
  return text +
         "[[stage]]\nname = \"plain\"\nnoise = false\nepochs = 2\nbatch = 16\nsurrogate = \"identity\"\n";
}

class LearnedOptimizers : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Registry, LearnedOptimizers, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const LearnedOptimizer& one : learned_optimizers())
                             names.push_back(one.defaults.model);
                           return names;
                         }()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(LearnedOptimizers, EveryFieldGoesThroughTheMetadataAndIsNotMistaken) {
  LearnedSetting plain = learned_optimizer(GetParam()).defaults;
  plain.seen_first = 0;
  plain.seen_last = 10;
  for (std::size_t i = 0; i < plain.fields().size(); ++i) {
    LearnedSetting setting = plain;
    const std::vector<Field> fields = setting.fields();
    if (fields[i].name() == "model" || !may_change(plain, fields[i])) continue;
    change(fields, i);
    learning::Posterior posterior;
    describe_weights(posterior, fields, setting.family());
    LearnedSetting read = setting_of(posterior, "weights");
    EXPECT_EQ(texts(read.fields()), texts(fields)) << fields[i].name();
    EXPECT_NE(texts(read.fields()), texts(plain.fields())) << fields[i].name();
    EXPECT_TRUE(!fields[i].is_place || !fields[i].of_model) << fields[i].name();
    EXPECT_TRUE(read.same_model(setting)) << fields[i].name();
    EXPECT_EQ(read.same_model(plain), !fields[i].of_model) << fields[i].name();
    if (!fields[i].required) continue;
    posterior.metadata.erase(fields[i].metadata);
    EXPECT_INPUT_ERROR(setting_of(posterior, "weights"), fmt::format("do not say '{}'", fields[i].metadata));
  }
}

/// The value as a training file writes it.
std::string toml_of(const Field& field) {
  std::string text = field.text();
  if (std::holds_alternative<std::vector<Index>*>(field.value)) {
    std::replace(text.begin(), text.end(), ';', ',');
    return "[" + text + "]";
  }
  const bool is_text = std::holds_alternative<std::string*>(field.value) ||
                       std::holds_alternative<algorithms::Precision*>(field.value);
  return is_text ? "\"" + text + "\"" : text;
}

std::string training_file_of(const std::vector<Field>& fields) {
  std::map<std::string, std::string> tables;
  for (const Field& field : fields) {
    if (!field.key.empty()) tables[field.table] += fmt::format("{} = {}\n", field.key, toml_of(field));
  }
  std::string text;
  for (const auto& [table, keys] : tables) text += (table.empty() ? "" : fmt::format("[{}]\n", table)) + keys;
  return text + "[[stage]]\n";
}

TEST_P(LearnedOptimizers, EveryFieldWithAKeyIsReadFromATrainingFile) {
  TrainConfig config = parse_train_config("t.toml", small_file(GetParam()));
  for (std::size_t i = 0; i < config.fields().size(); ++i) {
    TrainConfig changed = config;
    const std::vector<Field> fields = changed.fields();
    if (fields[i].key.empty() || fields[i].name() == "model" || !may_change(config.setting, fields[i]))
      continue;
    change(fields, i);
    TrainConfig read = parse_train_config("t.toml", training_file_of(fields));
    EXPECT_EQ(texts(read.fields()), texts(fields)) << fields[i].name();
    EXPECT_NE(texts(read.fields()), texts(config.fields())) << fields[i].name();
  }
  EXPECT_INPUT_ERROR(
      parse_train_config("t.toml", fmt::format("model = \"{}\"\n[family]\nname = \"other\"", GetParam())),
      "t.toml:3: family: 'other' is not");
}

TEST_P(LearnedOptimizers, ACheckpointIsRefusedAfterAChangeOfAnyField) {
  const test_support::TemporaryFolder folder;
  Training training;
  training.config = parse_train_config("t.toml", small_file(GetParam()));
  training.folder = folder / "out";
  training.checkpoint = {folder / "kept", false, 0};
  training.quiet = true;
  const Host before = host();
  host().stopped = [] { return true; };
  EXPECT_THROW(run_training(training), Interrupted);
  host() = before;
  training.checkpoint.resume = true;
  for (std::size_t i = 0; i < training.config.fields().size(); ++i) {
    Training other = training;
    const std::vector<Field> fields = other.config.fields();
    const bool signs = std::holds_alternative<CodeNetworks>(other.config.setting.options);
    if (fields[i].key.empty() || (fields[i].key == "flip_signs" && !signs)) continue;
    // Other files are refused by name before: their digests are what a checkpoint is of.
    if (!may_change(other.config.setting, fields[i]) || fields[i].name().starts_with("problems.")) continue;
    change(fields, i);
    EXPECT_INPUT_ERROR(run_training(other), "another configuration: ") << fields[i].name();
  }
  EXPECT_NO_THROW(run_training(training));
}

TEST_P(LearnedOptimizers, TheBenchMeasuresWhatTheRegistrySays) {
  const LearnedOptimizer& optimizer = learned_optimizer(GetParam());
  TrainConfig config = parse_train_config("t.toml", small_file(GetParam()));
  config.setting.identify();
  for (const ClaimedMetric& metric : optimizer.metrics) {
    const LearnedBench bench = make_bench(config.setting, {.count = 9, .metric = metric.name});
    EXPECT_EQ(bench.metric.name, metric.name);
    EXPECT_EQ(bench.op->instances(), 9);
    EXPECT_TRUE(std::is_sorted(metric.tolerances.begin(), metric.tolerances.end()));
    EXPECT_EQ(bench.op->settings().front().name, "solver");
  }
  EXPECT_INPUT_ERROR((void)optimizer.metric("luck"), "metric: 'luck' is not one of ");
}

TEST(LearnedSetting, WeightsOfUnknownModelsAreRefusedByName) {
  learning::Posterior posterior;
  EXPECT_INPUT_ERROR(setting_of(posterior, "w"), "w: its metadata do not say 'model'");
  posterior.metadata["model"] = "perceptron";
  EXPECT_INPUT_ERROR(setting_of(posterior, "w"), "w: model: 'perceptron' is not one of alista, glista");
  describe_weights(posterior, learned_optimizer("maml").defaults);
  posterior.metadata["family"] = "sparse-coding";
  EXPECT_INPUT_ERROR(setting_of(posterior, "w"), "w: the family of maml is sinusoids, not 'sparse-coding'");
  describe_weights(posterior, learned_optimizer("maml").defaults);
  posterior.metadata["network.hidden"] = "many";
  EXPECT_INPUT_ERROR(setting_of(posterior, "w"), "w: 'network.hidden' is 'many', not a whole number");
}

TEST(LearnedSetting, OfPlacesOnThisMachineMetadataHaveTheLastNameAlone) {
  for (const auto& [folder, name] :
       {std::pair("a/b/mpc", "a/b/mpc"), std::pair("/tmp/mpc/", "mpc"), std::pair("/tmp/mpc/.", "mpc"),
        std::pair("/tmp/x.npy", "x.npy"), std::pair("mpc", "mpc"), std::pair(".", ".")}) {
    LearnedSetting setting = learned_optimizer("schedule").defaults;
    setting.samples = 100;
    setting.folder()->folder = folder;
    learning::Posterior posterior;
    describe_weights(posterior, setting);
    EXPECT_EQ(posterior.metadata.at("problems.folder"), name) << folder;
    EXPECT_EQ(setting_of(posterior, "w").folder()->folder, name) << folder;
  }
}

TEST(LearnedSetting, RecipesOfExperimentsAreTrainingFiles) {
  int recipes = 0;
  for (const DataFile& file : data_files()) {
    if (!file.name.ends_with(".toml")) continue;
    EXPECT_FALSE(parse_train_config(file.name, file.text).stages.empty()) << file.name;
    ++recipes;
  }
  EXPECT_GT(recipes, 20);
}

TEST(LearnedSetting, OtherSignsAreForSparseCodes) {
  Training training;
  training.config = parse_train_config("t.toml", small_file("l2ws"));
  training.config.flip_signs = true;
  const test_support::TemporaryFolder folder;
  training.folder = folder / "out";
  EXPECT_INPUT_ERROR(run_training(training), "flip_signs: is not for l2ws");
}

}  // namespace
}  // namespace surefoot::experiments
