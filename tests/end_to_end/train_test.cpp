#include "surefoot/learning/posterior_file.hpp"

#include "support/child.hpp"
#include "support/program.hpp"
#include "support/training_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>

namespace surefoot {
namespace {

class TrainVerb : public testing::ProgramTest {};

TEST_F(TrainVerb, WritesWeightsThatSayWhatTheyAre) {
  write("train.toml", testing::training_file(12));
  const auto result = surefoot("train train.toml --out out");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("epoch  12/12"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("B = "), std::string::npos);
  const learning::Posterior posterior = learning::load_posterior(folder_ / "out" / "weights.safetensors");
  EXPECT_EQ(posterior.metadata.at("model"), "glista");
  EXPECT_EQ(posterior.metadata.at("samples"), "600");
  EXPECT_EQ(posterior.layout.size(), 5 * 4 - 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "train.checkpoint"));
}

TEST_F(TrainVerb, NamesFileLineAndKeyOfMistakes) {
  const auto refused = [&](const std::string& text, const std::string& expected) {
    write("bad.toml", text);
    const auto result = surefoot("train bad.toml");
    EXPECT_EQ(result.code, 2) << text;
    EXPECT_NE(result.err.find(expected), std::string::npos) << result.err;
  };
  refused("model = \"mlp\"", "bad.toml:1: model: 'mlp'");
  refused("\nmodels = \"alista\"", "bad.toml:2: 'models' is not a key of a training file");
  refused("[family]\nsamples = -3\n[[stage]]", "bad.toml:2: 'samples' must be a whole number");
  refused("[[stage]]\nepochs = 1\nrate = 2", "bad.toml:3: 'rate' is not a key of [[stage]]");
  refused("[[stage]]\nbatch = 0", "batch 0 is below 1");
  refused("[[stage]]\nsurrogate = \"zero-one\"", "bad.toml:2: surrogate: 'zero-one'");
  refused("model = \"alista\"", "has no [[stage]]");
  refused("model = ", "bad.toml:1:");
  refused("model = \"\"\"a\nb\"\"\"", "model: 'a\\nb'");
}

TEST_F(TrainVerb, KilledAtTenRandomMomentsEndsAtTheSameWeights) {
  write("train.toml", testing::training_file(12));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(surefoot("train train.toml --out whole --quiet --checkpoint-seconds 0").code, 0);
  const auto whole_time = std::chrono::steady_clock::now() - begin;
  std::mt19937 random(12);
  std::uniform_real_distribution<double> share(0.02, 0.2);
  int kills = 0;
  for (int attempt = 0; attempt < 60 && kills < 10; ++attempt) {
    const auto time = std::chrono::duration_cast<testing::Child::Clock::duration>(share(random) * whole_time);
    testing::Child child(folder_, {SUREFOOT_PROGRAM, "train", "train.toml", "--out", "killed", "--resume",
                                   "--quiet", "--checkpoint-seconds", "0"});
    if (!child.wait_for(time)) child.send(SIGKILL);
    if (child.wait() == 0) {
      std::filesystem::remove_all(folder_ / "killed");  // it came to the end: once more from the beginning
    } else {
      ASSERT_EQ(child.wait(), 128 + SIGKILL);
      ++kills;
    }
  }
  EXPECT_EQ(kills, 10);
  ASSERT_EQ(surefoot("train train.toml --out killed --resume --quiet").code, 0);
  const auto expected = learning::load_posterior(folder_ / "whole" / "weights.safetensors").gaussians;
  const auto got = learning::load_posterior(folder_ / "killed" / "weights.safetensors").gaussians;
  EXPECT_EQ(expected.mean, got.mean);
  EXPECT_EQ(expected.log_variance, got.log_variance);
  EXPECT_EQ(expected.prior_log_variance, got.prior_log_variance);
}

TEST_F(TrainVerb, SaysThatItDivergesAndLeavesNoWeights) {
  for (const char* surrogate : {"logistic-mean", "logarithm", "tolerance"}) {
    write("train.toml",
          fmt::format("model = \"alista\"\n[family]\nsamples = 64\nmeasurements = 8\nvariables = 16\n"
                      "[network]\nsteps = 3\n[[stage]]\nname = \"plain\"\nnoise = false\nepochs = 2\n"
                      "batch = 16\nmean_rate = 1e250\nsurrogate = \"{}\"\n",
                      surrogate));
    const auto result = surefoot("train train.toml --out out --quiet --checkpoint-seconds 0");
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(
        result.err.find("training diverged at step 2 of epoch 1 of stage 'plain': no run has a finite loss; "
                        "try a smaller mean_rate (now 1e+250)"),
        std::string::npos)
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/weights.safetensors"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "out/train.checkpoint"));
    std::filesystem::remove_all(folder_ / "out");
  }
}

TEST_F(TrainVerb, RefusesTheCheckpointOfAnotherConfiguration) {
  write("train.toml", testing::training_file(1000000));
  const auto stopped = shell(
      "$SUREFOOT train train.toml --out out --checkpoint-seconds 0 --quiet & while kill -0 $! && ! test -e "
      "out/train.checkpoint; do sleep 0.02; done; kill -KILL $!; wait; test -e out/train.checkpoint");
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  const auto result = surefoot("train train.toml --out out --resume --seed 8");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("another configuration: seed is '3' there and '8' here"), std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace surefoot
