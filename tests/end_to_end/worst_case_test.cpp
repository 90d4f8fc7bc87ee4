#include "support/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

namespace {

using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;

class WorstCase : public ProgramTest {};

TEST_F(WorstCase, QuietOutputIsTheNumberAndDist0ScalesIt) {
  const ProgramResult one = surefoot("worst-case averaged --alpha 0.5 --steps 70 --quiet");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NEAR(std::stod(one.out), 0.0727549, 5e-8);
  const ProgramResult more = surefoot("worst-case averaged --steps 70 --dist0 26 --quiet");
  EXPECT_NEAR(std::stod(more.out), 26.0 * std::stod(one.out), 1e-9);
}

TEST_F(WorstCase, WritesAProofThatVerifyReplaysAndAFigure) {
  const ProgramResult made =
      surefoot("worst-case gradient --L 1 --mu 0.01 --steps 1..6 --metric gap --out w");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("gap <="), std::string::npos) << made.out;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "w/proof.json"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "w/worst_case.pdf")) << made.err;
  const ProgramResult checked = surefoot("verify w/proof.json");
  EXPECT_EQ(checked.code, 0) << checked.out;
  EXPECT_NE(checked.out.find("6 of 6 bounds are proven"), std::string::npos) << checked.out;
  std::string text = slurp(folder_ / "w/proof.json");
  text.replace(text.find("\"mu\":0.01"), 9, "\"mu\":0.02");
  write("w/proof.json", text);
  const ProgramResult forged = surefoot("verify w/proof.json");
  EXPECT_EQ(forged.code, 1);
  EXPECT_NE(forged.out.find("NOT VERIFIED"), std::string::npos);
}

TEST_F(WorstCase, BadInputIsOneLineAndNoProofIsExitCode3) {
  for (const char* arguments :
       {"worst-case averaged --steps 0", "worst-case averaged --steps 3 --alpha 1.5",
        "worst-case averaged --steps x", "worst-case newton --steps 3",
        "worst-case gradient --steps 3 --mu 1", "worst-case gradient --steps 3 --metric x",
        "worst-case gradient --steps 3 --step -1", "worst-case averaged --steps 5..3",
        "worst-case gradient --steps 3 --dist0 1 --gap0 1", "worst-case averaged --steps 3 --dist0 nan"}) {
    const ProgramResult result = surefoot(arguments);
    EXPECT_EQ(result.code, 2) << arguments << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_TRUE(result.out.empty());
  }
  // 10^400 times the start: no number can say it.
  const ProgramResult none = surefoot("worst-case gradient --step 1e100 --steps 4 --quiet");
  EXPECT_EQ(none.code, 3) << none.out;
  EXPECT_TRUE(none.out.empty());
  EXPECT_NE(none.err.find("no proof was found"), std::string::npos);
}

TEST_F(WorstCase, QuietHasALineForEveryStep) {
  // A second step of 1e100: what it ends in is no number.
  const ProgramResult some = surefoot("worst-case gradient --step 1,1e100 --steps 1,2,4 --quiet");
  EXPECT_EQ(some.code, 3) << some.out;
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 3) << some.out;
  EXPECT_TRUE(some.out.ends_with("-\n")) << some.out;
}

TEST_F(WorstCase, StepSizesAreSearched) {
  const ProgramResult found = surefoot("worst-case gradient --steps 1 --optimize steps --out o");
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_NE(found.out.find("--step 1.5"), std::string::npos) << found.out;
  EXPECT_EQ(surefoot("verify o/proof.json").code, 0);
  EXPECT_EQ(surefoot("worst-case gradient --steps 1,2 --optimize steps").code, 2);
  EXPECT_EQ(surefoot("worst-case gradient --steps 1 --optimize time").code, 2);
  EXPECT_EQ(surefoot("worst-case averaged --steps 1 --optimize steps").code, 2);
}

// A table whose metric is the residual of a 1/2-averaged operator, stated by the user.
TEST_F(WorstCase, StandsInACertificateWithItsProofAndWhatItRestsOn) {
  std::string table = "k=1,k=2,k=4,k=8\n";
  for (int row = 0; row < 60; ++row) {
    const double size = 0.1 + 0.01 * row + 0.003 * (row * row % 7);
    table += std::to_string(size) + "," + std::to_string(0.49 * size) + "," + std::to_string(0.2 * size) +
             "," + std::to_string(0.1 * size) + "\n";
  }
  write("table.csv", table);
  const std::string certify =
      "certify table.csv --metric residual --quantiles 0.5 --allow-dependence --tolerances 0.5";
  const ProgramResult made = surefoot(certify + " --worst-case averaged:0.5 --dist0 26 --out c");
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string text = slurp(folder_ / "c/certificate.json");
  EXPECT_NE(text.find("Stated by the user, not checked"), std::string::npos);
  EXPECT_NE(text.find("surefoot-proof"), std::string::npos);
  const std::string page = slurp(folder_ / "c/report.html");
  EXPECT_NE(page.find("of some 0.5-averaged operator and"), std::string::npos);
  EXPECT_NE(page.find("every problem (w), if as stated"), std::string::npos) << "the curve in the page";
  EXPECT_NE(slurp(folder_ / "c/tables/quantiles.tex").find("every problem (w), if as stated"),
            std::string::npos);
  EXPECT_NE(slurp(folder_ / "c/tables/quantiles.md").find("as the user states"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "c/curves.csv").find("condition,worst_case,with_worst_case\n"),
            std::string::npos);
  const ProgramResult checked = surefoot("verify c/certificate.json");
  EXPECT_EQ(checked.code, 0) << checked.out;

  // A tolerance that the worst case reaches, and that 60 samples cannot promise to all.
  const ProgramResult reached = surefoot(certify + ",6.8,8 --worst-case averaged:0.5 --dist0 26 --out r");
  ASSERT_EQ(reached.code, 0) << reached.err;
  EXPECT_NE(reached.out.find("(w)"), std::string::npos) << reached.out;
  const auto body = nlohmann::json::parse(slurp(folder_ / "r/certificate.json"));
  std::size_t said = 0;
  for (const auto& statement : body["statements"]) {
    const auto sentence = statement.get<std::string>();
    said += sentence.starts_with("If the residual is |z^k - z^(k-1)| of some 0.5-averaged operator") &&
                    sentence.ends_with(
                        "the residual of every problem is below 6.8 after 6 iterations and ever after.")
                ? 1U
                : 0U;
  }
  EXPECT_EQ(said, 1U) << body["statements"];
  std::size_t gained = 0;
  for (const auto& claim : body["claims"]["success_rate"]) {
    const bool proven = claim["tolerance"] == 6.8 && claim["step"] >= 6;
    if (!proven) continue;
    EXPECT_LT(claim["lower_bound"].get<double>(), 1.0);
    EXPECT_EQ(claim["with_worst_case"].get<double>(), 1.0);
    ++gained;
  }
  EXPECT_EQ(gained, 1U);  // k = 8
  EXPECT_EQ(surefoot("verify r/certificate.json --data table.csv").code, 0);

  // An estimate is drawn and used by nothing.
  const ProgramResult estimate =
      surefoot(certify + ",6.8,8 --worst-case averaged:0.5 --estimated-dist0 26 --out e");
  ASSERT_EQ(estimate.code, 0) << estimate.err;
  EXPECT_EQ(estimate.out.find("(w)"), std::string::npos) << estimate.out;
  EXPECT_NE(estimate.out.find("estimate of |z^0 - z*|"), std::string::npos) << estimate.out;
  EXPECT_EQ(slurp(folder_ / "e/certificate.json").find("with_worst_case"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "e/report.html").find("ESTIMATED"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "e/curves.csv").find("estimated_worst_case"), std::string::npos);
  EXPECT_EQ(surefoot("verify e/certificate.json --data table.csv").code, 0);

  // What the data refute.
  const ProgramResult refuted = surefoot(certify + " --worst-case averaged:0.5 --dist0 0.1 --out x");
  EXPECT_EQ(refuted.code, 2);
  EXPECT_NE(refuted.err.find("the data show that the statement is false"), std::string::npos) << refuted.err;
  EXPECT_EQ(surefoot(certify + " --worst-case averaged:0.5 --dist0 26 --estimated-dist0 26").code, 2);
  EXPECT_EQ(surefoot(certify + " --estimated-dist0 26").code, 2);
  EXPECT_EQ(surefoot(certify + " --worst-case averaged:0.5").code, 2);
  EXPECT_EQ(surefoot(certify + " --worst-case fista:1 --dist0 1").code, 2);
  EXPECT_EQ(surefoot(certify + " --worst-case averaged:2 --dist0 1").code, 2);
  EXPECT_EQ(surefoot(certify + " --dist0 1").code, 2);
}

}  // namespace
