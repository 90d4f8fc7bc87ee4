#include "support/child.hpp"
#include "support/processes.hpp"
#include "support/training_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

namespace surefoot {
namespace {

using namespace std::chrono_literals;
using testing::Child;
using testing::slurp;
using Clock = Child::Clock;
namespace fs = std::filesystem;

constexpr auto long_enough = 600s;  // a hang, not slowness, is what ends here

#ifdef SUREFOOT_SANITIZED
constexpr int share_of_kills = 8;
constexpr const char* iterations = "400";
constexpr const char* hold_out = "0:6000";
#else
constexpr int share_of_kills = 1;
constexpr const char* iterations = "1500";
constexpr const char* hold_out = "0:30000";
#endif

/// A verb whose results are files of its output folder.
struct Work {
  std::vector<std::string> arguments;
  std::vector<std::string> results;
  std::string checkpoint;  ///< its file, the first process's where there are several
  int processes = 1;
  std::vector<std::string> last = {};  ///< words after all options
  std::string out = "--out";           ///< names the folder, or the one file that is the result
};

class Interruption : public testing::ProcessesTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("train.toml", testing::training_file(30));
  }

  static Work run() {
    return {{"run", "qp", SUREFOOT_SOURCE_DIR "/examples/mpc", "--iterations", iterations, "--metric",
             "distance", "--tolerances", "1e-3,1e-2"},
            {"certificate.json"},
            "run-qp.checkpoint"};
  }
  static Work tune() {
    return {{"tune", "qp", SUREFOOT_SOURCE_DIR "/examples/mpc", "--iterations", "300", "--metric", "distance",
             "--target", "80% below 1e-2", "--runs", "9000"},
            {"certificate.json", "search.json"},
            "tune-qp.checkpoint"};
  }
  static Work train() {
    return {{"train", "train.toml", "--quiet"}, {"weights.safetensors"}, "train.checkpoint"};
  }
  Work calibrate() {
    EXPECT_EQ(surefoot("train train.toml --quiet --out weights").code, 0);
    return {{"calibrate", "weights/weights.safetensors", "--draws", "60", "--hold-out", hold_out,
             "--guarantees", "pac-bayes,hold-out,hold-out-means"},
            {"pac-bayes/certificate.json", "hold-out/certificate.json", "hold-out-means/certificate.json"},
            "calibrate.checkpoint"};
  }
  /// Solutions and runs, which are parts of it, and what is made of them.
  static Work reproduce() {
    return {{"reproduce", "deblurring", "--scale", "quick", "--samples", "100", "--steps", iterations},
            {"certificate.json", "nmse/certificate.json", "table_residual.csv"},
            "part-2.checkpoint"};
  }
  /// A proof for each number of steps.
  static Work worst_case() {
    return {{"worst-case", "averaged", "--steps", "1..80", "--quiet"},
            {"proof.json"},
            "worst-case-averaged.checkpoint"};
  }
  /// A program that takes a moment, fails now and then, and needs a few hundred runs.
  Work run_command() const {
    write(
        "solver.sh",
        "#!/bin/sh\n[ $(($1 % 97)) = 5 ] && exit 1\nh=$(echo $1 | md5sum)\nprintf '0.%08d123457,0.0%08d7654321\\n' "
        "$((0x$(echo $h | cut -c1-6))) $((0x$(echo $h | cut -c7-12)))\n");
    fs::permissions(folder_ / "solver.sh", fs::perms::owner_all);
    return {{"run", "command", "--until", "96% below 1 after 2", "--jobs", "2"},
            {"certificate.json", "traces.npy"},
            "run-command.checkpoint",
            1,
            {"--", "./solver.sh", "{seed}"}};
  }
  static Work run_until() {
    return {{"run", "qp", SUREFOOT_SOURCE_DIR "/examples/mpc", "--iterations", iterations, "--until",
             std::string("95% below 1e-2 within ") + iterations},
            {"certificate.json"},
            "run-qp.checkpoint"};
  }
  /// The exact loop and that of each limit are pieces.
  static Work run_loop() {
    return {{"run", "loop", SUREFOOT_SOURCE_DIR "/examples/cartpole", "--rollouts", "150", "--ticks", "20",
             "--limits", "5,10,20,40"},
            {"cost/certificate.json", "tube/certificate.json", "rollouts.csv"},
            "run-loop.checkpoint"};
  }
  static Work run_family() {
    return {{"run", "family", "model-predictive-control", "--samples", "1000", "--iterations", iterations},
            {"certificate.json"},
            "run-family.checkpoint"};
  }
  static Work run_streamed() {
    return {{"run", "qp", SUREFOOT_SOURCE_DIR "/examples/mpc", "--stream", "--iterations", iterations,
             "--metric", "distance"},
            {"certificate.json"},
            "run-qp.checkpoint"};
  }
  Work count_part() const {
    constexpr int rows = 450'000;
    std::string table = "k=1,k=2,k=3,k=4\n";
    std::mt19937 random(20);
    std::uniform_real_distribution<double> number;
    for (int i = 0; i < rows; ++i)
      table += fmt::format("{},{},{},{}\n", number(random), number(random), number(random), number(random));
    write("table.csv", table);
    return {{"certify", "table.csv", "--source", "all", "--first-row", "100"},
            {""},
            "certify.checkpoint",
            1,
            {},
            "--tally"};
  }
  static Work tune_cone() {
    return {{"tune", "cone", SUREFOOT_SOURCE_DIR "/examples/portfolio", "--iterations", "300", "--target",
             "80% below 1e-2", "--over", "scale=1e-2:1:log:4,alpha", "--runs", "1500"},
            {"certificate.json", "search.json"},
            "tune-cone.checkpoint"};
  }
  Work tune_command() const {
    write("solver.sh",
          "#!/bin/sh\nh=$(echo $2 | md5sum)\nn=$((0x$(echo $h | cut -c1-6) % 1000))\n"
          "case $1 in 1*) f=9;; *) f=0;; esac\nprintf '0.%d9%03d,0.%d%03d\\n' $f $n $((f / 2)) $n\n");
    fs::permissions(folder_ / "solver.sh", fs::perms::owner_all);
    return {{"tune", "command", "--over", "rho=1:3:linear:3", "--target", "60% below 0.5", "--samples", "160",
             "--jobs", "2", "--default", "rho=1"},
            {"certificate.json", "search.json"},
            "tune-command.checkpoint",
            1,
            {"--", "./solver.sh", "{rho}", "{seed}"}};
  }
  static Work by_two(Work work, const std::string& checkpoint) {
    work.processes = 2;
    work.checkpoint = checkpoint;
    return work;
  }

  [[nodiscard]] std::vector<std::string> command(const Work& work, const std::string& out,
                                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all;
    if (work.processes > 1) all = mpirun(work.processes);
    all.emplace_back(SUREFOOT_PROGRAM);
    all.insert(all.end(), work.arguments.begin(), work.arguments.end());
    all.insert(all.end(), {work.out, out});
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), work.last.begin(), work.last.end());
    return all;
  }
  [[nodiscard]] std::vector<std::string> resumable(const Work& work, const std::string& out) const {
    return command(work, out, {"--checkpoint", "kept", "--resume", "--checkpoint-seconds", "0"});
  }
  /// Its checkpoint is in the folder, or in one inside it.
  [[nodiscard]] bool is_kept(const Work& work) const {
    std::error_code gone_meanwhile;
    fs::recursive_directory_iterator at(folder_ / "kept", gone_meanwhile);
    for (; !gone_meanwhile && at != fs::end(at); at.increment(gone_meanwhile)) {
      if (at->path().filename() == work.checkpoint) return true;
    }
    return false;
  }
  [[nodiscard]] std::string errors() const { return slurp(folder_ / ".err"); }
  [[nodiscard]] bool goes_on() const { return errors().find("resumes from kept/") != std::string::npos; }

  void expect_same_results(const Work& work, const std::string& out) const {
    for (const std::string& result : work.results) {
      const auto in = [&](const std::string& made) {
        return slurp(result.empty() ? folder_ / made : folder_ / made / result);
      };
      ASSERT_FALSE(in("whole").empty()) << result;
      EXPECT_TRUE(in(out) == in("whole")) << result << " differs";
    }
  }

  /// One process, or all: of several, every other time one, whose end must end the others. Its exit code, 0
  /// if it had come to the end before.
  static std::optional<int> kill(Child& child, const Work& work, std::mt19937& random) {
    if (work.processes > 1) {
      child.send(SIGSTOP);  // it starts no more of them
      const std::vector<pid_t> ids = child.children();
      if (!ids.empty() && random() % 2 == 0) {
        ::kill(ids[random() % ids.size()], SIGKILL);
        child.send(SIGCONT);
        // Open MPI waits for ever, though no process is left, if one was killed while it connected.
        auto last_seen = Clock::now();
        const auto ended = child.wait_for(long_enough, [&] {
          if (!child.children().empty()) last_seen = Clock::now();
          return Clock::now() - last_seen > 10s;
        });
        if (ended || !child.children().empty()) return ended;
        child.send(SIGKILL);
        return child.wait();
      }
      for (const pid_t id : ids) ::kill(id, SIGKILL);
    }
    child.send(SIGKILL);
    const int code = child.wait();
    EXPECT_TRUE(code == 128 + SIGKILL || code == 0) << code;
    return code;
  }

  /// Kills it at `kills` random moments, going on after each; whenever it comes to the end, the results are
  /// compared and it begins anew. Every other time the moment is soon after it has found or left a
  /// checkpoint.
  void kill_and_go_on(const Work& work, int kills, unsigned seed) {
    const auto begin = Clock::now();
    ASSERT_EQ(Child(folder_, command(work, "whole")).wait(), 0) << errors();
    const double whole = std::chrono::duration<double>(Clock::now() - begin).count();
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> share(0.0, 0.7);
    int killed = 0;
    int gone_on = 0;
    int finished = 0;
    while (killed < kills || finished == 0) {
      const bool last = killed == kills;
      const bool aimed = killed % 2 == 1;
      const double seconds = share(random) * whole * (aimed ? 0.1 : 1.0);
      const auto moment = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
      const bool left = is_kept(work);
      Child child(folder_, resumable(work, "killed"));
      if (aimed) child.wait_for(long_enough, [&] { return left ? goes_on() : is_kept(work); });
      std::optional<int> ended = child.wait_for(last ? long_enough : moment);
      ASSERT_TRUE(!ended || *ended == 0) << errors();
      if (!ended && !last) ended = kill(child, work, random);
      ASSERT_TRUE(ended) << "it hangs";
      gone_on += goes_on() ? 1 : 0;
      EXPECT_EQ(errors().find("done again"), std::string::npos) << errors();
      if (*ended == 0) {
        ++finished;
        expect_same_results(work, "killed");
        EXPECT_FALSE(is_kept(work)) << "a checkpoint is left";
        fs::remove_all(folder_ / "killed");
      } else {
        ++killed;
      }
    }
    EXPECT_GE(gone_on, kills / 3) << "too few of the processes found a checkpoint: the test tests little";
    RecordProperty("gone_on", gone_on);
    RecordProperty("finished", finished);
  }

  /// Sends the signal once there is a checkpoint, or at the first block without one.
  void stop_and_go_on(const Work& work, int signal, int code) {
    ASSERT_EQ(Child(folder_, command(work, "whole")).wait(), 0) << errors();
    fs::remove(folder_ / "weights" / "ledger.jsonl");  // of a calibration, whose look is made again
    {
      Child child(folder_, command(work, "out", {"--checkpoint", "kept", "--checkpoint-seconds", "0"}));
      const auto ended =
          child.wait_for(long_enough, [&] { return fs::exists(folder_ / "kept" / work.checkpoint); });
      ASSERT_FALSE(ended) << "it ended before it could be stopped";
      child.send(signal);
      ASSERT_EQ(child.wait_for(long_enough), code) << errors();
    }
    const std::string said = errors();
    EXPECT_NE(said.find("resume with: "), std::string::npos) << said;
    const char* end = work.last.empty() ? "\n" : " -- ";
    EXPECT_NE(said.find(std::string("--checkpoint-seconds 0 --resume") + end), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    ASSERT_EQ(Child(folder_, resumable(work, "out")).wait(), 0) << errors();
    EXPECT_TRUE(goes_on()) << errors();
    expect_same_results(work, "out");
  }
};

TEST_F(Interruption, ARunKilledAtRandomMomentsEndsInTheSameCertificate) {
  kill_and_go_on(run(), 17 / share_of_kills, 1);
}

TEST_F(Interruption, ATuningKilledAtRandomMomentsEndsInTheSameCertificate) {
  kill_and_go_on(tune(), 8 / share_of_kills, 12);
}

TEST_F(Interruption, ATrainingKilledAtRandomMomentsEndsInTheSameWeights) {
  kill_and_go_on(train(), 17 / share_of_kills, 2);
}

TEST_F(Interruption, ACalibrationKilledAtRandomMomentsEndsInTheSameCertificates) {
  kill_and_go_on(calibrate(), 16 / share_of_kills, 3);
}

TEST_F(Interruption, AReproductionKilledAtRandomMomentsEndsInTheSameCertificates) {
  kill_and_go_on(reproduce(), 8 / share_of_kills, 7);
}

TEST_F(Interruption, WorstCasesKilledAtRandomMomentsEndInTheSameProof) {
  kill_and_go_on(worst_case(), 8 / share_of_kills, 9);
}

TEST_F(Interruption, RunsOfAProgramKilledAtRandomMomentsEndInTheSameCertificate) {
  kill_and_go_on(run_command(), 12 / share_of_kills, 10);
}

TEST_F(Interruption, ARunUntilAClaimHoldsKilledAtRandomMomentsEndsInTheSameCertificate) {
  kill_and_go_on(run_until(), 8 / share_of_kills, 11);
}

TEST_F(Interruption, ClosedLoopsKilledAtRandomMomentsEndInTheSameCertificates) {
  kill_and_go_on(run_loop(), 6 / share_of_kills, 13);
}

TEST_F(Interruption, RunsOfADrawnFamilyKilledAtRandomMomentsEndInTheSameCertificate) {
  kill_and_go_on(run_family(), 6 / share_of_kills, 14);
}

TEST_F(Interruption, AStreamedRunKilledAtRandomMomentsEndsInTheSameCertificate) {
  kill_and_go_on(run_streamed(), 6 / share_of_kills, 15);
}

TEST_F(Interruption, CountsOfAPartKilledAtRandomMomentsEndInTheSameTally) {
  kill_and_go_on(count_part(), 6 / share_of_kills, 16);
}

TEST_F(Interruption, ATuningOfConesKilledAtRandomMomentsEndsInTheSameCertificate) {
  kill_and_go_on(tune_cone(), 6 / share_of_kills, 17);
}

TEST_F(Interruption, ATuningOfAProgramKilledAtRandomMomentsEndsInTheSameCertificate) {
  kill_and_go_on(tune_command(), 6 / share_of_kills, 18);
}

TEST_F(Interruption, SigtermStopsEveryOtherVerbThatGoesOn) {
  for (const Work& work : {run_loop(), run_family(), run_streamed(), tune_cone(), tune_command()}) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(work.arguments, " ")));
    stop_and_go_on(work, SIGTERM, 143);
    for (const char* made : {"whole", "out", "kept"}) fs::remove_all(folder_ / made);
  }
}

// Its rows come through a pipe that stays open, so that it cannot end before.
TEST_F(Interruption, SigtermStopsCountsOfAPartThatGoOn) {
  const Work work = count_part();
  ASSERT_EQ(Child(folder_, command(work, "whole")).wait(), 0) << errors();
  ASSERT_EQ(shell("mkfifo pipe").code, 0);
  const std::string kept = " --checkpoint kept --checkpoint-seconds 0";
  const std::string count = SUREFOOT_PROGRAM " certify - --source all --first-row 100 --tally out" + kept;
  {
    Child child(folder_,
                {"sh", "-c", "exec 3<>pipe; head -c 28000000 table.csv >pipe 3>&- & exec " + count + " <&3"});
    ASSERT_FALSE(child.wait_for(long_enough, [&] { return is_kept(work); })) << errors();
    child.send(SIGTERM);
    ASSERT_EQ(child.wait_for(long_enough), 143) << errors();
  }
  ASSERT_EQ(shell(count + " --resume <table.csv").code, 0);
  expect_same_results(work, "out");
}

TEST_F(Interruption, SigtermEndsTheProgramsThatRunAndGoesOn) {
  Work work = run_command();
  ASSERT_EQ(Child(folder_, command(work, "whole")).wait(), 0) << errors();
  write("solver.sh", "#!/bin/sh\ntrap '' TERM INT\n[ $1 -gt 30 ] && { sleep 1000 & wait; }\n" +
                         slurp(folder_ / "solver.sh").substr(10));
  {
    Child child(folder_, command(work, "out", {"--checkpoint", "kept", "--checkpoint-seconds", "0"}));
    std::vector<pid_t> programs;
    ASSERT_FALSE(child.wait_for(long_enough, [&] {
      programs = child.children();
      return is_kept(work) && programs.size() == 2;
    }));
    std::this_thread::sleep_for(500ms);
    programs = child.children();
    child.send(SIGTERM);
    ASSERT_EQ(child.wait_for(long_enough), 143) << errors();
    for (const pid_t program : programs) EXPECT_NE(::kill(program, 0), 0) << "it is left running";
  }
  EXPECT_NE(errors().find("--checkpoint-seconds 0 --resume -- ./solver.sh"), std::string::npos) << errors();
  work = run_command();
  ASSERT_EQ(Child(folder_, resumable(work, "out")).wait(), 0) << errors();
  EXPECT_TRUE(goes_on()) << errors();
  expect_same_results(work, "out");
}

TEST_F(Interruption, SigintStopsWorstCasesThatGoOn) {
  stop_and_go_on(worst_case(), SIGINT, 130);
}

TEST_F(Interruption, OfAReproductionOnlyADamagedPartIsDoneAgain) {
  const Work work = reproduce();
  ASSERT_EQ(Child(folder_, command(work, "whole")).wait(), 0) << errors();
  {
    Child child(folder_, resumable(work, "out"));
    ASSERT_FALSE(child.wait_for(long_enough, [&] { return is_kept(work); }));
    child.send(SIGKILL);
    child.wait();
  }
  const fs::path kept = fs::directory_iterator(folder_ / "kept")->path();
  const std::string solutions = slurp(kept / "part-1.checkpoint");
  testing::spill(kept / "part-1.checkpoint", solutions.substr(0, solutions.size() - 1));
  fs::copy(folder_ / "kept", folder_ / "as-it-was", fs::copy_options::recursive);
  ASSERT_EQ(Child(folder_, resumable(work, "out")).wait(), 0) << errors();
  EXPECT_NE(errors().find("part-1.checkpoint: is damaged"), std::string::npos) << errors();
  EXPECT_NE(errors().find("this part is done again\n"), std::string::npos) << errors();
  EXPECT_TRUE(goes_on()) << errors();
  expect_same_results(work, "out");

  fs::rename(folder_ / "as-it-was" / kept.filename(), kept);
  fs::rename(kept / "part-2.checkpoint", kept / "part-2.rank-0-of-3.checkpoint");
  EXPECT_EQ(Child(folder_, resumable(work, "out")).wait(), 2);
  EXPECT_NE(errors().find("was left by another number of processes than the 1 of now"), std::string::npos)
      << errors();
}

TEST_F(Interruption, ProcessesOfAReproductionOfWhichOneOrAllAreKilledEndInTheSameCertificates) {
  if (const std::string what = missing(); !what.empty()) GTEST_SKIP() << what;
  kill_and_go_on(by_two(reproduce(), "part-2.rank-0-of-2.checkpoint"), std::max(1, 4 / share_of_kills), 8);
}

TEST_F(Interruption, ProcessesOfWhichOneOrAllAreKilledEndInTheSameCertificate) {
  if (const std::string what = missing(); !what.empty()) GTEST_SKIP() << what;
  kill_and_go_on(by_two(run(), "run-qp.rank-0-of-2.checkpoint"), 10 / share_of_kills, 4);
}

TEST_F(Interruption, ProcessesOfWhichOneOrAllAreKilledEndInTheSameWeights) {
  if (const std::string what = missing(); !what.empty()) GTEST_SKIP() << what;
  kill_and_go_on(by_two(train(), "train.checkpoint"), 8 / share_of_kills, 5);
}

TEST_F(Interruption, ProcessesOfWhichOneOrAllAreKilledEndInTheSameCalibration) {
  if (const std::string what = missing(); !what.empty()) GTEST_SKIP() << what;
  kill_and_go_on(by_two(calibrate(), "calibrate.rank-0-of-2.checkpoint"), 8 / share_of_kills, 6);
}

TEST_F(Interruption, SigintStopsARunThatGoesOn) {
  stop_and_go_on(run(), SIGINT, 130);
}

TEST_F(Interruption, SigtermStopsATrainingThatGoesOn) {
  stop_and_go_on(train(), SIGTERM, 143);
}

TEST_F(Interruption, ATerminalThatIsClosedKeepsACheckpoint) {
  stop_and_go_on(run(), SIGHUP, 129);
}

TEST_F(Interruption, WaitingForInputEndsAtTheFirstSignal) {
  ASSERT_EQ(shell("mkfifo pipe").code, 0);
  for (const char* input : {"pipe", "-"}) {
    // Nobody ever writes into the pipe; standard input is one that stays open.
    const std::vector<std::string> command{
        "sh", "-c", fmt::format("exec 3<>pipe; exec {} certify {} --out out <&3", SUREFOOT_PROGRAM, input)};
    Child child(folder_, command);
    ASSERT_FALSE(child.wait_for(long_enough, [&] { return child.catches(SIGHUP) && child.catches(SIGINT); }));
    child.send(SIGINT);
    EXPECT_EQ(child.wait_for(long_enough), 130) << input;
    EXPECT_NE(errors().find("stopped by SIGINT"), std::string::npos) << errors();
  }
}

TEST_F(Interruption, ASecondSignalOfAnotherKindEndsAtOnceToo) {
  Child child(folder_, {SUREFOOT_PROGRAM, "run", "qp", SUREFOOT_SOURCE_DIR "/examples/mpc", "--iterations",
                        "1000000", "--out", "out"});
  ASSERT_FALSE(child.wait_for(long_enough, [&] { return child.catches(SIGINT) && child.catches(SIGTERM); }));
  std::this_thread::sleep_for(500ms);
  child.send(SIGINT);
  std::this_thread::sleep_for(100ms);
  child.send(SIGTERM);
  EXPECT_EQ(child.wait_for(long_enough), 143);
}

TEST_F(Interruption, SigtermStopsACalibrationThatGoesOn) {
  stop_and_go_on(calibrate(), SIGTERM, 143);
}

TEST_F(Interruption, WithoutCheckpointsASignalSaysThatNothingIsKept) {
  Work work = run();
  work.arguments[4] = "1000000";
  Child child(folder_, command(work, "out"));
  // The folder is made before the work begins.
  ASSERT_FALSE(child.wait_for(long_enough, [&] { return fs::exists(folder_ / "out"); }));
  std::this_thread::sleep_for(500ms);
  child.send(SIGINT);
  std::this_thread::sleep_for(100ms);
  child.send(SIGINT);  // a block of a million iterations takes long; the second signal does not wait for it
  EXPECT_EQ(child.wait_for(long_enough), 130) << errors();
  // The second one leaves the lock, which blocks nobody.
  for (const auto& entry : fs::directory_iterator(folder_ / "out"))
    EXPECT_EQ(entry.path().filename(), ".surefoot-lock");
  work.arguments[4] = "20";
  EXPECT_EQ(Child(folder_, command(work, "out")).wait(), 0) << errors();
  EXPECT_FALSE(fs::exists(folder_ / "out/.surefoot-lock"));
}

TEST_F(Interruption, TracesAreKeptTooAndNoClockMatters) {
  Work work = run();
  work.arguments.emplace_back("--save-traces");
  work.results.emplace_back("traces.npy");
  ASSERT_EQ(Child(folder_, command(work, "whole")).wait(), 0) << errors();
  {
    Child child(folder_, resumable(work, "out"));
    ASSERT_FALSE(child.wait_for(long_enough, [&] { return fs::exists(folder_ / "kept" / work.checkpoint); }));
    child.send(SIGKILL);
    child.wait();
  }
  // As if the clock had been set back by years since the checkpoint was written.
  fs::last_write_time(folder_ / "kept" / work.checkpoint, fs::file_time_type::clock::now() + 100000h);
  ASSERT_EQ(Child(folder_, resumable(work, "out")).wait(), 0) << errors();
  EXPECT_TRUE(goes_on()) << errors();
  expect_same_results(work, "out");
}

TEST_F(Interruption, ACheckpointOfOtherWorkIsRefusedWithWhatDiffers) {
  const Work work = run();
  {
    Child child(folder_, resumable(work, "out"));
    ASSERT_FALSE(child.wait_for(long_enough, [&] { return fs::exists(folder_ / "kept" / work.checkpoint); }));
    child.send(SIGKILL);
    child.wait();
  }
  const std::string kept = slurp(folder_ / "kept" / work.checkpoint);
  const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.end(), {"--out", "out", "--checkpoint", "kept", "--resume"});
    const auto result = surefoot(fmt::format("{}", fmt::join(arguments, " ")));
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  std::vector<std::string> other = work.arguments;
  other[4] = "1600";
  refused(other,
          fmt::format(
              "run-qp.checkpoint: belongs to another configuration: --iterations is '{}' there and '1600'",
              iterations));
  const std::string copy = (folder_ / "mpc").string();
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/mpc", copy);
  other = work.arguments;
  other[2] = copy;
  testing::spill(folder_ / "mpc" / "q.csv", "1" + slurp(folder_ / "mpc" / "q.csv"));
  refused(other, "belongs to another configuration: --q is");
  testing::spill(folder_ / "kept" / work.checkpoint, kept.substr(0, kept.size() - 1));
  refused(work.arguments, "run-qp.checkpoint: is damaged");
  EXPECT_NE(surefoot("certify nothing.csv --resume").err.find("--resume needs --checkpoint"),
            std::string::npos);
}

TEST_F(Interruption, AStoppedTableIsGoneOnWith) {
  // Through a pipe, so that it is certain where the signal comes: while the reader waits for the last part.
  const auto made = shell(
      "mkfifo t.csv; python3 -c \"import random; random.seed(1)\nwith open('data', 'w') as f:\n  "
      "f.write('k=1,k=2,k=3\\n')\n  for i in range(20000):\n    f.write((','.join(repr(random.random()) for "
      "_ in range(3)) + '\\n') * 30)\"");
  ASSERT_EQ(made.code, 0) << made.err;
  const Work work{
      {"certify", "t.csv", "--tolerances", "0.1,0.5", "--allow-dependence"},  // every row is there 30 times
      {"certificate.json"},
      "certify.checkpoint"};
  const auto feed = [&](const std::string& commands) {
    return std::make_unique<Child>(folder_,
                                   std::vector<std::string>{"sh", "-c", "(" + commands + ") >t.csv"});
  };
  const auto all = feed("cat data");
  ASSERT_EQ(Child(folder_, command(work, "whole")).wait(), 0) << errors();
  {
    const auto part =
        feed("head -c 25000000 data; while [ ! -e more ]; do sleep 0.01; done; tail -c +25000001 data");
    Child child(folder_, resumable(work, "out"));
    ASSERT_FALSE(child.wait_for(long_enough, [&] { return fs::exists(folder_ / "kept" / work.checkpoint); }));
    child.send(SIGINT);
    write("more", "");
    ASSERT_EQ(child.wait_for(long_enough), 130) << errors();
  }
  EXPECT_NE(errors().find("resume with: "), std::string::npos) << errors();
  const auto again = feed("cat data");
  ASSERT_EQ(Child(folder_, resumable(work, "out")).wait(), 0) << errors();
  EXPECT_TRUE(goes_on()) << errors();
  expect_same_results(work, "out");
}

}  // namespace
}  // namespace surefoot
