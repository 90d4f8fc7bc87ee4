#include "surefoot/experiments/tune_command.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::experiments {
namespace {

/// Settles after |rho - 3| + 1 steps of six; every eleventh problem ends badly.
CommandTuneOptions counting() {
  CommandTuneOptions options;
  options.tune.target = "50% below 0.5";
  options.tune.delta = 0.2;
  options.over = "rho=1:7:linear:4";
  options.defaults = "rho=7";
  options.samples = 24;
  options.at_once = 2;
  options.command = {
      "sh", "-c",
      "r=$(printf '%.0f' $0); d=$((r - 3)); [ $d -lt 0 ] && d=$((-d)); [ $(($1 % 11)) -eq 10 ] && exit 3; "
      "row=; for k in 1 2 3 4 5 6; do if [ $k -le $d ]; then row=\"$row 1\"; else row=\"$row 0.$1\"; fi; "
      "done; echo $row",
      "{rho}", "{seed}"};
  return options;
}

TEST(TuneCommand, FindsSettingsAndCountsFailures) {
  const CommandTuneOptions options = counting();
  CommandTunable subject(options, [] {});
  EXPECT_EQ(subject.iterations(), 6);
  certify::CountJournal journal{io::CheckpointFile()};
  const TuneResult result = tune(subject, options.samples, options.tune, journal);
  EXPECT_NEAR(result.race.winner[0], 3, 0.51);
  EXPECT_EQ(result.before, 5);
  EXPECT_EQ(result.after, 1);
  EXPECT_NE(subject.failures_text().find("exit code 3 (first of seed 10)"), std::string::npos)
      << subject.failures_text();
  // Of the twelve certified problems one fails: its row is infinite.
  EXPECT_EQ(result.certificate.variants.back().non_finite_runs, 1);
  EXPECT_EQ(subject.command_with(result.winner).back(), "{seed}");
  EXPECT_NE(tune_command_record(subject, options, result).find("\"first_seed\":12"), std::string::npos);
}

TEST(TuneCommand, FailuresAreNotedForACheckpoint) {
  const CommandTuneOptions options = counting();
  CommandTunable made(options, [] {});
  (void)made.traces(std::nullopt, {0, 24});
  const std::string notes = made.take_notes();
  CommandTunable other(options, [] {});
  other.add_notes(notes);
  EXPECT_EQ(other.failures_text(), made.failures_text());
  EXPECT_NE(other.failures_text().find("2 exit code 3 (first of seed 10)"), std::string::npos);
  other.add_notes(made.take_notes());  // nothing since
  EXPECT_EQ(other.failures_text(), made.failures_text());
}

TEST(TuneCommand, ProblemsHaveTheNameOfTheirCommand) {
  CommandTuneOptions options = counting();
  options.first_seed = 100;
  const certify::SampleRange range = seeds_of_command(options, {12, 12});
  EXPECT_EQ(range.first, 112);
  EXPECT_EQ(range.count, 12);
  range.validate();
  CommandTuneOptions searched = options;
  searched.over = "rho=2:3";
  EXPECT_TRUE(range.overlaps(seeds_of_command(searched, {20, 12})));
  EXPECT_FALSE(range.overlaps(seeds_of_command(options, {0, 12})));
  CommandTuneOptions other = options;
  other.command.back() = "{seed} ";
  EXPECT_FALSE(range.overlaps(seeds_of_command(other, {12, 12})));
}

TEST(TuneCommand, AProgramThatFailsOrHangsIsSaidInOneLine) {
  CommandTuneOptions options = counting();
  options.command = {"false", "{rho}", "{seed}"};
  EXPECT_INPUT_ERROR(CommandTunable(options, [] {}), "exit code 1");
  options.command = {"sleep", "60{rho}{seed}"};
  options.seconds = 0.05;
  EXPECT_INPUT_ERROR(CommandTunable(options, [] {}), "out of time");
  options = counting();
  options.command = {"sh", "-c", "echo 0.1$0$1", "{rho}", "{seed}"};
  options.first_step = 0;
  EXPECT_INPUT_ERROR(CommandTunable(options, [] {}), "--first-step: a row of one number");
}

TEST(TuneCommand, MoreProblemsThanThereIsMemoryForAreRefusedBeforeAnyRun) {
  CommandTuneOptions options = counting();
  options.samples = 10'000'000'000;
  options.command = {"sh", "-c", "echo ran > /dev/stderr; exit 1", "{rho}", "{seed}"};
  try {
    (void)CommandTunable(options, [] {});
    FAIL() << "it is not refused";
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("times of the search"), std::string::npos) << error.what();
  }
}

TEST(TuneCommand, RefusesCommandsWithoutTheirSettings) {
  const auto refused = [](auto change, const char* part) {
    CommandTuneOptions options = counting();
    change(options);
    EXPECT_INPUT_ERROR(options.validate(), part);
  };
  counting().validate();
  refused([](CommandTuneOptions& options) { options.command = {}; }, "there is no command");
  refused([](CommandTuneOptions& options) { options.command = {"echo", "{rho}"}; }, "has no {seed}");
  refused([](CommandTuneOptions& options) { options.command = {"echo", "{seed}"}; }, "has no {rho}");
  refused([](CommandTuneOptions& options) { options.over = ""; }, "say what to search");
  refused([](CommandTuneOptions& options) { options.over = "rho=2:1"; }, "is an empty range");
  refused([](CommandTuneOptions& options) { options.over = "seed=1:2"; }, "number of the problem");
  refused([](CommandTuneOptions& options) { options.samples = 5; }, "are needed");
  refused([](CommandTuneOptions& options) { options.seconds = 0; }, "--time-limit: 0");
  CommandTuneOptions outside = counting();
  outside.defaults = "rho=100";
  EXPECT_INPUT_ERROR(CommandTunable(outside, [] {}), "--default: rho = '100'");
}

TEST(TuneCommand, RowsThatRepeatAreDependent) {
  TuneTraces traces;
  traces.steps = {1, 2};
  traces.values.resize(300, 2);
  for (Index i = 0; i < 300; ++i) {  // every problem twice
    RandomStream random(1, "dependent rows", static_cast<std::uint64_t>(i / 2));
    traces.values(i, 0) = random.uniform();
    traces.values(i, 1) = random.uniform();
  }
  EXPECT_INPUT_ERROR(independence_of_rows(traces, "solver", false), "rows of solver");
}

}  // namespace
}  // namespace surefoot::experiments
