#include "surefoot/experiments/run_drawn.hpp"

#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/experiments/block_runs.hpp"
#include "surefoot/families/unconstrained_qp.hpp"
#include "surefoot/runs/metric.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_ranks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <mutex>
#include <set>

namespace surefoot::experiments {
namespace {

constexpr Index small_block = 10;
constexpr Index some_blocks = 2 * problems_of_block + 700;

DrawnRunOptions quadratics(Index samples, Index first = 0) {
  DrawnRunOptions options;
  options.samples = samples;
  options.first = first;
  options.iterations = 12;
  options.metric = "distance";
  return options;
}

std::string certificate_of_quadratics(certify::CountJournal& journal) {
  return certify::to_json(DrawnRun("unconstrained-qp", quadratics(some_blocks), {}).count(journal));
}

// What all problems at once give, by the ways that every other run goes.
TEST(RunDrawn, BlocksAreCountedAsOne) {
  constexpr Index first = 50;
  const families::UnconstrainedQp family;
  const problems::Table c = family.draw(0, families::SampleSet::test, some_blocks, first);
  const algorithms::GradientDescent op(family.problem(c), {1 / family.curvature().maxCoeff()});
  runs::RunOptions run_options;
  run_options.steps = 12;
  const certify::Certificate whole = certify::certify_run(
      op, runs::distance(std::make_shared<const problems::Table>(family.solutions(c))), {}, run_options);
  certify::CountJournal none{io::CheckpointFile()};
  const certify::Certificate blocks =
      DrawnRun("unconstrained-qp", quadratics(some_blocks, first), {}).count(none);
  EXPECT_EQ(blocks.variants.front().samples, some_blocks);
  const auto claims = [](const certify::Certificate& certificate) {
    return nlohmann::json::parse(certify::to_json(certificate)).at("claims");
  };
  EXPECT_EQ(claims(blocks), claims(whole));
}

TEST(RunDrawn, ProcessesDrawTheirPartAndAgree) {
  certify::CountJournal none{io::CheckpointFile()};
  const std::string alone = certificate_of_quadratics(none);
  std::mutex mutex;
  std::set<std::string> found;
  for (const int processes : {2, 3}) {
    test::ThreadRanks::run(processes, [&] {
      certify::CountJournal own{io::CheckpointFile()};
      const std::string certificate = certificate_of_quadratics(own);
      const std::scoped_lock lock(mutex);
      found.insert(certificate);
    });
  }
  EXPECT_EQ(found, std::set<std::string>{alone});
}

// Metrics that need solutions: every process solves its own problems, whether their numbers are the same
// (nothing that looks wrong is exchanged) or not.
TEST(RunDrawn, ProcessesAgreeOnMetricsThatNeedSolutions) {
  const auto certificate_of = [](const char* family, const char* metric, Index samples) {
    DrawnRunOptions options;
    options.block_size = small_block;
    options.samples = samples;
    options.iterations = 2;
    options.metric = metric;
    certify::CountJournal own{io::CheckpointFile()};
    return certify::to_json(DrawnRun(family, options, {}).count(own));
  };
  for (const char* family : {"model-predictive-control", "robust-kalman"}) {
    for (const char* metric : {"distance", "gap"}) {
      for (const Index samples : {2 * small_block, 2 * small_block + 5, 3 * small_block}) {
        const std::string alone = certificate_of(family, metric, samples);
        for (const int processes : {2, 3}) {
          std::mutex mutex;
          std::set<std::string> found;
          test::ThreadRanks::run(processes, [&] {
            const std::string certificate = certificate_of(family, metric, samples);
            const std::scoped_lock lock(mutex);
            found.insert(certificate);
          });
          EXPECT_EQ(found, std::set<std::string>{alone})
              << family << ", " << metric << ", " << samples << " problems in " << processes;
        }
      }
    }
  }
}

TEST(RunDrawn, StoppedWorkIsResumed) {
  certify::CountJournal none{io::CheckpointFile()};
  const std::string undisturbed = certificate_of_quadratics(none);
  const test_support::TemporaryFolder folder;
  int stops = 0;
  for (bool resume = false;; resume = true) {
    std::atomic<int> left{200};
    certify::CountJournal journal(io::CheckpointFile(folder / "counts", {{"work", "quadratics"}}, 0), resume,
                                  [&] {
                                    if (left-- <= 0) throw Interrupted();
                                  });
    try {
      EXPECT_EQ(certificate_of_quadratics(journal), undisturbed);
      break;
    } catch (const Interrupted&) {
      ++stops;
    }
  }
  EXPECT_GE(stops, 1);
}

TEST(RunDrawn, EveryFamilyDrawsByNumber) {
  certify::CountJournal none{io::CheckpointFile()};
  for (const DrawnFamily& family : drawn_families()) {
    DrawnRunOptions options;
    options.samples = 20;
    options.iterations = 5;
    const DrawnRun run(family.name, options, {});
    const certify::Certificate certificate = run.count(none);
    EXPECT_EQ(certificate.variants.front().samples, 20) << family.name;
    EXPECT_EQ(run.problems().family, family.key.text());
    options.first = 20;
    const DrawnRun later(family.name, options, {});
    EXPECT_FALSE(run.problems().overlaps(later.problems())) << family.name;
    EXPECT_NE(certify::to_json(later.count(none)), certify::to_json(certificate)) << family.name;
  }
}

TEST(RunDrawn, WhatCannotBeRunIsRefused) {
  EXPECT_INPUT_ERROR(DrawnRun("robust-calman", quadratics(10), {}),
                     "'robust-calman' is not one of robust-kalman, model-predictive-control, "
                     "unconstrained-qp; did you mean robust-kalman?");
  EXPECT_INPUT_ERROR(DrawnRun("unconstrained-qp", quadratics(0), {}), "--samples: say how many");
  EXPECT_INPUT_ERROR(DrawnRun("unconstrained-qp", quadratics(10, -1), {}), "first");
  DrawnRunOptions options = quadratics(10);
  options.metric = "prim_res";
  EXPECT_INPUT_ERROR(DrawnRun("unconstrained-qp", options, {}), "prim_res");
  options = quadratics(10);
  options.iterations = 0;
  EXPECT_INPUT_ERROR(DrawnRun("unconstrained-qp", options, {}), "--iterations: 0 is outside");
}

}  // namespace
}  // namespace surefoot::experiments
