#include "surefoot/core/random.hpp"

#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using LoopJson = nlohmann::json;

// A closed loop as files, from the command line.
class RunLoop : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    std::filesystem::copy(SUREFOOT_SOURCE_DIR "/examples/cartpole", folder_ / "loop");
  }
  static constexpr const char* small = "run loop loop --rollouts 200 --ticks 15 --limits 3,20 ";

  [[nodiscard]] LoopJson certificate(const std::string& name) const {
    return LoopJson::parse(slurp(folder_ / name / "certificate.json"));
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& mentioned) const {
    const ProgramResult result = surefoot(arguments + " --out refused");
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.err << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& word : mentioned)
      EXPECT_NE(result.err.find(word), std::string::npos) << "'" << word << "' is not in: " << result.err;
  }
  // With another file for one attempt; empty: without it.
  void expect_refused_with(const std::string& file, const std::string& content,
                           const std::vector<std::string>& mentioned) const {
    const bool there = std::filesystem::exists(folder_ / file);
    const std::string good = there ? slurp(folder_ / file) : "";
    if (content.empty()) {
      std::filesystem::remove(folder_ / file);
    } else {
      write(file, content);
    }
    expect_refused(small, mentioned);
    std::filesystem::remove(folder_ / file);
    if (there) write(file, good);
  }
};

TEST_F(RunLoop, GoesFromFilesToCertificatesThatVerifyAndRunAgain) {
  const ProgramResult result = surefoot(std::string(small) + "--threads 1 --out a");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("The smallest limit with a guarantee"), std::string::npos) << result.out;
  for (const char* name : {"violation", "cost", "failed", "series", "tube"}) {
    const std::string file = std::string("a/") + name + "/certificate.json";
    EXPECT_EQ(surefoot("verify " + file).code, 0) << name;
    const LoopJson body = certificate(std::string("a/") + name);
    EXPECT_EQ(body.at("run").at("loop").at("ticks"), 15);
    EXPECT_EQ(body.at("variants").at(0).at("samples"), 200);
  }
  EXPECT_EQ(surefoot("verify a/cost/certificate.json --rerun loop").code, 0);
  EXPECT_EQ(surefoot("verify a/tube/certificate.json --rerun loop").code, 0);
  EXPECT_EQ(surefoot("verify a").code, 0);
  ASSERT_EQ(surefoot(std::string(small) + "--threads 2 --out b").code, 0);
  for (const char* name : {"/cost/certificate.json", "/tube/certificate.json", "/rollouts.csv", "/tube.csv"})
    EXPECT_EQ(slurp(folder_ / (std::string("a") + name)), slurp(folder_ / (std::string("b") + name))) << name;
  EXPECT_NE(slurp(folder_ / "a/report.html").find("Trajectories and tube"), std::string::npos);
}

TEST_F(RunLoop, AnotherSeedStartOrTestIsAnotherRun) {
  ASSERT_EQ(surefoot(std::string(small) + "--out a").code, 0);
  const std::string usual = slurp(folder_ / "a/rollouts.csv");
  for (const char* other :
       {"--seed 1", "--loop-start cold", "--loop-start shifted", "--stop --eps-abs 0.1"}) {
    ASSERT_EQ(surefoot(std::string(small) + other + " --out b").code, 0) << other;
    EXPECT_NE(slurp(folder_ / "b/rollouts.csv"), usual) << other;
    EXPECT_EQ(surefoot("verify b/failed/certificate.json --rerun loop").code, 0) << other;
  }
}

TEST_F(RunLoop, WithoutBoundsOrCostsThereAreFewerCertificates) {
  for (const char* file :
       {"cost-Q.mtx", "cost-R.mtx", "state-lower.csv", "state-upper.csv", "disturbance-std.csv"})
    std::filesystem::remove(folder_ / "loop" / file);
  ASSERT_EQ(surefoot(std::string(small) + "--out a").code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a/cost"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a/violation"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "a/failed/certificate.json"));
}

TEST_F(RunLoop, AForgedCertificateIsFound) {
  ASSERT_EQ(surefoot(std::string(small) + "--out a").code, 0);
  std::string text = slurp(folder_ / "a/cost/certificate.json");
  const std::size_t at = text.find("\"failures\": ");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 12, "1");
  write("forged.json", text);
  EXPECT_EQ(surefoot("verify forged.json").code, 1);
}

TEST_F(RunLoop, RefusesInOneLine) {
  const std::string without = "run loop loop --rollouts 200 --ticks 15 ";
  expect_refused(without + "--limits 5,3", {"--limits: 3 does not come after 5"});
  expect_refused(without + "--limits 5,x", {"--limits", "'x' is not a number"});
  expect_refused(without + "--limits 2.5", {"--limits: 2.5 is not a whole number"});
  expect_refused(without + "--limits 1e300", {"--limits: 1e+300 is not a whole number"});
  expect_refused(without + "--limits nan", {"--limits: nan is not a whole number"});
  expect_refused(without + "--limits 0", {"--limits: 0 is outside"});
  expect_refused(std::string(small) + "--tube-limit 4", {"--tube-limit: 4 is not one of --limits 3,20"});
  expect_refused(std::string(small) + "--loop-start warm", {"'warm' is not one of cold, kept, shifted"});
  expect_refused(std::string(small) + "--confidence 1", {"confidence"});
  expect_refused(std::string(small) + "--cost-tolerances 1,nan", {"--cost-tolerances: nan is not finite"});
  expect_refused(std::string(small) + "--rho 0", {"rho: is 0"});
  expect_refused("run loop nowhere", {"nowhere: is not a folder"});
  expect_refused_with("loop/plant-A.mtx", "", {"plant-A"});
  expect_refused_with("loop/plant-B.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n",
                      {"plant-B.mtx: plant_B: is 3 x 1, must have 4 rows"});
  expect_refused_with("loop/initial-lower.csv", "1,1,1,1\n", {"initial_lower: entry 0 is 1, greater than"});
  expect_refused_with("loop/initial-lower.csv", "nan,0,0,0\n", {"initial-lower.csv", "nan"});
  expect_refused_with("loop/initial-std.csv", "1,1,1,1\n", {"initial-lower: is given beside initial-std"});
  expect_refused_with("loop/disturbances.csv", "0,0,0,0\n",
                      {"disturbances: is given beside disturbance-std"});
  expect_refused_with("loop/cost-R.mtx", "", {"cost_Q, cost_R: one of them is missing"});
  expect_refused_with("loop/state-lower.csv", "1,2\n", {"state-lower.csv: state_lower: is 1 x 2"});
  expect_refused_with("loop/l-state.mtx", "", {"l, u: entries 0 of instance", "tick 0"});
}

TEST_F(RunLoop, TablesOfInitialStatesAreLookedAtForRepeatedRows) {
  std::filesystem::remove(folder_ / "loop/initial-lower.csv");
  std::filesystem::remove(folder_ / "loop/initial-upper.csv");
  std::string rows;
  for (int i = 0; i < 200; ++i) {
    surefoot::RandomStream random(4, "initial states of a test", static_cast<std::uint64_t>(i % 50));
    for (const char* end : {",", ",", ",", "\n"})
      rows += fmt::format("{:.9g}{}", random.uniform(-0.1, 0.1), end);
  }
  write("loop/initial.csv", rows);
  expect_refused(small, {"initial"});
  EXPECT_EQ(surefoot(std::string(small) + "--allow-dependence --out a").code, 0);
  expect_refused("run loop loop --rollouts 201 --ticks 5 --limits 3", {"has 200 rows for 201 rollouts"});
}

TEST_F(RunLoop, TablesOfDisturbancesAreLookedAtForRepeatedRows) {
  std::filesystem::remove(folder_ / "loop/disturbance-std.csv");
  const auto rows_of = [](int different) {
    std::string rows;
    for (int i = 0; i < 200; ++i) {
      surefoot::RandomStream random(5, "disturbances of a test", static_cast<std::uint64_t>(i % different));
      for (int tick = 0; tick < 15; ++tick)
        for (const char* end : {",", ",", ",", "\n"})
          rows += fmt::format("{:.17g}{}", 0.01 * random.normal(), end);
    }
    return rows;
  };
  write("loop/disturbances.csv", rows_of(50));
  expect_refused(small, {"disturbances.csv", "not independent samples"});
  write("loop/disturbances.csv", rows_of(200));
  EXPECT_EQ(surefoot(std::string(small) + "--out a").code, 0);
  // All begin at the same state, and are disturbed: that is no sign of dependence.
  std::filesystem::remove(folder_ / "loop/initial-lower.csv");
  std::filesystem::remove(folder_ / "loop/initial-upper.csv");
  std::string same;
  for (int i = 0; i < 200; ++i) same += "0.123456789012345,0.2123456789012345,0.05123456789012345,0\n";
  write("loop/initial.csv", same);
  EXPECT_EQ(surefoot(std::string(small) + "--out a").code, 0);
  // A table of initial states beside good disturbances is looked at too, and what it shows is recorded.
  std::string repeated;
  for (int i = 0; i < 200; ++i) {
    surefoot::RandomStream random(6, "initial states beside disturbances",
                                  static_cast<std::uint64_t>(i % 50));
    for (const char* end : {",", ",", ",", "\n"})
      repeated += fmt::format("{:.17g}{}", random.uniform(-0.1, 0.1), end);
  }
  write("loop/initial.csv", repeated);
  expect_refused(small, {"initial.csv", "not independent samples"});
  ASSERT_EQ(surefoot(std::string(small) + "--allow-dependence --out a").code, 0);
  EXPECT_EQ(certificate("a/cost").at("variants").at(0).at("independence").at("exact_repeats").at("repeated"),
            150);
  EXPECT_EQ(surefoot("verify a/cost/certificate.json").code, 0);
  // Repeated disturbances beside good initial states.
  write("loop/disturbances.csv", rows_of(50));
  std::string different;
  for (int i = 0; i < 200; ++i) {
    surefoot::RandomStream random(7, "initial states beside disturbances", static_cast<std::uint64_t>(i));
    for (const char* end : {",", ",", ",", "\n"})
      different += fmt::format("{:.17g}{}", random.uniform(-0.1, 0.1), end);
  }
  write("loop/initial.csv", different);
  expect_refused(small, {"disturbances.csv", "not independent samples"});
  std::filesystem::remove(folder_ / "loop/disturbances.csv");
  for (const char* state : {"0.123456789012345,0.2123456789012345,0.05123456789012345,0\n", "0,0,0.1,0\n"}) {
    same.clear();
    for (int i = 0; i < 200; ++i) same += state;
    write("loop/initial.csv", same);
    expect_refused(small, {"initial.csv", "all 200 rollouts begin at the same state"});
    expect_refused(std::string(small) + "--allow-dependence", {"they are one sample"});
  }
}

TEST_F(RunLoop, SentencesSpeakOfRolloutsAndLimits) {
  const ProgramResult result = surefoot(std::string(small) + "--out a");
  ASSERT_EQ(result.code, 0) << result.err;
  std::string out = result.out;
  std::replace(out.begin(), out.end(), '\n', ' ');
  EXPECT_NE(out.find("of new rollouts of 15 ticks"), std::string::npos) << result.out;
  EXPECT_NE(out.find("iterations a tick"), std::string::npos) << result.out;
  EXPECT_EQ(out.find("problem"), std::string::npos) << result.out;
  const std::string page = slurp(folder_ / "a/report.html");
  EXPECT_EQ(page.find("of new problems"), std::string::npos);
  EXPECT_NE(page.find("does not say that so many rollouts are within the tube at all ticks"),
            std::string::npos);
  EXPECT_EQ(surefoot("compare a/cost/certificate.json a/failed/certificate.json").code, 2);
}

TEST_F(RunLoop, SaysThatNoBoundIsViolated) {
  const ProgramResult result = surefoot(std::string(small) + "--out a");
  ASSERT_EQ(result.code, 0) << result.err;
  const LoopJson body = certificate("a/violation");
  EXPECT_EQ(body.at("declared").at("tolerances").at(0), 1e-300);
  const std::string statements = body.at("statements").dump();
  EXPECT_NE(statements.find("is below 1e-300 (violates no bound)"), std::string::npos) << statements;
}

TEST_F(RunLoop, AFolderOfCheckpointsChangesNothing) {
  ASSERT_EQ(surefoot(std::string(small) + "--out whole").code, 0);
  ASSERT_EQ(surefoot(std::string(small) + "--checkpoint kept --out a").code, 0);
  EXPECT_EQ(slurp(folder_ / "whole/cost/certificate.json"), slurp(folder_ / "a/cost/certificate.json"));
}

}  // namespace
