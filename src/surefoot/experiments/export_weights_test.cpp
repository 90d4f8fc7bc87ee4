#include "surefoot/experiments/export_weights.hpp"

#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/training.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace surefoot::experiments {
namespace {

constexpr const char* quick_stage =
    "[[stage]]\nepochs = 2\nbatch = 20\nnoise = false\nsurrogate = \"identity\"\n";

constexpr const char* mpc_problems = SUREFOOT_SOURCE_DIR "/examples/mpc";

std::filesystem::path trained(const test_support::TemporaryFolder& folder, const std::string& content) {
  Training training;
  training.config = parse_train_config("t.toml", content);
  training.folder = folder / "out";
  training.quiet = true;
  (void)run_training(training);
  return training.folder / weights_name;
}

std::string warm_start(const std::string& network) {
  return "model = \"warm-start\"\n[family]\nfolder = \"" SUREFOOT_SOURCE_DIR
         "/examples/mpc\"\nsamples = 40\n[network]\nhidden = [7, 5]\n" +
         network + quick_stage;
}

ExportWeightsOptions options(const std::filesystem::path& weights, const std::filesystem::path& c_file,
                             const std::string& name, const std::string& problems = mpc_problems) {
  ExportWeightsOptions options;
  options.weights = weights;
  options.c_file = c_file;
  options.name = name;
  options.folder = problems;
  return options;
}

using StartFunction = void (*)(const double*, const double*, const double*, double*, double*, double*);

/// The function compiled so; null where that fails.
class Compiled {
 public:
  Compiled(const test_support::TemporaryFolder& folder, const std::string& flags) {
    static int number = 0;
    const std::string library = folder / ("start" + std::to_string(++number) + ".so");
    const std::string command = "cc -std=c99 -Wall -Wextra -Wpedantic -Werror -shared -fPIC " + flags +
                                " -o " + library + " " + (folder / "start.c") + " -lm";
    if (std::system(command.c_str()) != 0) return;  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    library_ = dlopen(library.c_str(), RTLD_NOW);
    if (library_ != nullptr) start_ = reinterpret_cast<StartFunction>(dlsym(library_, "start"));
  }
  ~Compiled() {
    if (library_ != nullptr) dlclose(library_);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  [[nodiscard]] StartFunction get() const { return start_; }

 private:
  void* library_ = nullptr;
  StartFunction start_ = nullptr;
};

TEST(ExportWeights, StartsInCAreThoseOfTheProgramToTheLastBit) {
  const test_support::TemporaryFolder folder;
  const std::filesystem::path weights = trained(folder, warm_start("scale_each = false\n"));
  const std::string said = export_weights(options(weights, folder / "start.c", "start"));
  EXPECT_NE(said.find("the learned start start"), std::string::npos) << said;
  const learning::Posterior posterior = learning::load_posterior(weights);
  LearnedSetting setting = setting_of(posterior, "weights");
  setting.find_files(mpc_problems, weights);
  const auto& model = std::get<FolderStart>(setting.options);
  const BenchRequest request{.set = families::SampleSet::hold_out, .count = 50, .first = 900};
  const FolderStartBench bench = make_start(model, request);
  const auto& qp = std::get<problems::Qp>(*bench.problems);
  const Index n = qp.variables();
  const Index m = qp.constraints();
  const problems::Table expected = start_iterates(model, bench, posterior, n + 2 * m);
  EXPECT_GT(expected.cwiseAbs().maxCoeff(), 0);
  int exact = 0;
  for (const std::string flags :
       {"-O0", "-O2", "-O3 -march=native", "-O0 -Dstart_USE_FMA", "-O3 -march=native -Dstart_USE_FMA"}) {
    const Compiled compiled(folder, flags);
    ASSERT_NE(compiled.get(), nullptr) << flags;
    Index different = 0;
    for (Index i = 0; i < request.count; ++i) {
      std::vector<double> made(static_cast<std::size_t>(n + 2 * m));
      compiled.get()(problems::table_row(*bench.parameters, i), problems::table_row(qp.l, i),
                     problems::table_row(qp.u, i), made.data(), made.data() + n, made.data() + n + m);
      for (Index j = 0; j < n + 2 * m; ++j) {
        const double value = made[static_cast<std::size_t>(j)];
        EXPECT_NEAR(value, expected(i, j), 1e-11 * (1 + std::abs(expected(i, j)))) << flags;
        different += std::memcmp(&value, &expected(i, j), sizeof value) != 0 ? 1 : 0;
      }
    }
    exact += different == 0 ? 1 : 0;
  }
  // Those with fused multiply-adds, or those without: as the kernels of this build.
  EXPECT_TRUE(exact == 2 || exact == 3) << exact;
}

TEST(ExportWeights, SchedulesAreTheSettingsOfTheirSteps) {
  const test_support::TemporaryFolder folder;
  const std::filesystem::path weights = trained(
      folder,
      "model = \"schedule\"\n[family]\nfolder = \"" SUREFOOT_SOURCE_DIR
      "/examples/mpc\"\nsamples = 20\n[network]\nsteps = 3\nrho = 0.5\n[[stage]]\nnoise = false\nsurrogate = "
      "\"logarithm\"\n");
  EXPECT_NE(export_weights(options(weights, folder / "s.c", "tuned")).find("the schedule tuned"),
            std::string::npos);
  const std::string text = io::read_file(folder / "s.c", 1000000);
  EXPECT_NE(text.find("#define tuned_STEPS 3"), std::string::npos) << text;
  std::filesystem::copy(mpc_problems, folder / "mpc");
  EXPECT_NO_THROW((void)export_weights(options(weights, folder / "t.c", "tuned", "")))
      << "around the folder of the weights";
  EXPECT_NE(text.find("static const double tuned_rho[3]"), std::string::npos) << text;
  EXPECT_NE(text.find("static const double tuned_alpha[3]"), std::string::npos) << text;
  EXPECT_NE(text.find(learning::posterior_sha256(learning::load_posterior(weights))), std::string::npos);
}

TEST(ExportWeights, WhatAControllerCannotRepeatIsRefused) {
  const test_support::TemporaryFolder folder;
  const std::filesystem::path weights = trained(folder, warm_start(""));
  EXPECT_INPUT_ERROR((void)export_weights(options(weights, folder / "a.c", "1a")), "is not a name in C");
  EXPECT_INPUT_ERROR((void)export_weights(options(weights, "", "a")), "--c: say which file");
  EXPECT_INPUT_ERROR((void)export_weights(options(weights, folder / "a.c", "a", "/nowhere")), "nowhere");
  // Of a path from the root weights have the last name.
  EXPECT_INPUT_ERROR((void)export_weights(options(weights, folder / "a.c", "a", "")),
                     "mpc: is not here and not beside ");
}

}  // namespace
}  // namespace surefoot::experiments
