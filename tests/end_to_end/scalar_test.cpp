// One number per problem and tables of text, through the program: which lines, which columns, which words.
#include "surefoot/core/random.hpp"

#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using surefoot::RandomStream;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

class Scalars : public ProgramTest {
 protected:
  /// Solve times in milliseconds, one of a hundred over the limit.
  static std::string times(int rows) {
    std::string text = "runtime (ms)\n";
    for (int i = 0; i < rows; ++i) {
      RandomStream random(7, "solve times", static_cast<std::uint64_t>(i));
      const double time = std::exp(0.3 * random.normal());
      text += i % 150 == 149 ? "> 4000\n" : fmt::format("{:.4f}\n", time);
    }
    return text;
  }

  /// In the form of a public benchmark of QP solvers: solvers, problems, settings.
  static std::string results(int problems, const std::string& failed = "False") {
    std::string text = "problem,solver,settings,runtime,found,primal_residual\n";
    for (int i = 0; i < problems; ++i) {
      RandomStream random(8, "benchmark results", static_cast<std::uint64_t>(i));
      for (const char* solver : {"clarabel", "osqp", "scs"})
        for (const char* settings : {"default", "high_accuracy"})
          text += fmt::format("\"MPC, {}\",{},{},{},{},1e-9\n", i, solver, settings,
                              1e-3 * (solver[0] == 's' ? 5 : 1) * std::exp(random.normal()),
                              solver[0] == 's' && i % 10 == 3 ? failed : "True");
    }
    return text;
  }

  [[nodiscard]] Json certificate(const std::string& folder = "surefoot-report") const {
    return Json::parse(slurp(folder_ / folder / "certificate.json"));
  }
  void expect_refused(const std::string& arguments, const std::string& said) const {
    const ProgramResult result = surefoot("certify " + arguments + " --out refused");
    EXPECT_EQ(result.code, 2) << arguments << result.out << result.err;
    EXPECT_NE(result.err.find(said), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused" / "certificate.json"));
  }
};

constexpr const char* of_benchmark =
    "results.csv --value runtime --variants solver --rows problem --where settings=default --failed found=False ";

TEST_F(Scalars, OneCommandSaysWhatSolvesTake) {
  write("times.csv", times(1500));
  const ProgramResult result = surefoot("certify times.csv --scalar --tolerances 2,3");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("times.csv: 10 of the numbers are given as \"> limit\" and count as infinite"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.out.find("hold together for the runtime of new problems"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("at least 95 % of problems take at most 1."), std::string::npos) << result.out;
  for (const char* word : {"iteration", "below", "at the start"})
    EXPECT_EQ(result.out.find(word), std::string::npos) << word << " in " << result.out;
  const Json body = certificate();
  EXPECT_EQ(body.at("metric"), Json({{"name", "runtime"}, {"unit", "ms"}}));
  EXPECT_EQ(body.at("variants").at(0).at("name"), "times");
  EXPECT_EQ(body.at("variants").at(0).at("non_finite_runs"), 10);
  EXPECT_EQ(body.at("variants").at(0).at("selection").at("censored"), 10);
  EXPECT_TRUE(body.at("scalar").get<bool>());
  EXPECT_TRUE(body.at("claims").at("iteration_budget").empty());
  EXPECT_EQ(surefoot("verify surefoot-report --data times.csv").code, 0);
  write("other.csv", times(1500) + "1\n");
  EXPECT_EQ(surefoot("verify surefoot-report --data other.csv").code, 1);
  const ProgramResult asked = surefoot("ask surefoot-report/certificate.json --claim '95% at most 2.5'");
  EXPECT_EQ(asked.code, 0) << asked.out << asked.err;
  EXPECT_NE(asked.out.find("the runtime of at least 95 % of new problems is at most 2.5 ms."),
            std::string::npos)
      << asked.out;
  EXPECT_EQ(surefoot("ask surefoot-report/certificate.json --claim '95% at most 2.5 after 3'").code, 2);
  const std::string page = slurp(folder_ / "surefoot-report" / "report.html");
  EXPECT_NE(page.find("Share of problems whose runtime (ms) is at most a value"), std::string::npos);
  EXPECT_EQ(page.find("iterations (columns)"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "surefoot-report" / "tables" / "quantiles.tex"));
}

TEST_F(Scalars, ColumnsAreVariantsOfOneConfidence) {
  std::string table = ",osqp [s],scs [s]\n";
  for (int i = 0; i < 200; ++i) {
    RandomStream random(1, "columns", static_cast<std::uint64_t>(i));
    table += fmt::format("{},{},{}\n", i, random.uniform(), 2 + random.uniform());
  }
  write("both.csv", table);
  ASSERT_EQ(surefoot("certify both.csv --scalar --metric 'solve time' --quantiles 0.9").code, 0);
  Json body = certificate();
  EXPECT_EQ(body.at("variants").at(1).at("name"), "scs");
  EXPECT_EQ(body.at("metric"), Json({{"name", "solve time"}, {"unit", "s"}}));
  EXPECT_EQ(body.at("claims").at("quantile").size(), 2U);
  EXPECT_EQ(surefoot("verify surefoot-report --data both.csv").code, 0);
  ASSERT_EQ(surefoot("certify both.csv --scalar --value scs --out one").code, 0);
  body = certificate("one");
  EXPECT_EQ(body.at("variants").size(), 1U);
  EXPECT_EQ(body.at("metric").at("name"), "scs");
  EXPECT_EQ(surefoot("verify one --data both.csv").code, 0);
}

TEST_F(Scalars, ABenchmarkIsCertifiedInOneCommand) {
  write("results.csv", results(64));
  const ProgramResult result = surefoot(std::string("certify ") + of_benchmark + "--unit s");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("If these problems were drawn at random from those you will meet"),
            std::string::npos)
      << result.out;
  const Json body = certificate();
  ASSERT_EQ(body.at("variants").size(), 3U);
  EXPECT_EQ(body.at("variants").at(2).at("name"), "scs");
  EXPECT_EQ(body.at("variants").at(2).at("samples"), 64);
  EXPECT_EQ(body.at("variants").at(2).at("non_finite_runs"), 7);
  for (const Json& statement : body.at("statements"))
    EXPECT_EQ(
        statement.get<std::string>().rfind(
            "If these problems were drawn at random from those you will meet, with confidence 0.99, for ", 0),
        0U)
        << statement;
  EXPECT_EQ(surefoot("verify surefoot-report --data results.csv").code, 0);
  const ProgramResult two = surefoot("verify surefoot-report --data results.csv results.csv");
  EXPECT_EQ(two.code, 2);
  EXPECT_NE(two.err.find("--data: 2 files for 1 tables"), std::string::npos) << two.err;
  write("other.csv", results(64, "Talse"));
  EXPECT_EQ(surefoot("verify surefoot-report --data other.csv").code, 1);
}

TEST_F(Scalars, WhatIsAmbiguousIsRefusedInOneLine) {
  write("results.csv", results(30));
  expect_refused(
      "results.csv --value runtime --variants solver --rows problem",
      "results.csv:3: problem 'MPC, 0' of solver 'clarabel' stands in line 2 already; if they differ "
      "elsewhere, choose with --where: 'settings', 'found', 'primal_residual'");
  expect_refused(
      "results.csv --variants solver --rows problem",
      "--value is missing: which column has the numbers? the columns are 'problem', 'solver', 'settings', "
      "'runtime', 'found', 'primal_residual'");
  expect_refused("results.csv --value runtime --variants solver", "--rows is missing");
  expect_refused("results.csv --value runtime", "'MPC, 0' in 'problem' is a text: say what it is");
  expect_refused("results.csv", "if each line is one result, name the column of its numbers with --value");
  expect_refused("results.csv --value runtime --variants solver --rows problem --where settings=defualt",
                 "no line has settings=defualt; 'settings' is 'default', 'high_accuracy'");
  expect_refused(std::string(of_benchmark) + "--failed found=true", "--failed: no line has found=true");
  expect_refused(std::string(of_benchmark) + "--missing drop",
                 "missing: 'drop' is not one of refuse, failed");
  expect_refused(std::string(of_benchmark) + "--claims budget", "a scalar has no iterations");
  expect_refused(std::string(of_benchmark) + "--first-step 1",
                 "--first-step: is for tables with a column per step");
  expect_refused(std::string(of_benchmark) + "--worst-case averaged:0.5 --dist0 1", "--worst-case: is for");
  expect_refused(std::string(of_benchmark) + "--steps 3", "a scalar has no steps");
  expect_refused(std::string(of_benchmark) + "--names a,b,c", "--names");
  write("traces.csv", "1,2\n3,4\n");
  expect_refused("traces.csv --missing failed", "--missing: is for tables of text");
  std::string text = results(30);
  text.erase(text.find("\"MPC, 4\",osqp,default"), text.find('\n', text.find("\"MPC, 4\",osqp,default")) + 1 -
                                                       text.find("\"MPC, 4\",osqp,default"));
  write("results.csv", text);
  expect_refused(
      of_benchmark,
      "1 of 30 numbers of osqp are missing, the first is problem 'MPC, 4' of solver 'osqp'; --missing "
      "failed counts them as failures");
  const ProgramResult counted = surefoot(std::string("certify ") + of_benchmark + "--missing failed");
  EXPECT_EQ(counted.code, 0) << counted.err;
  EXPECT_EQ(certificate().at("variants").at(1).at("non_finite_runs"), 1);
  EXPECT_EQ(surefoot("verify surefoot-report --data results.csv").code, 0);
}

TEST_F(Scalars, TracesMayBeLongToo) {
  std::string table = "problem\titer\tresidual\n";
  for (int i = 0; i < 150; ++i) {
    RandomStream random(3, "long traces", static_cast<std::uint64_t>(i));
    const double scale = std::exp(random.normal());
    for (int k = 1; k <= 12; ++k) table += fmt::format("{}\t{}\t{}\n", i, 10 * k, scale * std::pow(0.3, k));
  }
  write("traces.tsv", table);
  const ProgramResult result = surefoot("certify traces.tsv --value residual --rows problem");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("'iter' says the steps of traces"), std::string::npos) << result.err;
  const Json body = certificate();
  EXPECT_FALSE(body.contains("scalar"));
  EXPECT_EQ(body.at("variants").at(0).at("columns"), 12);
  EXPECT_EQ(body.at("variants").at(0).at("selection").at("steps"), "iter");
  EXPECT_FALSE(body.at("claims").at("iteration_budget").empty());
  EXPECT_EQ(surefoot("verify surefoot-report --data traces.tsv").code, 0);
}

TEST_F(Scalars, FromStandardInputAndUnderALimit) {
  write("times.csv", times(900));
  const ProgramResult piped = shell("$SUREFOOT certify - --scalar --out piped < times.csv");
  EXPECT_EQ(piped.code, 0) << piped.err;
  std::string large = "problem,t\n";
  for (int i = 0; i < 600'000; ++i) large += fmt::format("p{},1\n", i);
  write("large.csv", large);
  const ProgramResult refused =
      surefoot("certify large.csv --scalar --rows problem --memory-limit 140MB --out refused");
  EXPECT_EQ(refused.code, 4) << refused.out << refused.err;
  EXPECT_NE(refused.err.find("this needs"), std::string::npos) << refused.err;
}

TEST_F(Scalars, DefaultQuantilesThatTheProblemsCannotSupportAreLeftOut) {
  write("times.csv", times(140));
  ProgramResult result = surefoot("certify times.csv --scalar");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(certificate().at("declared").at("quantiles"), Json({0.5, 0.8, 0.9, 0.95}));
  EXPECT_NE(result.err.find("so few problems support no claim of the shares 0.99,0.999 at this confidence"),
            std::string::npos)
      << result.err;
  result = surefoot("certify times.csv --scalar --quantiles 0.99 --choose before");
  EXPECT_NE(result.out.find("A share of 99 % needs 459 runs without failure, you have 140."),
            std::string::npos)
      << result.out;
}

}  // namespace
