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
                 "depends on problems 0 .. 199 of its folder, and 100 .. 299 are to be new");
  expect_refused("calibrate s/weights.safetensors --hold-out 900:200 --out h", "has problems 0 .. 999");
  expect_refused("calibrate s/weights.safetensors --hold-out 600:300 --out h", "600");  // a second look
  fs::rename(folder_ / "mpc", folder_ / "moved");
  expect_refused(
      "calibrate s/weights.safetensors --hold-out 800:100 --out h",
      "mpc: is not here and not beside s/weights.safetensors; say where the problems lie (--problems)");
  EXPECT_EQ(surefoot("calibrate s/weights.safetensors --hold-out 800:100 --problems moved --out h").code, 0);
  write("moved/l.csv", slurp(folder_ / "moved/l.csv") + "\n");
  expect_refused("calibrate s/weights.safetensors --hold-out 900:100 --problems moved --out i",
                 "l.csv: is not the file that the weights were trained on");
  EXPECT_TRUE(fs::is_empty(folder_ / "i"));
}

TEST_F(Schedules, RowsAreNotLookedAtForValidation) {
  train("folder = \"mpc\"\nsamples = 100\n", "steps = 3\n");
  const std::string weights = slurp(folder_ / "s/weights.safetensors");
  const std::string words =
      "--validate: rows of a folder are good for one look; keep some and use calibrate --hold-out FIRST:COUNT";
  expect_refused("train s.toml --out t --quiet --validate 50", words);
  EXPECT_FALSE(fs::exists(folder_ / "t")) << "it is refused before the work";
  expect_refused("calibrate s/weights.safetensors --validate 50", words);
  EXPECT_EQ(surefoot("calibrate s/weights.safetensors --hold-out 500:50 --guarantees hold-out-means "
                     "--tolerances 1e-2 --quantiles 0.5 --confidence 0.9 --out g")
                .code,
            0)
      << "and none was looked at";
}

TEST_F(Schedules, DoNotDependOnWhereTheFolderLies) {
  train("folder = \"mpc\"\nsamples = 100\n", "steps = 3\n");
  const std::string weights = slurp(folder_ / "s/weights.safetensors");
  fs::create_directories(folder_ / "far/away");
  fs::copy(folder_ / "mpc", folder_ / "far/away/mpc");
  fs::copy(folder_ / "s.toml", folder_ / "far/away/s.toml");
  ASSERT_EQ(surefoot("train far/away/s.toml --out t --quiet").code, 0);
  EXPECT_EQ(slurp(folder_ / "t/weights.safetensors"), weights);
  fs::remove_all(folder_ / "mpc");
  const std::string rest =
      " --guarantees hold-out-means --tolerances 1e-2 --quantiles 0.5 --confidence 0.9 --out g";
  expect_refused("calibrate t/weights.safetensors --hold-out 500:50" + rest, "mpc: is not here");
  fs::copy(folder_ / "t", folder_ / "far/away/t");
  EXPECT_EQ(surefoot("calibrate far/away/t/weights.safetensors --hold-out 500:50" + rest).code, 0)
      << "beside the folder of the weights";

  // A training that was stopped goes on although its folder was moved.
  write("far/away/s.toml", recipe("folder = \"mpc\"\nsamples = 100\n", "steps = 3\n",
                                  "noise = false\nsurrogate = \"logarithm\"\n[[stage]]\nepochs = 1000000\n"));
  const ProgramResult stopped = shell(
      "$SUREFOOT train far/away/s.toml --out u --checkpoint-seconds 0 --quiet & while kill -0 $! && ! test -e "
      "u/train.checkpoint; do sleep 0.02; done; kill -KILL $!; wait; test -e u/train.checkpoint");
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  fs::rename(folder_ / "far", folder_ / "near");
  const ProgramResult resumed = shell(
      "$SUREFOOT train near/away/s.toml --out u --resume >said 2>&1 & while kill -0 $! && ! grep -q . said; do sleep "
      "0.02; done; kill -KILL $!; wait; cat said");
  EXPECT_EQ(resumed.out.find("another configuration"), std::string::npos) << resumed.out;
  EXPECT_NE(resumed.out.find("train.checkpoint"), std::string::npos) << resumed.out;
}

TEST_F(Schedules, WeightsOfAnotherFolderAreNoStart) {
  train("folder = \"mpc\"\nsamples = 100\n", "steps = 3\n");
  fs::copy(folder_ / "mpc", folder_ / "other");
  // The same problems, the first of them last.
  for (const std::string name : {"other/l.csv", "other/u.csv"}) {
    const std::string text = slurp(folder_ / name);
    const std::size_t line = text.find('\n') + 1;
    write(name, text.substr(line) + text.substr(0, line));
  }
  for (const std::string key : {"start", "prior"}) {
    const std::string posterior = "[posterior]\n" + key + " = \"s/weights.safetensors\"\n";
    write_recipe(recipe("folder = \"other\"\nfirst = 300\nsamples = 100", "steps = 3") + posterior);
    expect_refused("train s.toml --out t --quiet", "which of these it depends on is not known");
    EXPECT_TRUE(!fs::exists(folder_ / "t") || fs::is_empty(folder_ / "t"));
    write_recipe(recipe("folder = \"mpc\"\nfirst = 300\nsamples = 100", "steps = 3") + posterior);
    EXPECT_EQ(surefoot("train s.toml --quiet --out " + key).code, 0) << "rows of one folder are told apart";
  }
}

TEST_F(Schedules, ABoundIsNotOfRowsThatATuneChoseBy) {
  const std::string tune =
      "tune qp mpc --iterations 60 --target \"80% below 1e-2\" --over rho=1e-1:1:log:2 --runs 800 --ledger l.jsonl ";
  const std::string calibrate =
      "calibrate s/weights.safetensors --guarantees pac-bayes --tolerances 1e-2,1e-1 "
      "--quantiles 0.5 --ledger l.jsonl --out g";
  ASSERT_EQ(surefoot(tune + "--out tuned").code, 0);
  write_recipe(recipe("folder = \"mpc\"\nsamples = 100", "steps = 3"));
  ASSERT_EQ(surefoot("train s.toml --quiet --ledger l.jsonl --out s").code, 0);
  expect_refused(calibrate,
                 "by tune (OSQP); a prior that was chosen by them does not give a PAC-Bayes bound of them");
  EXPECT_EQ(surefoot(calibrate + " --look-again").code, 2) << "nor is it allowed";
  // What was tuned after the training is nothing that the prior depends on.
  fs::remove(folder_ / "l.jsonl");
  fs::remove_all(folder_ / "s");
  ASSERT_EQ(surefoot("train s.toml --quiet --ledger l.jsonl --out s").code, 0);
  ASSERT_EQ(shell("sleep 1.1; $SUREFOOT " + tune + "--out later").code, 0);
  EXPECT_EQ(surefoot(calibrate).code, 0);
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
