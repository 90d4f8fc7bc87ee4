#include "surefoot/core/random.hpp"

#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace {

using surefoot::RandomStream;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

/// How tables of others are read, and that their rows are looked at, through the program.
class Inputs : public ProgramTest {
 protected:
  static std::string row(double scale, double rate, int columns) {
    std::string text;
    for (int k = 1; k <= columns; ++k)
      text += fmt::format("{}{:.17g}", k > 1 ? "," : "", scale * std::pow(rate, k));
    return text + '\n';
  }
  static std::string drawn_rows(int rows, int columns, std::uint64_t seed = 1) {
    std::string text;
    for (int i = 0; i < rows; ++i) {
      RandomStream random(seed, "inputs test", static_cast<std::uint64_t>(i));
      text += row(std::exp(random.normal()), random.uniform(0.4, 0.8), columns);
    }
    return text;
  }
  [[nodiscard]] Json certificate(const std::string& arguments) const {
    const ProgramResult result = surefoot("certify " + arguments + " --out report");
    EXPECT_EQ(result.code, 0) << arguments << "\n" << result.err;
    return result.code == 0 ? Json::parse(slurp(folder_ / "report" / "certificate.json")) : Json();
  }
  static std::string reading(const Json& body) { return body.at("variants").at(0).at("reading").dump(); }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& mentioned) const {
    const ProgramResult result = surefoot(arguments + " --out refused");
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.out << result.err;
    for (const std::string& word : mentioned)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << " in: " << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused" / "certificate.json")) << arguments;
  }
};

TEST_F(Inputs, StepsAreWhatLabelsSay) {
  write("powers.csv", "k=1e1,k=1e2,k=1e3\n" + drawn_rows(100, 3));
  const Json body = certificate("powers.csv");
  EXPECT_EQ(body.at("declared").at("steps"), Json({10, 100, 1000}));
  EXPECT_NE(reading(body).find("k=1e3"), std::string::npos) << reading(body);
  EXPECT_EQ(surefoot("verify report/certificate.json --data powers.csv").code, 0);
}

TEST_F(Inputs, LabelsThatSayNoStepAreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"t=0.1,t=0.2,t=0.3", "t=0.1"},
      {"step -10,step -5,step 5", "step -10"},
      {"k=1e-3,k=1e-2,k=1e-1", "k=1e-3"},
      {"10^1,10^2,10^3", "10^1"},
      {"k=1_000,k=2_000,k=3_000", "k=1_000"},
      {"iter-10,iter-20,iter-30", "iter-10"},
      {"k=1,j=2,k=3", "j=2"},
      {"k=1,k=2,final", "final"},
      {"1/10,2/10,3/10", "1/10"},
      {"k=1e300,k=2e300,k=3e300", "k=1e300"},
      {"0x1,0x2,0x3", "0x1"},
      {"k=2,k=10,k=1e1", "k=1e1"},
      {"t=1.0,t=2.0,t=3.0", "t=1.0"},
      {"log k=1,log k=2,log k=3", "log k=1"},
      {"q50,q90,q99", "q50"},
      {"problem 1,problem 2,problem 3", "problem 1"},
  };
  for (const auto& [header, label] : cases) {
    write("labels.csv", header + "\n" + drawn_rows(100, 3));
    expect_refused("certify labels.csv", {"labels.csv", label});
  }
}

TEST_F(Inputs, FirstRunIsNoHeader) {
  write("failed.csv", "0.5,timeout,timeout\n" + drawn_rows(100, 3));
  expect_refused("certify failed.csv", {"failed.csv:1", "timeout"});
  expect_refused("certify failed.csv --first-step 1", {"failed.csv:1", "timeout", "inf"});
  write("all_failed.csv", "timeout,timeout,timeout\n" + drawn_rows(100, 3));
  expect_refused("certify all_failed.csv --first-step 1", {"all_failed.csv:1", "timeout"});
  write("last_failed.csv", "0.5,0.25,failed\n" + drawn_rows(100, 3));
  expect_refused("certify last_failed.csv --first-step 1", {"last_failed.csv:1", "failed"});
}

TEST_F(Inputs, AWordForAFailedRunAndDecimalCommasAreRefused) {
  write("word.csv", "timeout\n" + drawn_rows(100, 1));
  expect_refused("certify word.csv --first-step 1", {"word.csv:1", "timeout", "inf"});
  std::string commas;
  for (int i = 0; i < 100; ++i) {
    RandomStream random(6, "inputs test", static_cast<std::uint64_t>(i));
    std::string number = fmt::format("{:.6f}\n", random.uniform());
    number[1] = ',';
    commas += number;
  }
  write("comma.csv", commas);
  expect_refused("certify comma.csv --first-step 1", {"comma.csv:", "decimal commas"});
}

TEST_F(Inputs, RowOfStepsIsAHeaderOnlyBeyondDoubtAndTheCertificateSaysSo) {
  write("steps.csv", "10,20,30\n" + drawn_rows(100, 3));
  const Json body = certificate("steps.csv");
  EXPECT_EQ(body.at("declared").at("steps"), Json({10, 20, 30}));
  EXPECT_EQ(body.at("variants").at(0).at("samples"), 100);
  EXPECT_NE(reading(body).find("the first row (10 .. 30) says the steps and is not a run"), std::string::npos)
      << reading(body);
  EXPECT_EQ(surefoot("verify report/certificate.json --data steps.csv").code, 0);
  expect_refused("certify steps.csv --first-step 1", {"steps.csv", "10 .. 30"});
  write("diverges.csv", "1,10,100\n" + drawn_rows(100, 3));
  expect_refused("certify diverges.csv", {"diverges.csv", "1 .. 100", "k=1, k=10", "--first-step"});
  EXPECT_EQ(certificate("diverges.csv --first-step 1").at("variants").at(0).at("samples"), 101);
  EXPECT_EQ(surefoot("verify report/certificate.json --data diverges.csv").code, 0);
  write("counts.csv", "1,10,100\n3,2,1\n5,5,6\n");
  expect_refused("certify counts.csv", {"counts.csv", "1 .. 100", "--first-step"});
  EXPECT_EQ(certificate("counts.csv --first-step 1").at("variants").at(0).at("samples"), 3);
  write("two.csv", "10,100\n" + drawn_rows(100, 2));
  expect_refused("certify two.csv", {"two.csv", "10 .. 100"});
}

TEST_F(Inputs, WhateverWasDecidedIsInTheCertificate) {
  write("indexed.csv", "instance,5,10,15\n0,1.5,0.5,0.1\n1,1.25,0.25,0.2\n");
  EXPECT_NE(reading(certificate("indexed.csv")).find("first column ('instance')"), std::string::npos);
  write("plain.csv", drawn_rows(50, 3));
  EXPECT_NE(reading(certificate("plain.csv --first-step 7")).find("steps 7 .. 9"), std::string::npos);
  write("words.csv", "early,middle,late\n" + drawn_rows(50, 3));
  EXPECT_NE(reading(certificate("words.csv --first-step 2")).find("early"), std::string::npos);
  write("labelled.csv", "k=5,k=6,k=7\n" + drawn_rows(50, 3));
  expect_refused("certify labelled.csv --first-step 1", {"labelled.csv", "5", "1"});
  const std::string page = slurp(folder_ / "report" / "report.html");
  EXPECT_NE(page.find("early"), std::string::npos) << "the page says it too";
}

std::string npy_of(std::string head, const std::string& data) {
  head.resize(117, ' ');
  head += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(head.size());
  file += '\0';
  return file + head + data;
}

TEST_F(Inputs, FlagsAreNoMetric) {
  write("flags.npy",
        npy_of("{'descr': '|b1', 'fortran_order': False, 'shape': (500, 2), }", std::string(1000, '\1')));
  expect_refused("certify flags.npy", {"flags.npy", "booleans"});
}

TEST_F(Inputs, ArrayOfOneDimensionIsNoTable) {
  write("trace.npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (500,), }",
                            std::string(500 * sizeof(double), '\0')));
  expect_refused("certify trace.npy", {"trace.npy", "one dimension", "one row"});
}

std::string chain(int rows) {
  RandomStream random(1, "chain of the inputs test", 0);
  std::string text;
  double state = random.normal();
  for (int i = 0; i < rows; ++i) {
    for (int k = 1; k <= 4; ++k) text += fmt::format("{}{:.9g}", k > 1 ? "," : "", std::exp(state - k));
    text += '\n';
    state = 0.9 * state + std::sqrt(0.19) * random.normal();
  }
  return text;
}

TEST_F(Inputs, RowsThatAreNoIndependentSamplesAreRefused) {
  std::string repeated;
  for (int i = 0; i < 100; ++i) repeated += drawn_rows(40, 5);
  write("repeated.csv", repeated);
  expect_refused("certify repeated.csv", {"repeated.csv", "3960 of 4000 rows repeat", "--group COLUMN",
                                          "new samples", "--allow-dependence"});
  std::string drawn_again;
  for (int i = 0; i < 4000; ++i) {
    RandomStream order(7, "inputs test", static_cast<std::uint64_t>(i));
    RandomStream random(8, "inputs test", static_cast<std::uint64_t>(order.uniform(0, 40)));
    drawn_again += fmt::format("{:.17g}\n", random.uniform());
  }
  write("drawn_again.csv", drawn_again);
  expect_refused("certify drawn_again.csv",
                 {"drawn_again.csv", "40 of 40 different rows stand there more than once"});
  write("chain.csv", chain(1000));
  expect_refused("certify chain.csv", {"chain.csv", "follow each other are more alike"});
  std::string trajectories;
  for (int path = 0; path < 60; ++path) {
    RandomStream random(2, "inputs test", static_cast<std::uint64_t>(path));
    double state = 3 * std::abs(random.normal());
    for (int tick = 0; tick < 40; ++tick, state *= 0.9)
      trajectories += row(state * std::exp(0.3 * random.normal()) + 1e-3, 0.6, 4);
  }
  write("trajectories.csv", trajectories);
  expect_refused("certify trajectories.csv", {"trajectories.csv", "follow each other are more alike"});
  std::string column;
  for (int k = 1; k <= 500; ++k) column += fmt::format("{:.9g}\n", std::pow(0.98, k));
  write("column.csv", column);
  expect_refused("certify column.csv", {"column.csv", "drift"});
}

TEST_F(Inputs, AllowedDependenceIsSaidInEverySentence) {
  write("chain.csv", chain(1000));
  const ProgramResult result = surefoot("certify chain.csv --allow-dependence --tolerances 1 --out chain");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("If the rows were independent, with confidence 0.99"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("if the rows were independent, at least"), std::string::npos) << result.out;
  EXPECT_NE(slurp(folder_ / "chain" / "report.html").find("If the rows were independent"), std::string::npos);
  const Json body = Json::parse(slurp(folder_ / "chain" / "certificate.json"));
  const Json& found = body.at("variants").at(0).at("independence");
  EXPECT_EQ(found.at("allowed"), true);
  EXPECT_NE(found.at("findings").dump().find("more alike"), std::string::npos);
  EXPECT_EQ(surefoot("verify chain/certificate.json --data chain.csv").code, 0);
  write("good.csv", drawn_rows(1000, 4));
  ASSERT_EQ(surefoot("certify good.csv --tolerances 1 --allow-dependence --out good").code, 0);
  EXPECT_EQ(slurp(folder_ / "good" / "certificate.json").find("if the rows were independent"),
            std::string::npos);
  const ProgramResult compared =
      surefoot("compare chain/certificate.json good/certificate.json --variants chain,good");
  EXPECT_EQ(compared.code, 2);
  EXPECT_NE(compared.err.find("independent"), std::string::npos) << compared.err;
}

TEST_F(Inputs, FewRowsSayThatTheirOrderIsNotChecked) {
  write("few.csv", drawn_rows(20, 4));
  const ProgramResult result = surefoot("certify few.csv --out few");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("order not checked"), std::string::npos) << result.out;
  EXPECT_NE(slurp(folder_ / "few" / "certificate.json").find("order not checked"), std::string::npos);
}

TEST_F(Inputs, ProblemsOfARunAreLookedAtToo) {
  const auto folder_with = [&](const std::string& name, const std::string& q) {
    std::filesystem::create_directory(folder_ / name);
    const std::string diagonal = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n";
    for (const char* matrix : {"P.mtx", "A.mtx"}) write(name + "/" + matrix, diagonal);
    write(name + "/q.csv", q);
    write(name + "/l.csv", "-1,-1\n");
    write(name + "/u.csv", "1,1\n");
  };
  std::string independent;
  std::string walk;
  double x = 0;
  double y = 0;
  RandomStream random(3, "inputs test", 0);
  for (int i = 0; i < 500; ++i) {
    const double a = random.normal();
    const double b = random.normal();
    independent += fmt::format("{:.17g},{:.17g}\n", a, b);
    x = 0.9 * x + a;
    y = 0.9 * y + b;
    walk += fmt::format("{:.17g},{:.17g}\n", x, y);
  }
  folder_with("independent", independent);
  folder_with("walk", walk);
  EXPECT_EQ(surefoot("run qp independent --iterations 20 --save-traces --out good").code, 0);
  EXPECT_EQ(surefoot("verify good/certificate.json --data good/traces.npy").code, 0);
  folder_with("pandas", "0,1\n" + independent);
  expect_refused("run qp pandas --iterations 20", {"pandas/q.csv", "0, 1, 2", "header=False"});
  expect_refused("run qp walk --iterations 20", {"walk", "problem data", "--allow-dependence"});
  EXPECT_EQ(surefoot("run qp walk --iterations 20 --allow-dependence --out walked").code, 0);
}

}  // namespace
