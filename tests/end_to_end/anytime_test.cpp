// Runs that are looked at again and added to: certify --anytime and --append, run --until, run command.
#include "surefoot/core/random.hpp"

#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace surefoot {
namespace {

using testing::ProgramResult;
using testing::ProgramTest;
using testing::slurp;
using AnytimeJson = nlohmann::json;

class Anytime : public ProgramTest {
 protected:
  /// Rows first .. first + count - 1 of a fixed sequence of runs; the next free number is fast.
  static std::string rows(int first, int count) {
    std::string text = "k=1,k=2,k=3\n";
    for (int i = first; i < first + count; ++i) {
      RandomStream random(5, "anytime end to end", static_cast<std::uint64_t>(i));
      const double u = random.uniform(0.1, 1.1);
      text += fmt::format("{:.17g},{:.17g},{:.17g}\n", u, u * random.uniform(0.02, 0.2),
                          random.uniform() < 0.004 ? 5.0 : u * random.uniform(1e-4, 8e-3));
    }
    return text;
  }
  [[nodiscard]] AnytimeJson certificate(const std::string& folder) const {
    return AnytimeJson::parse(slurp(folder_ / folder / "certificate.json"));
  }
  void expect_refused(const std::string& words, const std::string& why) const {
    const ProgramResult result = surefoot(words);
    EXPECT_EQ(result.code, 2) << words << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(why), std::string::npos) << words << ": " << result.err;
  }
  /// A program that prints rows of full precision for seeds; `before` may do something else for some.
  void write_solver(const std::string& before) const {
    write("solver.sh", "#!/bin/sh\n" + before +
                           "\nh=$(echo $1 | md5sum); a=$((0x$(echo $h | cut -c1-6))); b=$((0x$(echo $h | cut "
                           "-c7-12)))\nprintf '0.%08d123457,0.0%08d7654321\\n' $a $b\n");
    std::filesystem::permissions(folder_ / "solver.sh", std::filesystem::perms::owner_all);
  }
};

constexpr const char* declared = " --tolerances 0.01,0.1 --quantiles 0.5,0.9 --metric residual ";

TEST_F(Anytime, RowsAreAddedToACertificateThatWasDeclaredSo) {
  write("a.csv", rows(0, 300));
  write("b.csv", rows(300, 500));
  write("c.csv", rows(800, 250));
  write("all.csv", rows(0, 1050));
  const ProgramResult first = surefoot(std::string("certify a.csv --anytime") + declared + "--out report");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("With confidence 0.99 at every number of runs, all of these hold together"),
            std::string::npos)
      << first.out;
  EXPECT_EQ(surefoot("verify report --data a.csv").code, 0);
  ASSERT_EQ(surefoot("certify b.csv --append report --out report").code, 0);
  ASSERT_EQ(surefoot("certify c.csv --append report/certificate.json --out report").code, 0);
  const ProgramResult checked = surefoot("verify report --data a.csv b.csv c.csv");
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_EQ(surefoot("verify report --data a.csv c.csv b.csv").code, 1) << "another order";
  expect_refused("verify report --data a.csv b.csv", "counted from 3 tables");
  // As if all rows had been there at once.
  ASSERT_EQ(surefoot(std::string("certify all.csv --anytime --names a") + declared + "--out all").code, 0);
  AnytimeJson grown = certificate("report");
  const AnytimeJson whole = certificate("all");
  EXPECT_EQ(grown.at("claims"), whole.at("claims"));
  EXPECT_EQ(grown.at("statements"), whole.at("statements"));
  EXPECT_EQ(grown.at("assumptions"), whole.at("assumptions"));
  EXPECT_EQ(grown.at("variants").at(0).at("independence"), whole.at("variants").at(0).at("independence"));
  EXPECT_EQ(grown.at("variants").at(0).at("appended").at(1).at("samples"), 250);
  EXPECT_EQ(grown.at("variants").at(0).at("samples"), 1050);
}

TEST_F(Anytime, OnlySuchRowsAreAdded) {
  write("a.csv", rows(0, 300));
  write("b.csv", rows(300, 100));
  write("overlap.csv", rows(250, 100));
  write("other.csv", "k=1,k=2\n0.1,0.2\n");
  ASSERT_EQ(surefoot(std::string("certify a.csv --anytime") + declared + "--out report").code, 0);
  ASSERT_EQ(surefoot(std::string("certify a.csv") + declared + "--out fixed").code, 0);
  expect_refused("certify b.csv --append fixed --out x",
                 "only claims that were declared to hold at every number");
  expect_refused("certify a.csv --append report --out x", "a.csv: these rows are counted already");
  expect_refused("certify overlap.csv --append report --out x", "overlap.csv");
  expect_refused("certify other.csv --append report --out x", "other.csv: its columns are 2 steps 1 .. 2");
  expect_refused("certify b.csv --append report --tolerances 1 --out x",
                 "--tolerances: cannot stand beside --append");
  expect_refused("certify b.csv --append report --confidence 0.9 --out x", "--confidence: cannot stand");
  expect_refused("certify b.csv --append missing --out x", "missing");
  expect_refused("certify a.csv --anytime --choose both --out x", "choose: 'both' makes bands");
  expect_refused("certify a.csv --anytime --choose after --out x", "choose: 'after' makes bands");
  expect_refused("certify a.csv --anytime --risk-method kl --out x", "--risk-method: 'kl'");
  expect_refused("certify a.csv --anytime --claims success,bands --out x", "claims: 'bands'");
  std::filesystem::create_directory(folder_ / "elsewhere");
  std::filesystem::rename(folder_ / "a.csv", folder_ / "elsewhere" / "renamed.csv");
  EXPECT_EQ(surefoot("certify b.csv --append report --out found").code, 0) << "found by its digest";
  write("elsewhere/renamed.csv", rows(0, 299));
  expect_refused("certify b.csv --append report --out x",
                 "a.csv, which the certificate has counted, is not here");
}

TEST_F(Anytime, RunsAreMadeUntilTheClaimHolds) {
  const std::string mpc = "run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --iterations 60 --preset paper ";
  const ProgramResult result = surefoot(mpc + "--until \"90% below 1 after 60\" --save-traces --out report");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\"90% below 1 after 60\" holds after "), std::string::npos) << result.out;
  const AnytimeJson body = certificate("report");
  const auto samples = body.at("variants").at(0).at("samples").get<int>();
  EXPECT_GE(samples, 53) << "samples_needed_looking(0, 0.9, 0.01)";
  EXPECT_LT(samples, 300);
  EXPECT_EQ(body.at("claims").at("success_rate").size(), 1U) << "the claim alone is declared";
  EXPECT_EQ(body.at("run").at("until"), "90% below 1 after 60");
  EXPECT_EQ(surefoot("verify report --data report/traces.npy").code, 0);
  const ProgramResult rerun = surefoot("verify report --rerun " SUREFOOT_SOURCE_DIR "/examples/mpc");
  EXPECT_EQ(rerun.code, 0) << rerun.out << rerun.err;
  // The same whatever the number of threads.
  ASSERT_EQ(surefoot(mpc + "--until \"90% below 1 after 60\" --save-traces --threads 1 --out one").code, 0);
  EXPECT_EQ(slurp(folder_ / "one/certificate.json"), slurp(folder_ / "report/certificate.json"));

  const ProgramResult never =
      surefoot(mpc + "--until \"99% below 1e-9 within 5\" --max-runs 100 --out never");
  EXPECT_EQ(never.code, 3) << never.err;
  EXPECT_NE(never.out.find("UNDECIDED"), std::string::npos) << never.out;
  EXPECT_EQ(certificate("never").at("variants").at(0).at("samples"), 100);
  const ProgramResult again = surefoot("verify never --rerun " SUREFOOT_SOURCE_DIR "/examples/mpc");
  EXPECT_EQ(again.code, 0) << again.out << again.err;

  expect_refused(mpc + "--until \"90% under 1\" --out x", "at word 3, 'under'");
  expect_refused(mpc + "--until \"90% below 1 after 61\" --out x", "step 61 was not recorded");
  expect_refused(mpc + "--max-runs 5 --out x", "--max-runs: it is for --until");
  expect_refused(mpc + "--until \"90% below 1 after 60\" --choose both --out x", "choose: 'both'");
  expect_refused(mpc + "--until \"90% below 1 after 60\" --tolerances 2 --out x",
                 "1 is not among the tolerances");
}

TEST_F(Anytime, AnyProgramIsRunUntilTheClaimHolds) {
  write_solver("[ $1 = 4 ] && exit 1");
  const ProgramResult result = surefoot(
      "run command --until \"80% below 0.2 after 2\" --metric gap --out report --jobs 3 -- ./solver.sh {seed}");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("Counted as failed: 1 exit code 1 (first of seed 4)"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("holds after "), std::string::npos) << result.out;
  EXPECT_EQ(surefoot("verify report --data report/traces.npy").code, 0);
  EXPECT_EQ(surefoot("ask report/certificate.json --claim \"80% below 0.2 after 2\"").code, 0);
  const AnytimeJson body = certificate("report");
  EXPECT_EQ(body.at("run").at("command"), (std::vector<std::string>{"./solver.sh", "{seed}"}));
  expect_refused("verify report --rerun .", "not run for a certificate: [\"./solver.sh\",\"{seed}\"]");
  // One at a time: the same.
  ASSERT_EQ(
      surefoot(
          "run command --until \"80% below 0.2 after 2\" --metric gap --out one --jobs 1 -- ./solver.sh {seed}")
          .code,
      0);
  EXPECT_EQ(slurp(folder_ / "one/certificate.json"), slurp(folder_ / "report/certificate.json"));
  // A fixed number, with bands.
  ASSERT_EQ(surefoot("run command --samples 50 --first-seed 1000 --out fixed -- ./solver.sh {seed}").code, 0);
  EXPECT_FALSE(certificate("fixed").at("claims").at("band").empty());
  EXPECT_EQ(certificate("fixed").at("declared").at("grid_method"), "exact");
  EXPECT_EQ(
      surefoot("run command --until \"99% below 1e-9\" --max-runs 40 --out never -- ./solver.sh {seed}").code,
      3);
}

TEST_F(Anytime, BadCommandsAreOneLine) {
  write_solver("");
  const std::string run = "run command --out x ";
  expect_refused(run + "-- ./solver.sh {seed}", "--samples N");
  expect_refused(run + "--samples 5", "there is no command");
  expect_refused(run + "--samples 5 -- ./solver.sh", "has no {seed}");
  expect_refused(run + "--samples 5 -- ./missing {seed}", "./missing: cannot be run: No such file");
  expect_refused(run + "--samples 5 --until \"9% below 1\" -- ./solver.sh {seed}", "--max-runs");
  expect_refused(run + "--samples 5 --max-runs 6 -- ./solver.sh {seed}", "--max-runs: it is for --until");
  expect_refused(run + "--samples 5 --time-limit 0 -- ./solver.sh {seed}", "--time-limit: 0");
  expect_refused(run + "--samples 5 -- false {seed}", "none of the first 5 runs printed a row of numbers");
  expect_refused(run + "--samples 5 -- sh -c \"echo 1 2 x\" {seed}",
                 "5 no row of numbers (first of seed 0: 1 2 x)");
  expect_refused(
      run + "--samples 40 -- sh -c \"echo 0.123456789012345 0.0123456789012345 0.00123456789012345\" {seed}",
      "rows of sh: the rows of the table are not independent");
  expect_refused(run + "--until \"9% below\" -- ./solver.sh {seed}", "at its end: expected a number");
}

}  // namespace
}  // namespace surefoot
