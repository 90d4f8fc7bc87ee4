#include "surefoot/learning/posterior_file.hpp"

#include "support/program.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

namespace surefoot {
namespace {

const char* const config = R"(
model = "glista"
seed = 3
[family]
samples = 600
measurements = 24
variables = 48
flip_signs = true
[network]
steps = 4
[posterior]
initial = { overshoot = 0.02 }
[[stage]]
noise = false
epochs = 12
batch = 64
mean_rate = 1e-2
schedule = "cosine"
surrogate = "logarithm"
[[stage]]
name = "bound"
epochs = 12
batch = 100
variance_rate = 1e-2
log_variance = -12
prior = "closed-form"
penalty = "one-sided"
target = 0.2
surrogate = "tolerance"
tolerance = -20
width = 4
)";

class TrainVerb : public testing::ProgramTest {};

TEST_F(TrainVerb, WritesWeightsThatSayWhatTheyAre) {
  write("train.toml", config);
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

// Starts the program, kills it after a while; true if it had ended by itself before.
bool run_for(const std::filesystem::path& folder, std::chrono::milliseconds time) {
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) != 0) _exit(99);
    execl(SUREFOOT_PROGRAM, SUREFOOT_PROGRAM, "train", "train.toml", "--out", "killed", "--resume", "--quiet",
          "--checkpoint-seconds", "0", static_cast<char*>(nullptr));
    _exit(99);
  }
  const auto end = std::chrono::steady_clock::now() + time;
  int status = 0;
  while (std::chrono::steady_clock::now() < end) {
    if (waitpid(child, &status, WNOHANG) == child) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

TEST_F(TrainVerb, KilledAtTenRandomMomentsEndsAtTheSameWeights) {
  write("train.toml", config);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(surefoot("train train.toml --out whole --quiet --checkpoint-seconds 0").code, 0);
  const auto whole_time = std::chrono::steady_clock::now() - begin;
  std::mt19937 random(12);
  std::uniform_real_distribution<double> share(0.02, 0.2);
  int kills = 0;
  for (int attempt = 0; attempt < 60 && kills < 10; ++attempt) {
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(share(random) * whole_time);
    if (run_for(folder_, time)) {
      std::filesystem::remove_all(folder_ / "killed");  // it came to the end: once more from the beginning
    } else {
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

TEST_F(TrainVerb, RefusesTheCheckpointOfAnotherConfiguration) {
  std::string endless = config;
  for (std::size_t at = 0; (at = endless.find("epochs = 12", at)) != std::string::npos; ++at)
    endless.replace(at, 11, "epochs = 1000000");
  write("train.toml", endless);
  const auto stopped = shell(
      "timeout -s KILL 60 $SUREFOOT train train.toml --out out --checkpoint-seconds 0 --quiet & "
      "while kill -0 $! && ! test -e out/train.checkpoint; do sleep 0.02; done; kill -KILL $!; wait; "
      "test -e out/train.checkpoint");
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  const auto result = surefoot("train train.toml --out out --resume --seed 8");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("another configuration: seed is '3' there and '8' here"), std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace surefoot
