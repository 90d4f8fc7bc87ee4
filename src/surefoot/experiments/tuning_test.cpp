#include "surefoot/experiments/tuning.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace surefoot::experiments {
namespace {

/// Runs of 60 steps that settle at a time of their own: sooner the nearer rho is to 0.3; one in a hundred
/// problems is never solved.
class Synthetic final : public Tunable {
 public:
  explicit Synthetic(bool has_default = true, double slow = 1) : has_default_(has_default), slow_(slow) {}

  [[nodiscard]] const SettingSpace& space() const override { return space_; }
  [[nodiscard]] bool has_default() const override { return has_default_; }
  [[nodiscard]] std::optional<SettingValues> default_candidate() const override {
    return has_default_ && !own_default_ ? std::optional(SettingValues{usual_}) : std::nullopt;
  }
  [[nodiscard]] std::string metric() const override { return "error"; }
  [[nodiscard]] Index iterations() const override { return 60; }
  [[nodiscard]] Index runs_of_piece() const override { return runs_of_piece_; }

  [[nodiscard]] double time(double rho, Index problem) const {
    RandomStream random(3, "synthetic", static_cast<std::uint64_t>(problem));
    const double hard = random.uniform(5, 15);
    if (random.uniform() < 0.01) return infinity;
    const double time = std::ceil(slow_ * hard * (1 + std::abs(std::log10(rho / 0.3))));
    return time > 60 ? infinity : time;
  }
  std::vector<std::vector<double>> times(const std::vector<TuneWork>& works, double tolerance) override {
    EXPECT_EQ(tolerance, 0.5);
    std::vector<std::vector<double>> all;
    for (const TuneWork& work : works) {
      all.emplace_back();
      for (const Index problem : work.problems) {
        all.back().push_back(time(work.candidate.empty() ? usual_ : work.candidate[0], problem));
        highest_ = std::max(highest_, problem);
        ++runs_;
        if (all.back().back() == infinity) ++unsolved_;
        if (stop_after_ > 0 && runs_ >= stop_after_) throw Interrupted();
      }
    }
    ++calls_;
    std::this_thread::sleep_for(pause_);
    return all;
  }
  std::string take_notes() override {
    ByteWriter to;
    to.number(unsolved_ - taken_);
    taken_ = unsolved_;
    return to.take();
  }
  void add_notes(std::string_view notes) override {
    ByteReader from(notes, "notes");
    noted_ += from.number<Index>();
    from.finish();
  }
  TuneTraces traces(const std::optional<SettingValues>& candidate, Part problems) override {
    TuneTraces traces;
    if (stop_in_traces_) throw Interrupted();
    traces.steps.resize(60);
    std::iota(traces.steps.begin(), traces.steps.end(), Index{1});
    traces.values.resize(problems.count, 60);
    for (Index i = 0; i < problems.count; ++i) {
      for (Index k = 1; k <= 60; ++k)
        traces.values(i, k - 1) =
            static_cast<double>(k) <
                    time(candidate && !candidate->empty() ? (*candidate)[0] : usual_, problems.first + i)
                ? 1.0
                : 0.0;
    }
    return traces;
  }

  Index highest_ = -1;  ///< problem that was searched
  Index runs_ = 0;
  Index stop_after_ = 0;
  bool stop_in_traces_ = false;
  Index calls_ = 0;
  std::chrono::milliseconds pause_{0};  ///< after each of them
  double usual_ = 10;
  bool own_default_ = false;  ///< no point of the space
  Index unsolved_ = 0;
  Index taken_ = 0;  ///< of them, that notes were taken of
  Index noted_ = 0;
  Index runs_of_piece_ = 0;

 private:
  SettingSpace space_{{parse_axis("x", "rho=1e-3:1e3:log")}};
  bool has_default_;
  double slow_;
};

TuneOptions for_target(const char* target) {
  TuneOptions options;
  options.target = target;
  return options;
}

certify::CountJournal nothing_kept() {
  return certify::CountJournal(io::CheckpointFile());
}

/// The budget by its definition.
Index budget_of(const Synthetic& subject, double rho, Part part, double share, double delta) {
  std::vector<double> times;
  for (Index i = part.first; i < part.end(); ++i) times.push_back(subject.time(rho, i));
  std::sort(times.begin(), times.end());
  return static_cast<Index>(
      times[static_cast<std::size_t>(bounds::order_statistic_rank(part.count, share, delta) - 1)]);
}

TEST(Tuning, CertifiesWinnerAndDefaultOnProblemsThatNothingWasChosenBy) {
  Synthetic subject;
  const TuneOptions options = for_target("90% below 0.5");
  certify::CountJournal journal = nothing_kept();
  const TuneResult result = tune(subject, 600, options, journal);
  EXPECT_EQ(result.split.search.count, 300);
  EXPECT_EQ(subject.highest_, 299);
  const double rho = result.race.winner[0];
  EXPECT_NEAR(std::log10(rho), std::log10(0.3), 0.1);
  ASSERT_TRUE(result.before && result.after);
  EXPECT_EQ(*result.before, budget_of(subject, 10, result.split.certified, 0.9, 0.0025));
  EXPECT_EQ(*result.after, budget_of(subject, rho, result.split.certified, 0.9, 0.0025));
  EXPECT_LT(*result.after, *result.before);
  // Half of the confidence for both budgets, half for the comparison.
  EXPECT_DOUBLE_EQ(result.certificate.delta, 0.005);
  EXPECT_DOUBLE_EQ(result.paired->delta, 0.005);
  for (const certify::BudgetClaim& claim : result.certificate.budget) {
    EXPECT_LE(claim.delta, 0.0025);
    EXPECT_GT(claim.delta, 0.002499);
    EXPECT_EQ(claim.samples, 300);
  }
  EXPECT_TRUE(certify::verify(certify::parse_certificate(certify::to_json(result.certificate))).holds());
  EXPECT_EQ(result.paired->pairs, 300);
  EXPECT_NE(tune_text(options, result).find("(certified numbers in ratio "), std::string::npos);
}

TEST(Tuning, WithoutADefaultTheWholeConfidenceIsOfTheTuned) {
  Synthetic subject(false);
  const TuneOptions options = for_target("90% below 0.5");
  certify::CountJournal journal = nothing_kept();
  const TuneResult result = tune(subject, 400, options, journal);
  EXPECT_EQ(result.certificate.variants.size(), 1U);
  EXPECT_FALSE(result.paired || result.before);
  EXPECT_EQ(*result.after, budget_of(subject, result.race.winner[0], result.split.certified, 0.9, 0.01));
}

TEST(Tuning, SaysHowManyProblemsAreNeeded) {
  const TuneOptions options = for_target("90% below 0.5");
  // 0.9^n <= 0.0025 from n = 57 on.
  EXPECT_EQ(split_problems(113, options, true).certified.count, 57);
  EXPECT_INPUT_ERROR(split_problems(112, options, true), "112 problems are too few");
  EXPECT_INPUT_ERROR(split_problems(20, options, true), "at least 113 are needed");
  TuneOptions much = options;
  much.search_share = 0.9;
  EXPECT_GE(split_problems(600, much, true).certified.count, 57);
  EXPECT_INPUT_ERROR((split_problems(400, much, true)), "are needed");
}

// Where it was found by trying one number after the other, this did not end.
TEST(Tuning, SaysHowManyProblemsAreNeededHoweverMany) {
  TuneOptions options = for_target("99.99999% below 0.5");
  options.search_share = 0.99;
  const std::string text = test_support::input_error([&] { (void)split_problems(1000, options, true); });
  const Index needed = std::stoll(text.substr(text.find("at least ") + 9));
  EXPECT_NO_THROW((void)split_problems(needed, options, true));
  EXPECT_INPUT_ERROR((void)split_problems(needed - 1, options, true), "are needed");
  EXPECT_GT(needed, 5'000'000'000) << "a hundredth of them certifies";
  EXPECT_INPUT_ERROR((void)split_problems(1000, for_target("99.9999999999% below 0.5"), true),
                     "needs more than 10000000000 problems");
}

TEST(Tuning, AGridIsNoLargerThanThereAreSettings) {
  Synthetic subject;
  std::vector<std::string> said;
  const auto before = host().say;
  host().say = [&](const std::string& text) { said.push_back(text); };
  TuneOptions options = for_target("90% below 0.5");
  options.grid = 100'000;
  certify::CountJournal journal = nothing_kept();
  const TuneResult result = tune(subject, 200, options, journal);
  host().say = before;
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said.front().find("points, not 100,000"), std::string::npos) << said.front();
  EXPECT_EQ(result.race.runs, static_cast<Index>(result.race.racers.size()) * 100);
}

TEST(Tuning, ATargetThatNothingReachesIsSaidWithTheBestSeen) {
  Synthetic slow(true, 6);
  certify::CountJournal journal = nothing_kept();
  const std::string text =
      test_support::input_error([&] { (void)tune(slow, 600, for_target("90% below 0.5"), journal); });
  EXPECT_NE(text.find("the best settings that were found, rho="), std::string::npos) << text;
  EXPECT_NE(text.find("do not reach 90 % below 0.5"), std::string::npos) << text;
}

TEST(Tuning, RefusesOtherTargetsAndLimits) {
  EXPECT_INPUT_ERROR(for_target("").validate(), "--target: say what is to be reached");
  EXPECT_INPUT_ERROR(for_target("90% at most 1").validate(), "is not a share below a tolerance");
  EXPECT_INPUT_ERROR(for_target("90% below 1 after 3").validate(), "is not a share below a tolerance");
  EXPECT_INPUT_ERROR(for_target("below 1").validate(), "below 1");
  EXPECT_INPUT_ERROR(for_target("101% below 1").validate(), "101%");
  TuneOptions options = for_target("90% below 1");
  options.runs = 5;
  options.seconds = 5;
  EXPECT_INPUT_ERROR(options.validate(), "only one of them");
  options = for_target("90% below 1");
  options.search_share = 1;
  EXPECT_INPUT_ERROR(options.validate(), "--search-share: 1 is outside 0.01 .. 0.99");
  options.search_share = std::nan("");
  EXPECT_INPUT_ERROR(options.validate(), "--search-share: nan is outside");
}

TEST(Tuning, GoesOnWhereItWasStoppedAndComesToTheSame) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "tuning_test.checkpoint";
  std::filesystem::remove(file);
  const auto checkpoint = [&] {
    return io::CheckpointFile(file, {{"what", "tuning test"}}, 0, io::CheckpointFile::Writer::each);
  };
  const TuneOptions options = for_target("90% below 0.5");
  Synthetic whole;
  certify::CountJournal none = nothing_kept();
  const TuneResult expected = tune(whole, 600, options, none);
  Synthetic stopped;
  stopped.stop_after_ = 1000;
  {
    certify::CountJournal journal(checkpoint());
    EXPECT_THROW((void)tune(stopped, 600, options, journal), Interrupted);
  }
  Synthetic rest;
  certify::CountJournal journal(checkpoint(), true);
  const TuneResult result = tune(rest, 600, options, journal);
  EXPECT_EQ(search_record(rest, options, result, true), search_record(whole, options, expected, true));
  EXPECT_EQ(result.after, expected.after);
  EXPECT_LT(rest.runs_, whole.runs_);
  std::filesystem::remove(file);
}

// Its time is over after the first rung; it is stopped while the certified problems run.
TEST(Tuning, ASearchThatItsTimeEndedIsNotGoneOnWith) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "tuning_time.checkpoint";
  std::filesystem::remove(file);
  const auto checkpoint = [&] {
    return io::CheckpointFile(file, {{"what", "tuning test"}}, 0, io::CheckpointFile::Writer::each);
  };
  TuneOptions options = for_target("90% below 0.5");
  options.seconds = 0.2;
  Synthetic stopped;
  stopped.pause_ = std::chrono::milliseconds(250);
  stopped.stop_in_traces_ = true;
  {
    certify::CountJournal journal(checkpoint());
    EXPECT_THROW((void)tune(stopped, 600, options, journal), Interrupted);
  }
  Synthetic rest;  // it has no pauses: a clock that began anew would leave time for more rungs
  certify::CountJournal journal(checkpoint(), true);
  const TuneResult result = tune(rest, 600, options, journal);
  EXPECT_EQ(result.race.rungs.size(), 1U);
  EXPECT_EQ(result.race.runs, stopped.runs_);
  EXPECT_EQ(rest.runs_, 0);
  std::filesystem::remove(file);
}

// Time that was used before a stop is used.
TEST(Tuning, TheTimeOfASearchGoesOnWhereItWasStopped) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "tuning_clock.checkpoint";
  std::filesystem::remove(file);
  const auto checkpoint = [&] {
    return io::CheckpointFile(file, {{"what", "tuning test"}}, 0, io::CheckpointFile::Writer::each);
  };
  TuneOptions options = for_target("90% below 0.5");
  options.seconds = 1;
  Synthetic slow;
  slow.pause_ = std::chrono::milliseconds(60);
  slow.stop_after_ = 1200;
  {
    certify::CountJournal journal(checkpoint());
    EXPECT_THROW((void)tune(slow, 600, options, journal), Interrupted);
  }
  Synthetic rest;
  rest.pause_ = std::chrono::milliseconds(1100);
  certify::CountJournal journal(checkpoint(), true);
  const TuneResult result = tune(rest, 600, options, journal);
  EXPECT_FALSE(result.race.converged);
  EXPECT_EQ(rest.calls_, 1);  // the piece that was stopped; no rung begins after it
  std::filesystem::remove(file);
}

TEST(Tuning, NotesOfRunsAreKeptWithThem) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "tuning_notes.checkpoint";
  std::filesystem::remove(file);
  const auto checkpoint = [&] {
    return io::CheckpointFile(file, {{"what", "tuning test"}}, 0, io::CheckpointFile::Writer::each);
  };
  const TuneOptions options = for_target("90% below 0.5");
  Synthetic whole;
  certify::CountJournal none = nothing_kept();
  (void)tune(whole, 600, options, none);
  Synthetic stopped;
  stopped.stop_after_ = 2000;
  {
    certify::CountJournal journal(checkpoint());
    EXPECT_THROW((void)tune(stopped, 600, options, journal), Interrupted);
  }
  Synthetic rest;
  certify::CountJournal journal(checkpoint(), true);
  (void)tune(rest, 600, options, journal);
  EXPECT_GT(rest.noted_, 0);
  EXPECT_EQ(rest.noted_ + rest.unsolved_, whole.unsolved_);
  std::filesystem::remove(file);
}

TEST(Tuning, ADefaultThatIsNoPointOfTheSpaceRacesToo) {
  for (const double usual : {0.3, 10.0}) {
    Synthetic subject;
    subject.usual_ = usual;
    subject.own_default_ = true;
    const TuneOptions options = for_target("90% below 0.5");
    certify::CountJournal journal = nothing_kept();
    const TuneResult result = tune(subject, 600, options, journal);
    EXPECT_EQ(result.race.racers.front().candidate, SettingValues{});
    EXPECT_EQ(result.default_wins, result.race.winner.empty());
    EXPECT_FALSE(usual == 10.0 && result.default_wins);
    if (result.default_wins) {
      EXPECT_EQ(result.before, result.after);
      EXPECT_NE(tune_text(options, result).find("Tuned: the default\n"), std::string::npos);
    }
    EXPECT_EQ(learn_then_test(subject, 600, options, journal).candidates, 14);
  }
}

TEST(Tuning, BothPartsAreLookedAtTogether) {
  const TuneSplit split{{0, 3}, {3, 5}};
  EXPECT_EQ(in_turn(split), (std::vector<Index>{0, 3, 1, 4, 2, 5, 6, 7}));
  const auto independence = [](Index different, Index count) {
    certify::DependenceCheck check({1, 2, 3});
    for (Index i = 0; i < count; ++i) {
      std::vector<double> row;
      RandomStream random(1, "rows of both parts", static_cast<std::uint64_t>(i % different));
      for (int j = 0; j < 3; ++j) row.push_back(random.uniform());
      check.add(i, row.data());
    }
    return check.result();
  };
  certify::Independence fresh = independence(300, 300);
  require_apart(fresh, fresh, "family");
  const certify::Independence twice = independence(150, 300);
  EXPECT_INPUT_ERROR(require_apart(twice, fresh, "family"), "family: problems that settings are chosen by");
  fresh.allowed = true;  // its sentences are conditional
  require_apart(twice, fresh, "family");
}

TEST(Tuning, PiecesOfSlowProgramsAreSmallAndComeToTheSame) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "tuning_pieces.checkpoint";
  std::filesystem::remove(file);
  const auto checkpoint = [&] {
    return io::CheckpointFile(file, {{"what", "tuning test"}}, 0, io::CheckpointFile::Writer::each);
  };
  const TuneOptions options = for_target("90% below 0.5");
  Synthetic whole;
  certify::CountJournal none = nothing_kept();
  const TuneResult expected = tune(whole, 600, options, none);
  Synthetic slow;
  slow.runs_of_piece_ = 64;
  slow.stop_after_ = 1000;
  {
    certify::CountJournal journal(checkpoint());
    EXPECT_THROW((void)tune(slow, 600, options, journal), Interrupted);
  }
  Synthetic rest;
  rest.runs_of_piece_ = 64;
  certify::CountJournal journal(checkpoint(), true);
  const TuneResult result = tune(rest, 600, options, journal);
  EXPECT_EQ(search_record(rest, options, result, true), search_record(whole, options, expected, true));
  EXPECT_EQ(certify::to_json(result.certificate), certify::to_json(expected.certificate));
  EXPECT_GE(rest.runs_ + 1000, whole.runs_);
  EXPECT_LE(rest.runs_ + 1000, whole.runs_ + 64) << "a piece at most is run again";
  std::filesystem::remove(file);
}

// Whoever else made it: tables of a checkpoint are of the shape that is worked with.
TEST(Tuning, TablesOfACheckpointHaveTheirShape) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "tuning_shape.checkpoint";
  std::filesystem::remove(file);
  const auto checkpoint = [&] {
    return io::CheckpointFile(file, {{"what", "shapes"}}, 0, io::CheckpointFile::Writer::each);
  };
  const auto make = [] { return problems::Table(problems::Table::Zero(3, 4)); };
  {
    certify::CountJournal journal(checkpoint());
    EXPECT_EQ(kept_table(journal, make, {3, 4}).rows(), 3);
  }
  const auto read = [&](TableShape shape) {
    certify::CountJournal journal(checkpoint(), true);
    return kept_table(journal, make, shape);
  };
  EXPECT_EQ(read({3, 4}).cols(), 4);
  EXPECT_EQ(read({3, 0}).cols(), 4);
  EXPECT_INPUT_ERROR((void)read({4, 3}), "table of a checkpoint: 3 x 4, not 4 x 3");
  std::filesystem::remove(file);
}

TEST(Tuning, LearnThenTestPaysForEverySetting) {
  Synthetic subject;
  const TuneOptions options = for_target("90% below 0.5");
  certify::CountJournal journal = nothing_kept();
  const LearnThenTest found = learn_then_test(subject, 600, options, journal);
  EXPECT_EQ(found.candidates, 13);  // 10 is a point of the grid
  EXPECT_LE(found.delta_each * 13, 0.0025);
  Index best = 1000;
  for (const SettingValues& each : subject.space().coarse_grid()) {
    const double rank = static_cast<double>(bounds::order_statistic_rank(600, 0.9, 0.0025 / 13));
    std::vector<double> times;
    for (Index i = 0; i < 600; ++i) times.push_back(subject.time(each[0], i));
    std::sort(times.begin(), times.end());
    if (times[static_cast<std::size_t>(rank) - 1] < 1000)
      best = std::min(best, static_cast<Index>(times[static_cast<std::size_t>(rank) - 1]));
  }
  EXPECT_EQ(found.steps, best);
  TuneOptions few = for_target("99% below 0.5");
  EXPECT_FALSE(learn_then_test(subject, 100, few, journal).steps);
}

TEST(Tuning, SettlingStepsAreThoseOfTallies) {
  const std::vector<Index> steps{1, 2, 3, 4};
  const auto settles = [&](std::vector<double> row) { return settling_step(row.data(), steps, 0.5); };
  EXPECT_EQ(settles({1, 0, 0, 0}), 2);
  EXPECT_EQ(settles({0, 0, 0, 0}), 1);
  EXPECT_EQ(settles({0, 1, 0, 0}), 3);
  EXPECT_EQ(settles({0, 0, 0, 0.5}), infinity);
  EXPECT_EQ(settles({0, 0, std::nan(""), 0}), infinity);
  EXPECT_EQ(settles({0, 0, 0, -infinity}), infinity);
}

TEST(Tuning, TheRecordHasTheSearch) {
  Synthetic subject;
  const TuneOptions options = for_target("90% below 0.5");
  certify::CountJournal journal = nothing_kept();
  const TuneResult result = tune(subject, 600, options, journal);
  const auto json = nlohmann::json::parse(search_record(subject, options, result, true));
  EXPECT_EQ(json.at("runs"), result.race.runs);
  EXPECT_EQ(json.at("racers").size(), result.race.racers.size());
  EXPECT_EQ(json.at("rungs").size(), result.race.rungs.size());
  EXPECT_FALSE(nlohmann::json::parse(search_record(subject, options, result, false)).contains("racers"));
}

}  // namespace
}  // namespace surefoot::experiments
