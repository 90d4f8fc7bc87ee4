// Schedules of a solver's settings: trained on rows of a folder, certified on others, run on other problems.
#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace surefoot {
namespace {

namespace fs = std::filesystem;
using testing::ProgramResult;
using testing::ProgramTest;
using testing::slurp;
using ScheduleTestJson = nlohmann::json;

class Schedules : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    fs::copy(SUREFOOT_SOURCE_DIR "/examples/mpc", folder_ / "mpc");
  }

  static std::string recipe(const std::string& family, const std::string& network,
                            const std::string& stage = "noise = false\nsurrogate = \"logarithm\"\n") {
    return "model = \"schedule\"\n[family]\n" + family + "\n[network]\n" + network +
           "\n[[stage]]\nepochs = 3\nbatch = 50\nmean_rate = 0.03\n" + stage;
  }
  void write_recipe(const std::string& content) { write("s.toml", content); }
  void train(const std::string& family, const std::string& network) {
    write_recipe(recipe(family, network));
    const ProgramResult result = surefoot("train s.toml --out s --quiet");
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void expect_refused(const std::string& arguments, const std::string& words) {
    const ProgramResult result = surefoot(arguments);
    EXPECT_EQ(result.code, 2) << arguments << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }
};

TEST_F(Schedules, OfOsqpAreCertifiedOnRowsThatTrainingHasNotSeen) {
  train("folder = \"mpc\"\nsamples = 200\n", "steps = 8\nrho = 0.5\n");
  const ProgramResult made =
      surefoot("calibrate s/weights.safetensors --hold-out 500:300 --tolerances 1e-2,1e-1 --out g");
  ASSERT_EQ(made.code, 0) << made.err;
  for (const std::string kind : {"hold-out", "hold-out-means", "pac-bayes"}) {
    const std::string certificate = "g/" + kind + "/certificate.json";
    EXPECT_EQ(surefoot("verify " + certificate + " --weights s/weights.safetensors").code, 0) << kind;
  }
  const ProgramResult again = surefoot("verify g/hold-out-means/certificate.json --rerun .");
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  const ScheduleTestJson certificate =
      ScheduleTestJson::parse(slurp(folder_ / "g/hold-out-means/certificate.json"));
  EXPECT_EQ(certificate.at("variants").at(0).at("provenance").at("set"), "rows");

  expect_refused("calibrate s/weights.safetensors --hold-out 100:200 --out h",
                 "depends on problems 0 .. 199 of its folder, and 100 .. 299 are to be fresh");
  expect_refused("calibrate s/weights.safetensors --hold-out 900:200 --out h", "has problems 0 .. 999");
  expect_refused("calibrate s/weights.safetensors --hold-out 600:300 --out h", "600");  // a second look
  fs::rename(folder_ / "mpc", folder_ / "moved");
  expect_refused("calibrate s/weights.safetensors --hold-out 800:100 --out h", "mpc: is not a folder");
  EXPECT_EQ(surefoot("calibrate s/weights.safetensors --hold-out 800:100 --problems moved --out h").code, 0);
  write("moved/l.csv", slurp(folder_ / "moved/l.csv") + "\n");
  expect_refused("calibrate s/weights.safetensors --hold-out 900:100 --problems moved --out i",
                 "l.csv: is not the file that the weights were trained on");
  EXPECT_TRUE(fs::is_empty(folder_ / "i"));
}

TEST_F(Schedules, RunOnOtherProblemsAsSolversDo) {
  train("folder = \"mpc\"\nsamples = 200\n", "steps = 8\nrho = 0.5\nscale_each = false\n");
  expect_refused("run qp mpc --schedule s/weights.safetensors --out r",
                 "depends on problems 0 .. 199 of these files");
  fs::copy(folder_ / "mpc", folder_ / "others");
  for (const std::string name : {"others/l.csv", "others/u.csv"}) {
    const std::string text = slurp(folder_ / name);  // a third of the problems, the last ones
    write(name, text.substr(text.find('\n', text.size() / 3 * 2) + 1));
  }
  const ProgramResult ran = surefoot(
      "run qp others --schedule s/weights.safetensors --iterations 30 --metric optimality --tolerances 1e-2 --out r");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const ScheduleTestJson certificate = ScheduleTestJson::parse(slurp(folder_ / "r/certificate.json"));
  EXPECT_EQ(certificate.at("run").at("solver"), "schedule-osqp");
  EXPECT_EQ(surefoot("verify r/certificate.json --rerun .").code, 0);
  expect_refused("run qp others --schedule s/weights.safetensors --rho 1 --out x",
                 "--rho: with --schedule all settings are those of the weights");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

TEST_F(Schedules, OfScsAreCertifiedAndRunOnOtherProblems) {
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/portfolio", folder_ / "portfolio");
  write_recipe(
      recipe("kind = \"cone\"\nfolder = \"portfolio\"\nsamples = 150\n", "steps = 12\nscale = 0.3\n"));
  const ProgramResult trained = surefoot("train s.toml --out s --quiet");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(slurp(folder_ / "s/schedule.csv").substr(0, 13), "k,scale,alpha");
  const ProgramResult made =
      surefoot("calibrate s/weights.safetensors --hold-out 200:200 --tolerances 1e-2,1e-1 --out g");
  ASSERT_EQ(made.code, 0) << made.err;
  for (const std::string kind : {"hold-out", "hold-out-means", "pac-bayes"}) {
    const std::string certificate = "g/" + kind + "/certificate.json";
    EXPECT_EQ(surefoot("verify " + certificate + " --weights s/weights.safetensors").code, 0) << kind;
  }
  EXPECT_EQ(surefoot("verify g/hold-out-means/certificate.json --rerun .").code, 0);
  expect_refused("run cone portfolio --schedule s/weights.safetensors --out r",
                 "depends on problems 0 .. 149");
  fs::copy(folder_ / "portfolio", folder_ / "others");
  const std::string text = slurp(folder_ / "others/c.csv");
  write("others/c.csv", text.substr(text.find('\n', text.size() / 2) + 1));
  const ProgramResult ran =
      surefoot("run cone others --schedule s/weights.safetensors --metric optimality --out r");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ScheduleTestJson::parse(slurp(folder_ / "r/certificate.json")).at("run").at("solver"),
            "schedule-scs");
  EXPECT_EQ(surefoot("verify r/certificate.json --rerun .").code, 0);
  expect_refused("run qp mpc --schedule s/weights.safetensors --out x", "no schedule of OSQP");
  expect_refused("run cone others --schedule s/weights.safetensors --scale 1 --out x",
                 "--scale: with --schedule all settings are those of the weights");
}

TEST_F(Schedules, OfStepSizesAreShorterThanTheConstant) {
  std::string c;
  for (int i = 0; i < 60; ++i)
    c += std::to_string(1 + 0.37 * i) + "," + std::to_string(2 - 0.11 * i * (i % 7)) + "\n";
  for (const char* family : {"quadratic", "lasso"}) fs::create_directory(folder_ / family);
  write("quadratic/P.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 10\n");
  write("quadratic/c.csv", c);
  write("lasso/D.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 2 1\n1 2 0.5\n");
  write("lasso/b.csv", c);
  write("lasso/weight.csv", "0.1\n");
  const auto residual = [&](const std::string& family, const std::string& network, const std::string& more) {
    write_recipe(recipe(family, network) + more);
    EXPECT_EQ(surefoot("train s.toml --out s --quiet").code, 0);
    EXPECT_EQ(
        surefoot(
            "calibrate s/weights.safetensors --guarantees hold-out-means --hold-out 40:20 --quantiles 0.5 "
            "--confidence 0.9 --tolerances 1 --look-again --out g")
            .code,
        0);
    const ScheduleTestJson made =
        ScheduleTestJson::parse(slurp(folder_ / "g/hold-out-means/certificate.json"));
    return made.at("claims").at("quantile").back().at("empirical").get<double>();
  };
  const std::string silver = "[posterior]\nanalytic_start = true\n";
  for (const std::string family : {"quadratic", "lasso"}) {
    const std::string rows = "kind = \"" + family + "\"\nfolder = \"" + family + "\"\nsamples = 40";
    EXPECT_LT(residual(rows, "steps = 7", silver), residual(rows, "steps = 7", "")) << family;
  }
  EXPECT_GT(
      residual("kind = \"lasso\"\nfolder = \"lasso\"\nsamples = 40", "steps = 7\nsolver = \"fista\"", ""), 0);
}

TEST_F(Schedules, BadInputIsOneLine) {
  const auto refused = [&](const std::string& content, const std::string& words) {
    write_recipe(content);
    expect_refused("train s.toml --out s", words);
    EXPECT_TRUE(!fs::exists(folder_ / "s") || fs::is_empty(folder_ / "s")) << words;
  };
  refused(recipe("folder = \"none\"\nsamples = 20", "steps = 3"), "none: is not a folder");
  refused(recipe("samples = 20", "steps = 3"), "folder: there is none");
  refused(recipe("folder = \"mpc\"\nkind = \"tree\"\nsamples = 20", "steps = 3"),
          "kind: 'tree' is not one of qp");
  refused(recipe("folder = \"mpc\"\nkind = \"lasso\"\nsamples = 20", "steps = 3"), "has no D");
  refused(recipe("folder = \"mpc\"\nsamples = 20", "steps = 3\nsolver = \"ista\""),
          "solver: 'ista' is not osqp");
  refused(recipe("folder = \"mpc\"\nkind = \"cone\"\nsamples = 20", "steps = 3"), "has no settings.toml");
  refused(recipe("folder = \"mpc\"\nsamples = 20\nseed = 1", "steps = 3"), "seed: the problems of a folder");
  refused(recipe("folder = \"mpc\"\nsamples = 2000", "steps = 3"),
          "has problems 0 .. 999; samples 0 .. 1999");
  refused(recipe("folder = \"mpc\"\nsamples = 20", "steps = 3\nalpha = 2.0"), "alpha: 2 is outside [0, 2)");
  refused(recipe("folder = \"mpc\"\nsamples = 20", "steps = 3") + "[posterior]\nanalytic_start = true\n",
          "analytic_start: is for lista and schedules of step sizes");
}

}  // namespace
}  // namespace surefoot
