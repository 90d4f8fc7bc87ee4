#include "surefoot/experiments/run_family.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace surefoot::experiments {
namespace {

constexpr const char* identity = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";

/// Boxes of two variables, twelve problems.
class RunOfAFamily : public ::testing::Test {
 protected:
  RunOfAFamily() {
    folder_.write("P.mtx", identity);
    folder_.write("A.mtx", identity);
    std::string q;
    std::string starts;
    for (int i = 0; i < 12; ++i) {
      q += fmt::format("{},{}\n", 0.37 * i * i - 3, 1.7 - 0.29 * i);
      starts += fmt::format("{},1,0,0,0,0\n", 0.1 * i);
    }
    folder_.write("q.csv", q);
    folder_.write("l.csv", "-1,-1\n");
    folder_.write("u.csv", "1,1\n");
    folder_.write("start.csv", starts);
  }
  FamilyRun make(const FamilyRunOptions& options, const algorithms::OsqpOptions& osqp = {}) {
    files_ = std::make_unique<families::FamilyFiles>(folder_.path(), std::map<std::string, std::string>());
    return FamilyRun("boxes", *files_, osqp_run(*files_, osqp), options, {});
  }
  test_support::TemporaryFolder folder_;
  std::unique_ptr<families::FamilyFiles> files_;
  certify::CountJournal none_{io::CheckpointFile()};
};

TEST_F(RunOfAFamily, IsCountedAndRecorded) {
  FamilyRun run = make({.iterations = 30});
  const FamilyResult result = run.count(none_);
  EXPECT_EQ(result.certificate.variants.front().samples, 12);
  EXPECT_TRUE(result.traces.empty());
  const auto record = nlohmann::json::parse(result.certificate.run);
  EXPECT_EQ(record.at("solver"), "OSQP");
  EXPECT_EQ(record.at("iterations"), 30);
  EXPECT_EQ(record.at("start"), "cold");
  EXPECT_EQ(record.at("files").at("q").at("file"), "q.csv");
  EXPECT_EQ(run.data().size(), 5U);
  EXPECT_EQ(run.data()[2].first, "--q");
  EXPECT_EQ(run.rerun_files()[2].sha256, run.data()[2].second);
  EXPECT_EQ(run.problems().count, 12);
}

TEST_F(RunOfAFamily, TracesAreThoseOfTheCertificate) {
  FamilyRun run = make({.iterations = 10, .save_traces = true});
  const FamilyResult result = run.count(none_);
  EXPECT_FALSE(result.traces.empty());
  EXPECT_EQ(result.certificate.variants.front().source, "traces.npy");
  EXPECT_EQ(result.certificate.variants.front().sha256.size(), 64U);
}

TEST_F(RunOfAFamily, StartsAreNoPartOfTheProblems) {
  FamilyRun cold = make({.iterations = 10});
  const std::string problems = cold.problems().family;
  FamilyRun warm = make({.iterations = 10, .start = folder_ / "start.csv"});
  EXPECT_EQ(warm.problems().family, problems);
  EXPECT_EQ(warm.data().size(), 6U);
  EXPECT_EQ(nlohmann::json::parse(warm.count(none_).certificate.run).at("start"), "start.csv");
}

TEST_F(RunOfAFamily, WhatCannotBeCertifiedIsRefusedBeforeTheRuns) {
  EXPECT_INPUT_ERROR(make({.iterations = 0}), "--iterations: 0 is outside 1 ..");
  EXPECT_INPUT_ERROR(make({.dist0 = 1.0}), "--dist0: it is for --worst-case");
  EXPECT_INPUT_ERROR(make({.metric = "gap", .worst_case = "averaged:0.5"}), "about the metric residual");
  EXPECT_INPUT_ERROR(make({.worst_case = "averaged:0.5", .dist0 = 1.0}), "osqp");
  std::string repeated;
  for (int i = 0; i < 200; ++i) repeated += fmt::format("{}.5,{}.5\n", i % 3, 4 - i % 3);
  folder_.write("q.csv", repeated);
  EXPECT_INPUT_ERROR(make({}), "boxes");
  EXPECT_NO_THROW(make({.allow_dependence = true}));
  EXPECT_INPUT_ERROR(parse_preset("fast"), "--preset: 'fast' is not one of default, fixed, paper");
}

TEST_F(RunOfAFamily, AWorstCaseOfTheSolverIsStated) {
  FamilyRun run = make({.iterations = 10, .worst_case = "averaged:0.5", .dist0 = 100.0},
                       algorithms::OsqpOptions::paper());
  EXPECT_NE(run.count(none_).certificate.worst_case, "null");
}

}  // namespace
}  // namespace surefoot::experiments
