#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

// minimize 1/2 x'Px + q'x, l <= Ax <= u: two variables, two rows, three instances.
class RunFamily : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    std::filesystem::create_directory(folder_ / "qp");
    write("qp/P.mtx", matrix({"1 1 2", "2 1 1", "1 2 1", "2 2 3"}));
    write("qp/A.mtx", matrix({"1 1 1", "2 2 1"}));
    write("qp/q.csv", "1,2\n-1,0.5\n0,-3\n");
    write("qp/l.csv", "-1,-1\n");
    write("qp/u.csv", "1,inf\n1,1\n1,1\n");
    std::filesystem::create_directory(folder_ / "cone");
    write("cone/P.mtx", matrix({"1 1 1", "2 2 1"}));
    write("cone/A.mtx", matrix({"1 1 1", "2 2 -1"}));
    write("cone/b.csv", "1,2\n");
    write("cone/c.csv", "1,1\n-1,1\n");
    write("cone/settings.toml", "iterations = 30\n[cones]\nzero = 1\nnonnegative = 1\n");
  }

  static std::string matrix(const std::vector<std::string>& entries) {
    std::string text =
        "%%MatrixMarket matrix coordinate real general\n2 2 " + std::to_string(entries.size()) + "\n";
    for (const std::string& entry : entries) text += entry + "\n";
    return text;
  }

  void expect_refused(const std::string& arguments, const std::vector<std::string>& mentioned) const {
    const ProgramResult result = surefoot("run " + arguments + " --out refused");
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.err << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& word : mentioned) {
      EXPECT_NE(result.err.find(word), std::string::npos) << "'" << word << "' is not in: " << result.err;
    }
    if (std::filesystem::exists(folder_ / "refused")) {
      EXPECT_TRUE(std::filesystem::is_empty(folder_ / "refused")) << arguments;
    }
  }
  // Replaces a file of the QP for one attempt.
  void expect_refused_with(const std::string& file, const std::string& content,
                           const std::vector<std::string>& mentioned) const {
    const std::string good = slurp(folder_ / file);
    write(file, content);
    expect_refused("qp qp", mentioned);
    write(file, good);
  }
};

TEST_F(RunFamily, GoesFromFilesToAVerifiableCertificate) {
  ASSERT_EQ(surefoot("run qp qp --iterations 60 --save-traces --out a").code, 0);
  EXPECT_EQ(surefoot("verify a/certificate.json --data a/traces.npy").code, 0);
  const Json body = Json::parse(slurp(folder_ / "a" / "certificate.json"));
  EXPECT_EQ(body.at("run").at("solver"), "OSQP");
  EXPECT_EQ(body.at("run").at("files").at("P").at("sha256").get<std::string>().size(), 64U);
  EXPECT_EQ(body.at("variants").at(0).at("samples"), 3);
  EXPECT_EQ(body.at("variants").at(0).at("last_step"), 60);
  ASSERT_EQ(surefoot("run cone cone --out b").code, 0);
  EXPECT_EQ(Json::parse(slurp(folder_ / "b" / "certificate.json")).at("run").at("iterations"), 30);
}

TEST_F(RunFamily, ScsSaysWhatItsStoppingTestSays) {
  const ProgramResult result = surefoot("run cone cone --iterations 200 --out a");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("Stopping test of scs 3.3.1 (recorded, not obeyed): 2 solved"), std::string::npos)
      << result.out;
  const Json run = Json::parse(slurp(folder_ / "a" / "certificate.json")).at("run");
  EXPECT_EQ(run.at("package"), "scs 3.3.1");
  EXPECT_EQ(run.at("settings").at("adaptive_scale"), true);
  EXPECT_EQ(run.at("termination").at("statuses").at("solved"), 2);
  EXPECT_EQ(slurp(folder_ / "a" / "terminations.csv").substr(0, 25), "instance,status,iteration");
  ASSERT_EQ(surefoot("run cone cone --iterations 200 --stop --metric unsolved --out b").code, 0);
  const Json stopped = Json::parse(slurp(folder_ / "b" / "certificate.json"));
  EXPECT_EQ(stopped.at("run").at("termination").at("obeyed"), true);
  EXPECT_EQ(surefoot("verify b/certificate.json --rerun cone").code, 0);
}

TEST_F(RunFamily, EveryMetricConverges) {
  for (const char* metric : {"residual", "primal", "dual", "violation", "gap", "distance", "nmse"}) {
    for (const char* family : {"qp qp", "qp qp --preset fixed", "cone cone", "cone cone --preset fixed"}) {
      const ProgramResult result =
          surefoot(std::string("run ") + family + " --iterations 2000 --quantiles 0.5 --metric " + metric);
      ASSERT_EQ(result.code, 0) << metric << ": " << result.err;
      const Json body = Json::parse(slurp(folder_ / "surefoot-report" / "certificate.json"));
      const Json last = body.at("claims").at("success_rate").at(body.at("declared").at("steps").size() - 1);
      EXPECT_EQ(last.at("failures"), 0) << family << " " << metric << ": strictest tolerance, last iteration";
    }
  }
}

TEST_F(RunFamily, FlagsStandBeforeSettings) {
  ASSERT_EQ(surefoot("run cone cone --iterations 12").code, 0);
  EXPECT_EQ(Json::parse(slurp(folder_ / "surefoot-report" / "certificate.json")).at("run").at("iterations"),
            12);
  write("mine.toml", "rho = 1.0\ntolerances = [0.01, 0.1]\niterations = 9\n");
  ASSERT_EQ(surefoot("run qp qp --settings mine.toml --rho 0.5").code, 0);
  const Json body = Json::parse(slurp(folder_ / "surefoot-report" / "certificate.json"));
  EXPECT_EQ(body.at("run").at("settings").at("rho"), 0.5);
  EXPECT_EQ(body.at("declared").at("tolerances"), Json({0.01, 0.1}));
}

TEST_F(RunFamily, RefusesBadFamiliesNamingFileAndPlace) {
  expect_refused_with("qp/P.mtx", matrix({"1 1 2", "2 1 1", "2 2 3"}), {"P.mtx", "symmetric"});
  expect_refused_with("qp/P.mtx", matrix({"1 1 -2", "2 2 3"}), {"P.mtx", "semidefinite"});
  expect_refused_with("qp/q.csv", "1,2,3\n", {"q.csv", "3", "2"});
  expect_refused_with("qp/q.csv", "1,2\n3,4\n", {"q.csv", "rows"});
  expect_refused_with("qp/l.csv", "2,-1\n", {"l.csv", "entry 0", "instance 0"});
  expect_refused_with("qp/u.csv", "1,nan\n", {"u.csv", "nan"});
  expect_refused_with("qp/q.csv", "1,inf\n", {"q.csv", "inf"});
  expect_refused_with("qp/P.mtx", "not a matrix\n", {"P.mtx"});
  std::filesystem::remove(folder_ / "qp" / "u.csv");
  expect_refused("qp qp", {"qp", "u"});
  expect_refused("qp nowhere", {"nowhere"});
  expect_refused("cone cone --nonnegative 5", {"cones", "6", "2"});
  expect_refused("cone cone --second-order 0", {"second-order"});
}

TEST_F(RunFamily, RefusesBadSettings) {
  write("mine.toml", "alpha = 1.0\n\nbox = 3\n");
  expect_refused("cone cone --settings mine.toml", {"mine.toml:3", "box"});
  write("mine.toml", "rho = = 1\n");
  expect_refused("qp qp --settings mine.toml", {"mine.toml:1"});
  expect_refused("qp qp --settings missing.toml", {"missing.toml"});
  expect_refused("qp qp --rho -1", {"rho", "-1"});
  expect_refused("qp qp --alpha 2.5", {"alpha", "2.5"});
  expect_refused("qp qp --metric speed", {"speed", "residual"});
  expect_refused("qp qp --preset fast", {"fast", "default, fixed, paper"});
  expect_refused("cone cone --preset fast", {"fast", "fixed, paper"});
  expect_refused("cone cone --preset fast", {"fast", "default, fixed, paper"});
  expect_refused("cone cone --time-limit-secs 1", {"--time-limit-secs", "clock"});
  expect_refused("cone cone --eps-abs -1", {"eps_abs", "-1"});
  expect_refused("cone cone --acceleration-interval 0", {"acceleration_interval", "0"});
  expect_refused("cone cone --power 2", {"power", "2"});
  write("cone/b.csv", "1,nan\n");
  expect_refused("cone cone", {"b.csv", "nan"});
  write("cone/b.csv", "1,2\n");
  write("cone/P.mtx", matrix({"1 1 -1", "2 2 1"}));
  expect_refused("cone cone", {"P.mtx", "semidefinite"});
  write("cone/P.mtx", matrix({"1 1 1", "2 2 1"}));
  expect_refused("qp qp --adaptive-rho time", {"--adaptive-rho", "clock", "iterations or off"});
  expect_refused("qp qp --adaptive-rho always", {"--adaptive-rho", "always", "iterations, off"});
  expect_refused("qp qp --eps-abs -1", {"eps_abs", "-1"});
  expect_refused("qp qp --eps-abs 0 --eps-rel 0", {"eps_abs, eps_rel", "both are 0"});
  expect_refused("qp qp --adaptive-rho-tolerance 0.5", {"adaptive_rho_tolerance", "0.5"});
  expect_refused("qp qp --check-termination -5", {"check_termination", "-5"});
  expect_refused("qp qp --stop --check-termination 0", {"--stop", "--check-termination"});
  expect_refused("qp qp --preset fixed --metric unsolved", {"metric", "unsolved"});
  expect_refused("cone cone --preset fixed --metric unsolved", {"metric", "unsolved"});
  expect_refused("qp qp --iterations 1000000000000", {"1000000000000"});
  expect_refused("qp qp --start missing.csv", {"missing.csv"});
}

TEST_F(RunFamily, TheDefaultIsThePackageAsItIsInstalledAndSaysSo) {
  const ProgramResult run = surefoot("run qp qp --iterations 100 --out a");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("Stopping test of osqp 1.1.3 (recorded, not obeyed): 3 solved; iterations "
                         "to termination: median "),
            std::string::npos)
      << run.out;
  const Json body = Json::parse(slurp(folder_ / "a" / "certificate.json")).at("run");
  EXPECT_EQ(body.at("package"), "osqp 1.1.3");
  EXPECT_EQ(body.at("settings").at("adaptive_rho"), true);
  EXPECT_EQ(body.at("settings").at("max_iter"), 100);
  EXPECT_EQ(body.at("termination").at("statuses"), Json({{"solved", 3}}));
  EXPECT_EQ(body.at("termination").at("obeyed"), false);
  EXPECT_NE(slurp(folder_ / "a" / "report.html").find("osqp 1.1.3"), std::string::npos);
  const std::string rows = slurp(folder_ / "a" / "terminations.csv");
  EXPECT_EQ(
      rows.find(
          "instance,status,iterations,prim_res,dual_res,duality_gap,obj_val,rho,rho_updates\n0,solved,"),
      0U)
      << rows;
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 4);
  EXPECT_EQ(surefoot("verify a --rerun qp").code, 0);
}

TEST_F(RunFamily, WithoutAdaptivityThereIsNoStoppingTest) {
  const ProgramResult fixed = surefoot("run qp qp --iterations 30 --preset fixed --out a");
  ASSERT_EQ(fixed.code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a" / "terminations.csv"));
  EXPECT_EQ(fixed.out.find("Stopping test"), std::string::npos);
  const ProgramResult package = surefoot("run qp qp --iterations 30 --preset package --out b");
  ASSERT_EQ(package.code, 0);
  EXPECT_NE(package.err.find("--preset package: an older name of fixed"), std::string::npos) << package.err;
  EXPECT_EQ(slurp(folder_ / "a" / "certificate.json"), slurp(folder_ / "b" / "certificate.json"));
}

TEST_F(RunFamily, StoppedRunsRepeatTheirLastPoint) {
  ASSERT_EQ(surefoot("run qp qp --iterations 400 --save-traces --out a").code, 0);
  const ProgramResult stopped = surefoot("run qp qp --iterations 400 --stop --save-traces --out b");
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_NE(stopped.out.find("(obeyed): 3 solved"), std::string::npos) << stopped.out;
  EXPECT_EQ(slurp(folder_ / "a" / "terminations.csv"), slurp(folder_ / "b" / "terminations.csv"));
  EXPECT_NE(slurp(folder_ / "a" / "traces.npy"), slurp(folder_ / "b" / "traces.npy"));
  EXPECT_EQ(surefoot("verify b --rerun qp").code, 0);
}

TEST_F(RunFamily, InfeasibleAndUnboundedProblemsAreDataWithAStatus) {
  write("qp/A.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 1\n2 2 1\n");  // row 3 is zero
  write("qp/P.mtx", matrix({"1 1 2"}));
  write("qp/q.csv", "1,2\n1,-1\n0,-3\n");
  write("qp/l.csv", "-1,-1,0.5\n-1,-1,-1\n-1,-1,0\n");
  write("qp/u.csv", "1,inf,1\n1,inf,1\n1,1,0\n");
  const ProgramResult run = surefoot("run qp qp --iterations 400 --out a");
  ASSERT_EQ(run.code, 0) << run.err;
  const Json body = Json::parse(slurp(folder_ / "a" / "certificate.json")).at("run").at("termination");
  EXPECT_EQ(body.at("statuses"), Json({{"solved", 1}, {"primal infeasible", 1}, {"dual infeasible", 1}}))
      << body.dump();
}

// OSQP with the paper's settings is 1/2-averaged in (x, w + y): its worst case stands beside the claims, as
// far as dist0 is a fact.
TEST_F(RunFamily, TheWorstCaseOfAnAveragedMapStandsBesideTheClaims) {
  const std::string qp = "qp qp --iterations 20 --steps 1,5,20 --tolerances 1 --quantiles 0.5 ";
  const ProgramResult made =
      surefoot("run " + qp + "--preset paper --worst-case averaged:0.5 --dist0 9 --out w");
  ASSERT_EQ(made.code, 0) << made.err;
  const Json certificate = Json::parse(slurp(folder_ / "w/certificate.json"));
  const Json& part = certificate["worst_case"];
  EXPECT_EQ(part["dist0"], "stated");
  EXPECT_EQ(part["variables"], "the Euclidean norm of (x, w + y)");
  ASSERT_GE(part["proof"]["bounds"].size(), 3U);
  EXPECT_NEAR(part["proof"]["bounds"][0]["bound"].get<double>(), 9.0, 1e-5);
  EXPECT_NE(certificate["assumptions"].back().get<std::string>().find("(x, w + y)"), std::string::npos);
  EXPECT_EQ(surefoot("verify w/certificate.json").code, 0);
  const ProgramResult repeated = surefoot("verify w/certificate.json --rerun qp");
  EXPECT_EQ(repeated.code, 0) << repeated.out << repeated.err;
  // A start of its own: dist0 is then that of this start. (x, y, w) = 0 is the cold start.
  write("zero.csv", "0,0,0,0,0,0\n0,0,0,0,0,0\n0,0,0,0,0,0\n");
  const ProgramResult started =
      surefoot("run " + qp + "--preset paper --start zero.csv --worst-case averaged:0.5 --dist0 9 --out s");
  ASSERT_EQ(started.code, 0) << started.err;
  EXPECT_EQ(Json::parse(slurp(folder_ / "s/certificate.json"))["worst_case"], part);
  write("outside.csv", "0,0,0,0,0,0\n0,0,0,0,0,1e9\n0,0,0,0,0,0\n");
  expect_refused(qp + "--preset paper --start outside.csv --worst-case averaged:0.5 --dist0 9",
                 {"--worst-case", "problem 1", "w = clip(w + y, l, u)"});
  write("short.csv", "0,0,0\n0,0,0\n0,0,0\n");
  expect_refused(qp + "--preset paper --start short.csv --worst-case averaged:0.5 --dist0 9", {"--start"});

  expect_refused(qp + "--worst-case averaged:0.5 --dist0 9", {"--worst-case", "--preset paper"});
  expect_refused(qp + "--preset paper --rho 2 --worst-case averaged:0.5 --dist0 9", {"rho = sigma = 1"});
  expect_refused(qp + "--preset paper --alpha 1.6 --worst-case averaged:0.5 --dist0 9", {"0.8-averaged"});
  expect_refused(qp + "--preset paper --metric optimality --worst-case averaged:0.5 --dist0 9", {"residual"});
  expect_refused(qp + "--preset paper --worst-case averaged:0.5", {"--dist0"});
  expect_refused(qp + "--preset paper --worst-case averaged:0.5 --dist0 1e-9", {"the data show"});
  expect_refused("cone cone --worst-case averaged:0.5 --dist0 9", {"acceleration"});
  expect_refused("cone cone --preset paper --worst-case averaged:0.5 --dist0 9", {"SCS"});
}

}  // namespace
