#include "surefoot/experiments/child_programs.hpp"

#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace surefoot::experiments {
namespace {

using namespace std::chrono_literals;
using How = ChildEnd::How;
using Clock = std::chrono::steady_clock;

ChildEnd end_of(const std::string& script, ChildOptions options = {}) {
  ChildPrograms programs(options);
  programs.begin(5, {"sh", "-c", script});
  std::vector<ChildEnd> ended = programs.wait(nullptr);
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().number, 5);
  EXPECT_EQ(programs.running(), 0U);
  return ended.front();
}

bool runs(pid_t process) {
  return kill(process, 0) == 0 || errno != ESRCH;
}

// A process that was killed by us and adopted by another may be there for a moment.
bool ends_soon(pid_t process) {
  for (int i = 0; i < 500 && runs(process); ++i) std::this_thread::sleep_for(10ms);
  return !runs(process);
}

TEST(ChildPrograms, SayHowTheyEnded) {
  const ChildEnd good = end_of("echo 1 2 3; echo said >&2");
  EXPECT_EQ(good.how, How::exited);
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.output, "1 2 3\n");
  EXPECT_EQ(good.errors, "said\n");
  EXPECT_EQ(end_of("exit 7").code, 7);
  const ChildEnd crashed = end_of("kill -SEGV $$");
  EXPECT_EQ(crashed.how, How::signalled);
  EXPECT_EQ(crashed.code, SIGSEGV);
  EXPECT_EQ(end_of("printf 'a\\000b'").output, std::string("a\0b", 3));
}

TEST(ChildPrograms, GetNoShellAndNoInput) {
  ChildPrograms programs({});
  programs.begin(0, {"printf", "%s", "$HOME `id` *"});
  EXPECT_EQ(programs.wait(nullptr).front().output, "$HOME `id` *");
  EXPECT_EQ(end_of("cat").output, "");
  EXPECT_INPUT_ERROR(programs.begin(0, {"no-such-program-here"}),
                     "no-such-program-here: cannot be run: No such file");
  EXPECT_INPUT_ERROR(programs.begin(0, {"/"}), "Permission denied");
  EXPECT_EQ(programs.running(), 0U);
}

TEST(ChildPrograms, AreEndedWithAllThatTheyBeganWhenTheirTimeIsOver) {
  const auto begin = Clock::now();
  // It ignores SIGTERM, as does what it has begun.
  const ChildEnd end =
      end_of("trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1; done", {.seconds = 0.3});
  EXPECT_LT(Clock::now() - begin, 60s);
  EXPECT_EQ(end.how, How::out_of_time);
  EXPECT_TRUE(ends_soon(static_cast<pid_t>(std::stol(end.output))));
}

TEST(ChildPrograms, LeaveNothingRunningThatHoldsTheirOutput) {
  const auto begin = Clock::now();
  const ChildEnd end = end_of("sleep 1000 & echo $!");
  EXPECT_LT(Clock::now() - begin, 60s);
  EXPECT_EQ(end.how, How::exited);
  EXPECT_TRUE(ends_soon(static_cast<pid_t>(std::stol(end.output))));
}

TEST(ChildPrograms, AreEndedWhenTheyPrintTooMuch) {
  const ChildEnd end = end_of("yes", {.most_output = 100'000});
  EXPECT_EQ(end.how, How::too_much_output);
  EXPECT_LT(end.output.size(), 1'000'000U);
  const ChildEnd loud =
      end_of("head -c 3000000 /dev/zero >&2; echo last >&2; echo 1", {.most_output = 100'000});
  EXPECT_EQ(loud.how, How::exited);
  EXPECT_EQ(loud.output, "1\n");
  EXPECT_LT(loud.errors.size(), 100'000U);
}

TEST(ChildPrograms, RunAtTheSameTime) {
  ChildPrograms programs({});
  for (Index i = 0; i < 8; ++i) programs.begin(i, {"sh", "-c", "sleep 1; echo " + std::to_string(i)});
  EXPECT_EQ(programs.running(), 8U);
  int ended = 0;
  while (programs.running() > 0) {
    for (const ChildEnd& end : programs.wait(nullptr)) {
      EXPECT_EQ(end.output, std::to_string(end.number) + "\n");
      ++ended;
    }
  }
  EXPECT_EQ(ended, 8);
}

TEST(ChildPrograms, EndWithTheWorkAndLeaveNoZombie) {
  {
    ChildPrograms programs({});
    for (Index i = 0; i < 3; ++i) programs.begin(i, {"sleep", "1000"});
    EXPECT_THROW(programs.wait([] { throw Interrupted(); }), Interrupted);
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace surefoot::experiments
