// Settings that are searched and certified: tune qp, tune cone, tune command.
#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace surefoot {
namespace {

using testing::ProgramResult;
using testing::ProgramTest;
using testing::slurp;
using TuneTestJson = nlohmann::json;

class Tune : public ProgramTest {
 protected:
  static std::string mpc() { return SUREFOOT_SOURCE_DIR "/examples/mpc"; }
  static std::string quick() {
    return "tune qp " + mpc() +
           " --iterations 60 --target \"80% below 1e-2\" --over rho=1e-2:10:log:4,alpha=1:1.8:linear:2 ";
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) {
    const ProgramResult result = surefoot(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& word : words) EXPECT_NE(result.err.find(word), std::string::npos) << result.err;
  }
  [[nodiscard]] TuneTestJson json_in(const std::string& file) const {
    return TuneTestJson::parse(slurp(folder_ / file));
  }
};

TEST_F(Tune, FindsSettingsThatVerifyRepeatAndRun) {
  const ProgramResult result = surefoot(quick() + "--runs 800 --out a --save-traces");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("which nothing was chosen by"), std::string::npos) << result.out;
  const TuneTestJson certificate = json_in("a/certificate.json");
  EXPECT_EQ(certificate.at("variants").at(1).at("provenance").at("first"), 500);
  EXPECT_EQ(certificate.at("variants").at(1).at("provenance").at("count"), 500);
  EXPECT_EQ(surefoot("verify a/certificate.json --rerun " + mpc()).code, 0);
  EXPECT_EQ(surefoot("verify a/certificate.json --data a/traces_default.npy a/traces_tuned.npy").code, 0);
  EXPECT_EQ(surefoot("run qp " + mpc() + " --settings a/tuned.toml --out ran").code, 0);
  EXPECT_EQ(json_in("a/tuned.json").at("rho").dump(),
            certificate.at("run").at("tuned").at("settings").at("rho").dump());
  // A search by time is repeated by its number of runs.
  ASSERT_EQ(surefoot(quick() + "--time 30s --out b").code, 0);
  const TuneTestJson timed = json_in("b/search.json");
  ASSERT_EQ(surefoot(quick() + "--threads 1 --runs " + timed.at("runs").dump() + " --out c").code, 0);
  EXPECT_EQ(json_in("c/search.json"), timed);
  EXPECT_EQ(surefoot("verify b/certificate.json --rerun " + mpc()).code, 0);
}

TEST_F(Tune, ASecondTuneIsASecondLook) {
  const std::string tune = quick() + "--runs 400 --ledger l.jsonl ";
  ASSERT_EQ(surefoot(tune + "--out a").code, 0);
  const ProgramResult again = surefoot(tune + "--seed 1 --out b");
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("by tune"), std::string::npos) << again.err;
  ASSERT_EQ(surefoot(tune + "--seed 1 --look-again --out b").code, 0);
  EXPECT_EQ(json_in("b/certificate.json").at("variants").at(0).at("provenance").at("earlier_looks"), 1);
}

// Every problem stands in both halves: those that settings are chosen by would certify them.
TEST_F(Tune, ProblemsOfTheSearchThatAreCertifiedAreRefused) {
  const std::filesystem::path folder = folder_ / "twice";
  std::filesystem::copy(mpc(), folder);
  for (const char* name : {"twice/l.csv", "twice/u.csv"}) {
    const std::string text = slurp(folder_ / name);
    const std::size_t end = [&] {
      std::size_t at = 0;
      for (int line = 0; line < 150; ++line) at = text.find('\n', at) + 1;
      return at;
    }();
    write(name, text.substr(0, end) + text.substr(0, end));
  }
  const std::string options =
      " --iterations 60 --target \"80% below 1e-2\" --over rho=1e-2:10:log:4,alpha=1:1.8:linear:2 --runs 800 --out o";
  expect_refused("tune qp twice" + options,
                 {"twice: problems that settings are chosen by", "not independent"});
  expect_refused("tune qp twice --allow-dependence" + options,
                 {"twice: problems that settings are chosen by"});
}

TEST_F(Tune, OfCommandsASecondTuneIsASecondLookToo) {
  const std::string end =
      " --over rho=1:2 --target \"50% below 1\" --samples 40 --ledger l.jsonl --out o -- echo 0.{seed}{rho}";
  ASSERT_EQ(surefoot("tune command" + end).code, 0);
  EXPECT_EQ(json_in("o/certificate.json").at("variants").at(0).at("provenance").at("first"), 20);
  EXPECT_EQ(surefoot("verify o/certificate.json").code, 0);
  expect_refused("tune command --seed 1" + end, {"by tune command"});
  expect_refused("tune command --first-seed 39" + end, {"by tune command"});
  EXPECT_EQ(surefoot("tune command --first-seed 40" + end).code, 0);
  EXPECT_EQ(surefoot("tune command --seed 1 --look-again" + end).code, 0);
}

TEST_F(Tune, TakesTheConesOfAFolderAndLeavesTheOtherSettingsOfRun) {
  const ProgramResult result = surefoot(
      "tune cone " SUREFOOT_SOURCE_DIR
      "/examples/portfolio --iterations 150 --target \"80% below 1e-2\" --over scale=1e-2:1:log:3 --runs 100 "
      "--learn-then-test --out a");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("By Learn-then-Test"), std::string::npos) << result.out;
  EXPECT_EQ(surefoot("verify a/certificate.json --rerun " SUREFOOT_SOURCE_DIR "/examples/portfolio").code, 0);
  EXPECT_EQ(
      surefoot("run cone " SUREFOOT_SOURCE_DIR "/examples/portfolio --settings a/tuned.toml --out ran").code,
      0);
}

TEST_F(Tune, AGridOfMoreThanThereIsEndsAndSaysSo) {
  const ProgramResult result =
      surefoot("tune qp " + mpc() +
               " --iterations 20 --target \"50% below 1\" --over alpha=1:1.09 --grid 120 "
               "--search-share 0.02 --out a");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("--grid: in few digits these settings have 91 points, not 120\n"),
            std::string::npos)
      << result.err;
}

TEST_F(Tune, BadInputIsOneLine) {
  expect_refused("tune qp " + mpc(), {"--target", "90% below 1e-4"});
  expect_refused("tune qp " + mpc() + " --target \"90% below 1e-4\" --over rho=1:1e-3:log", {"empty range"});
  expect_refused("tune qp " + mpc() + " --target \"99.9% below 1e-4\"",
                 {"too few", "at least", "are needed"});
  expect_refused(quick() + "--runs 5", {"--runs: 5 is too few", "needs"});
  expect_refused(quick() + "--time 5 parsecs", {"parsecs"});
  expect_refused(
      "tune qp " + mpc() + " --iterations 4 --target \"80% below 1e-4\" --over rho=1:2:log:3 --runs 300",
      {"the best settings that were found, the default, do not reach 80 % below 1e-4"});
  expect_refused("tune qp " + mpc() + " --target \"80% below 1e-2\" --over \"scaling=2.7|10\"",
                 {"--over: scaling: 2.7 is not a whole number"});
  expect_refused("tune qp " + mpc() + " --target \"99.9999999999% below 1e-2\"",
                 {"--target: ", "needs more than"});
  expect_refused("tune command --over rho=1:2 --target \"50% below 1\" --samples 40 -- false {rho} {seed}",
                 {"none of", "exit code 1"});
  expect_refused("tune command --over rho=1:2 --target \"50% below 1\" --samples 40 -- echo {seed}",
                 {"the command has no {rho}"});
}

}  // namespace
}  // namespace surefoot
