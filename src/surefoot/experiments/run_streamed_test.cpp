#include "surefoot/experiments/run_streamed.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/experiments/block_runs.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace surefoot::experiments {
namespace {

constexpr const char* streamed_identity =
    "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";

/// Boxes of two variables, a little more than two blocks of problems.
class StreamOfAFamily : public ::testing::Test {
 protected:
  static constexpr Index rows = 2 * problems_of_block + 300;
  StreamOfAFamily() {
    folder_.write("P.mtx", streamed_identity);
    folder_.write("A.mtx", streamed_identity);
    std::string q;
    for (Index i = 0; i < rows; ++i) {
      RandomStream random(1, "linear terms of a test", static_cast<std::uint64_t>(i));
      q += fmt::format("{},{}\n", 3 * random.normal(), 2 * random.normal());
    }
    folder_.write("q.csv", q);
    folder_.write("l.csv", "-1,-1\n");
    folder_.write("u.csv", "1,1\n");
  }
  std::string streamed(const FamilyRunOptions& options = {.iterations = 12}) {
    families::FamilyFiles files(folder_.path(), {});
    const auto solver = streamed_osqp(files, {});
    families::FamilyStream stream(files, {"q", "l", "u"});
    StreamedRun run("boxes", files, stream, solver, options, {});
    certify::CountJournal none{io::CheckpointFile()};
    return certify::to_json(run.count(none).certificate);
  }
  test_support::TemporaryFolder folder_;
};

TEST_F(StreamOfAFamily, HasTheCertificateOfTheFamilyThatIsHeld) {
  families::FamilyFiles files(folder_.path(), {});
  FamilyRun held("boxes", files, osqp_run(files, {}), {.iterations = 12}, {});
  certify::CountJournal none{io::CheckpointFile()};
  const certify::Certificate certificate = held.count(none).certificate;
  EXPECT_EQ(certificate.variants.front().samples, rows);
  EXPECT_EQ(streamed(), certify::to_json(certificate));
}

TEST_F(StreamOfAFamily, AMetricThatNeedsSolutionsIsTheSame) {
  families::FamilyFiles files(folder_.path(), {});
  FamilyRun held("boxes", files, osqp_run(files, {}), {.metric = "distance", .iterations = 8}, {});
  certify::CountJournal none{io::CheckpointFile()};
  EXPECT_EQ(streamed({.metric = "distance", .iterations = 8}),
            certify::to_json(held.count(none).certificate));
}

TEST_F(StreamOfAFamily, RefusesWhatNeedsAllProblemsAtOnce) {
  using test_support::input_error;
  EXPECT_TRUE(test::contains(input_error([&] { (void)streamed({.save_traces = true}); }), "--save-traces"));
  EXPECT_TRUE(test::contains(input_error([&] { (void)streamed({.start = "start.csv"}); }), "--start"));
}

TEST_F(StreamOfAFamily, RefusesRepeatedProblemsAndNumbersThatAreNone) {
  using test_support::input_error;
  std::string again;
  std::string bad;
  for (Index i = 0; i < rows; ++i) {
    RandomStream random(1, "linear terms of a test", static_cast<std::uint64_t>(i % 40));
    again += fmt::format("{:.17g},{:.17g}\n", random.normal(), random.normal());
    bad += i == problems_of_block + 5
               ? "nan,1\n"
               : fmt::format("{},{}\n", 0.37 * static_cast<double>(i * i % 9973), i % 7);
  }
  folder_.write("q.csv", again);
  EXPECT_TRUE(test::contains(input_error([&] { (void)streamed(); }), "boxes: the rows of the problem data"));
  folder_.write("q.csv", bad);
  const std::string refused =
      input_error([&] { (void)streamed({.iterations = 3, .allow_dependence = true}); });
  EXPECT_TRUE(test::contains(refused, "q.csv: q"));
  EXPECT_TRUE(test::contains(refused, fmt::format("counted from row {} on", problems_of_block)));
}

}  // namespace
}  // namespace surefoot::experiments
