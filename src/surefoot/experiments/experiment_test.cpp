#include "surefoot/experiments/experiment.hpp"

#include "surefoot/experiments/host.hpp"
#include "surefoot/io/byte_source.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <string>

namespace surefoot::experiments {
namespace {

using test_support::TemporaryFolder;

Index runs_of_toy = 0;

// The smallest experiment there can be: it counts a table of its own journal and writes one file.
Experiment toy() {
  return {.name = "toy",
          .title = "A toy",
          .samples = 3,
          .own_options = {"--epochs"},
          .run = [](const Settings& settings, Output& output) {
            const problems::Table table = kept_table(settings.journals->next(), [&] {
              ++runs_of_toy;
              return problems::Table::Constant(settings.samples, 1, 2.0);
            });
            host().check();
            output.write("sum.txt", fmt::format("{}", table.sum()));
          }};
}

Settings settings_in(const TemporaryFolder& folder) {
  Settings settings;
  settings.samples = 3;
  settings.folder = folder.path() / "toy";
  return settings;
}

TEST(Experiments, HaveDifferentNamesAndAreFoundByThem) {
  std::set<std::string> names;
  for (const Experiment& experiment : all_experiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_EQ(&experiment_named(experiment.name), &experiment);
    EXPECT_NE(experiment.run, nullptr) << experiment.name;
    EXPECT_FALSE(experiment.title.empty() || experiment.usual_samples.empty() ||
                 experiment.usual_steps.empty());
    EXPECT_GT(experiment.paper_seconds, 0);
    EXPECT_GT(experiment.quick_seconds, 0);
    EXPECT_NE(experiment_names().find(experiment.name), std::string::npos);
  }
  EXPECT_INPUT_ERROR(experiment_named("nothing"),
                     "'nothing' is not an experiment; known are robust-kalman, ");
}

TEST(Experiments, AreKnownToBeFinishedUnderTheSameSettingsOnly) {
  const TemporaryFolder folder;
  Settings settings = settings_in(folder);
  EXPECT_FALSE(finished_before(toy(), settings).has_value());
  run_experiment(toy(), settings);
  EXPECT_EQ(io::read_file(settings.folder / "sum.txt", 100), "6");
  EXPECT_TRUE(finished_before(toy(), settings).has_value());
  settings.epochs = 1;  // its own option: part of what results depend on
  EXPECT_FALSE(finished_before(toy(), settings).has_value());
  Experiment without = toy();
  without.own_options.clear();
  run_experiment(without, settings);
  settings.epochs = 2;  // nobody's option
  EXPECT_TRUE(finished_before(without, settings).has_value());
}

TEST(Experiments, GoOnWithWhatAStoppedRunHasKept) {
  const TemporaryFolder folder;
  const Settings settings = settings_in(folder);
  const Host before = host();
  std::vector<std::string> said;
  host().say = [&](const std::string& message) { said.push_back(message); };
  host().check = [] { throw Interrupted(); };
  runs_of_toy = 0;
  EXPECT_THROW(run_experiment(toy(), settings), Interrupted);
  EXPECT_EQ(runs_of_toy, 1);
  EXPECT_FALSE(std::filesystem::exists(settings.folder / "sum.txt"));
  host().check = [] {};
  run_experiment(toy(), settings);
  EXPECT_EQ(runs_of_toy, 1) << "the table was kept";
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("checkpoints"), std::string::npos) << said[0];
  EXPECT_FALSE(std::filesystem::exists(settings.folder / "checkpoints"));
  host() = before;
}

TEST(Experiments, ThatNeedMoreMemoryThanAllowedAreRefused) {
  const TemporaryFolder folder;
  Experiment hungry = toy();
  hungry.bytes = [](const Settings& all) { return bytes_of(1e6, 1e9, all.samples, 1e3, all.steps); };
  Settings settings = settings_in(folder);
  settings.memory_limit = 1'000'000'000;
  std::string message;
  try {
    run_experiment(hungry, settings);
  } catch (const ResourceError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("within --memory-limit"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(settings.folder));
}

}  // namespace
}  // namespace surefoot::experiments
