#include "surefoot/experiments/run_command.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace surefoot::experiments {
namespace {

using surefoot::test::contains;

using Row = std::vector<double>;

TEST(RowOfNumbers, IsOneLineWhateverStandsBetweenThem) {
  EXPECT_EQ(parse_row("1,2.5,3e-4\n"), (Row{1, 2.5, 3e-4}));
  EXPECT_EQ(parse_row("  1 , 2;3\t4  5 \r\n\n"), (Row{1, 2, 3, 4, 5}));
  EXPECT_EQ(parse_row("7"), (Row{7}));
  EXPECT_EQ(parse_row("-inf,inf").value().size(), 2U);
  EXPECT_TRUE(std::isnan(parse_row("nan").value().front()));
  for (const char* bad :
       {"", "\n", "1,2\n3,4\n", "1,,2", ",1", "1,", "one", "1 2 x", "1,2 done", "0x10", "1:2"})
    EXPECT_FALSE(parse_row(bad)) << bad;
  EXPECT_FALSE(parse_row(std::string_view("1\0002", 3)));
  EXPECT_FALSE(parse_row("\xff\xfe\x00"));
}

CommandRunOptions shell_runs(const std::string& script) {
  CommandRunOptions options;
  options.command = {"sh", "-c", script, "sh", "{seed}"};
  options.at_once = 3;
  return options;
}

certify::CountJournal no_journal() {
  return certify::CountJournal(io::CheckpointFile());
}

CommandResult result_of(const CommandRunOptions& options, certify::Options claims = {}) {
  if (options.until) claims = options.until->declare(claims, {});
  certify::CountJournal journal = no_journal();
  return CommandRun(options, claims).count(journal);
}

void expect_verified(const CommandResult& result) {
  const certify::Verification verification =
      certify::verify(certify::parse_certificate(certify::to_json(result.certificate)));
  EXPECT_TRUE(verification.holds()) << verification.findings.front();
}

TEST(CommandRun, ReplacesTheSeedEverywhere) {
  CommandRunOptions options;
  options.command = {"./solve", "--seed={seed}", "{seed}{seed}"};
  EXPECT_EQ(options.command_of(12), (std::vector<std::string>{"./solve", "--seed=12", "1212"}));
}

TEST(CommandRun, RefusesWhatItCannotRun) {
  CommandRunOptions options = shell_runs("echo 1");
  EXPECT_INPUT_ERROR(options.validate(), "--samples N");
  options.samples = 5;
  EXPECT_NO_THROW(options.validate());
  options.command = {"true"};
  EXPECT_INPUT_ERROR(options.validate(), "has no {seed}");
  options.command = {};
  EXPECT_INPUT_ERROR(options.validate(), "there is no command");
  options = shell_runs("echo 1");
  options.until.emplace("90% below 1");
  options.samples = 3;
  EXPECT_INPUT_ERROR(options.validate(), "--max-runs");
  options.samples = 0;
  options.seconds = -1;
  EXPECT_INPUT_ERROR(options.validate(), "--time-limit: -1");
  options = shell_runs("echo 1");
  options.samples = 5;
  options.command.front() = "no-such-program-here";
  EXPECT_INPUT_ERROR(result_of(options), "no-such-program-here: cannot be run");
}

// Two numbers of full precision that depend on the seed as a hash does, below 0.2 and 0.02.
constexpr const char* rows =
    "h=$(echo $1 | md5sum); a=$((0x$(echo $h | cut -c1-6))); b=$((0x$(echo $h | cut -c7-12))); "
    "printf '0.%08d123457,0.0%08d7654321\\n' $a $b";

TEST(CommandRun, MakesAFixedNumberOfRuns) {
  CommandRunOptions options = shell_runs(rows);
  options.samples = 40;
  options.first_seed = 100;
  certify::Options claims;
  claims.tolerances = {0.5};
  const CommandResult result = result_of(options, claims);
  expect_verified(result);
  const certify::Certificate& certificate = result.certificate;
  EXPECT_EQ(certificate.variants.front().samples, 40);
  EXPECT_EQ(certificate.variants.front().columns, 2);
  EXPECT_FALSE(certify::holds_anytime(certificate));
  EXPECT_EQ(result.failures_line, "");
  const auto run = nlohmann::json::parse(certificate.run);
  EXPECT_EQ(run.at("first_seed"), 100);
  EXPECT_EQ(run.at("command").at(4), "{seed}");
  // As if one after the other had been run.
  options.at_once = 1;
  EXPECT_EQ(certify::to_json(result_of(options, claims).certificate), certify::to_json(certificate));
}

TEST(CommandRun, StopsAtTheFirstRunAtWhichTheClaimHolds) {
  CommandRunOptions options = shell_runs("if [ $1 = 7 ]; then sleep 0.2; fi; " + std::string(rows));
  options.until.emplace("80% below 1 after 2");
  options.at_once = 4;
  const CommandResult result = result_of(options);
  EXPECT_TRUE(result.decided);
  expect_verified(result);
  EXPECT_TRUE(certify::holds_anytime(result.certificate));
  const Index n = result.certificate.variants.front().samples;
  EXPECT_EQ(n, 25) << "samples_needed_looking(0, 0.8, 0.01)";
  EXPECT_TRUE(contains(result.until_line, "holds after 25 runs, 0 of them failed")) << result.until_line;
}

TEST(CommandRun, CountsEveryWayToFail) {
  CommandRunOptions options = shell_runs(
      "case $1 in 3) exit 4;; 5) kill -9 $$;; 8) sleep 100;; 9) echo oops;; 11) echo 1;; 12) echo 1,nan;; "
      "13) yes | tr -d '\\n';; 14) printf 'a\\000b';; 15) printf '0.25 0.125'; exit 1;; 16) ;; "
      "*) " +
      std::string(rows) + ";; esac");
  options.samples = 60;
  options.seconds = 2;
  certify::Options claims;
  claims.tolerances = {0.9};
  const CommandResult result = result_of(options, claims);
  expect_verified(result);
  EXPECT_EQ(result.certificate.variants.front().samples, 60);
  EXPECT_EQ(result.certificate.variants.front().non_finite_runs, 10);
  const auto failed = nlohmann::json::parse(result.certificate.run).at("failed");
  EXPECT_EQ(failed.at("exit code 4").at("first_seed"), 3);
  EXPECT_EQ(failed.at("exit code 1").at("first_seed"), 15);
  EXPECT_EQ(failed.at("signal 9").at("runs"), 1);
  EXPECT_EQ(failed.at("out of time").at("first_seed"), 8);
  EXPECT_EQ(failed.at("no row of numbers").at("runs"), 3);
  EXPECT_EQ(failed.at("another number of columns").at("first_seed"), 11);
  EXPECT_EQ(failed.at("too much output").at("runs"), 1);
  EXPECT_TRUE(contains(result.failures_line, "3 no row of numbers (first of seed 9: oops)"))
      << result.failures_line;
}

TEST(CommandRun, CountsFailuresBeforeTheFirstRowToo) {
  CommandRunOptions options = shell_runs("[ $1 -lt 5 ] && exit 1; " + std::string(rows));
  options.samples = 30;
  certify::Options claims;
  claims.tolerances = {1.0};
  claims.kinds = {"success"};
  const CommandResult result = result_of(options, claims);
  EXPECT_EQ(result.certificate.success.front().failures, 5);
  EXPECT_EQ(result.certificate.success.front().samples, 30);
  expect_verified(result);
}

TEST(CommandRun, EndsAtOnceWhereNoRunGivesARow) {
  CommandRunOptions options = shell_runs("echo no solver >&2; exit 3");
  options.samples = 1000;
  EXPECT_INPUT_ERROR(result_of(options),
                     "none of the first 20 runs printed a row of numbers; 20 exit code 3 (first of "
                     "seed 0: no solver)");
}

TEST(CommandRun, SaysThatNothingIsDecidedAtTheCap) {
  CommandRunOptions options = shell_runs("[ $(($1 % 4)) = 0 ] && exit 1; " + std::string(rows));
  options.until.emplace("90% below 1 after 2");
  options.max_runs = 80;
  const CommandResult result = result_of(options);
  EXPECT_FALSE(result.decided);
  EXPECT_EQ(result.certificate.variants.front().samples, 80);
  EXPECT_TRUE(contains(result.until_line, "UNDECIDED")) << result.until_line;
  expect_verified(result);
  options.until.emplace("90% below 1 after 3");
  EXPECT_INPUT_ERROR(result_of(options), "step 3 was not recorded; runs have 1 .. 2");
}

TEST(CommandRun, GoesOnWhereItWasStopped) {
  CommandRunOptions options = shell_runs("[ $(($1 % 9)) = 0 ] && exit 1; " + std::string(rows));
  options.until.emplace("80% below 1 after 2");
  const certify::Options claims = options.until->declare({}, {});
  const std::string whole = certify::to_json(result_of(options).certificate);
  const surefoot::test_support::TemporaryFolder folder;
  const io::Configuration configuration{{"of", "test"}};
  const auto file = [&] { return io::CheckpointFile(folder.path() / "kept", configuration, 0); };
  int left = 10;
  const auto stop = [&] {
    if (--left == 0) throw Interrupted();
  };
  certify::CountJournal first(file(), false, stop);
  EXPECT_THROW((void)CommandRun(options, claims).count(first), Interrupted);
  certify::CountJournal second(file(), true);
  ASSERT_TRUE(second.resumed());
  EXPECT_EQ(certify::to_json(CommandRun(options, claims).count(second).certificate), whole);
  // What is there already need not be run again.
  certify::CountJournal third(file(), true);
  options.command.front() = "no-such-program-here";
  EXPECT_EQ(CommandRun(options, claims).count(third).certificate.variants.front().samples,
            certify::parse_certificate(whole).certificate.variants.front().samples);
}

}  // namespace
}  // namespace surefoot::experiments
