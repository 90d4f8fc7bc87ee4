#include "surefoot/report/process.hpp"

#include "surefoot/core/memory_cap.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace surefoot::report {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Unnamed files instead of pipes: no side ever waits for the other.
struct Channels {
  File input{std::tmpfile()};
  File output{std::tmpfile()};
  File errors{std::tmpfile()};

  [[nodiscard]] bool opened() const { return input && output && errors; }
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

bool fill(std::FILE* file, std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return written && std::fflush(file) == 0 && std::fseek(file, 0, SEEK_SET) == 0;
}

/// None: it cannot be read.
std::optional<std::string> content(std::FILE* file) {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  std::rewind(file);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), count);
  }
  if (std::ferror(file) != 0) return std::nullopt;
  return text;
}

class SpawnActions {
 public:
  explicit SpawnActions(const Channels& channels) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, fileno(channels.input.get()), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, fileno(channels.output.get()), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, fileno(channels.errors.get()), STDERR_FILENO);
  }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// None: it did not end in time and was killed.
std::optional<int> wait_for(pid_t child, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  bool killed = false;
  for (auto pause = std::chrono::microseconds(500);;) {
    const pid_t ended = waitpid(child, &status, killed ? 0 : WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return -1;
    if (killed) continue;
    WorkInterrupt::check();
    if (Clock::now() >= end) {
      ::kill(child, SIGKILL);
      killed = true;
      continue;
    }
    std::this_thread::sleep_for(pause);
    constexpr auto longest = std::chrono::microseconds(20000);
    pause = std::min(2 * pause, longest);
  }
  if (killed) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Programs that did not end: waiting for each of their figures would take as long again.
class Hung {
 public:
  [[nodiscard]] bool contains(const std::string& program) {
    const std::scoped_lock lock(mutex_);
    return programs_.contains(program);
  }
  void add(const std::string& program) {
    const std::scoped_lock lock(mutex_);
    programs_.insert(program);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> programs_;
};

Hung& hung() {
  static Hung programs;
  return programs;
}

/// Signals that this program ignores act on those that it runs.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t acting;
    sigemptyset(&acting);
    for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&acting, signal);
    posix_spawnattr_setsigdefault(&attributes_, &acting);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, std::string_view input, double seconds) {
  ProcessResult result;
  if (hung().contains(command.front())) {
    result.timed_out = true;
    return result;
  }
  const Channels channels;
  if (!channels.opened() || !fill(channels.input.get(), input)) {
    result.errors = "no temporary file: " + reason(errno);
    return result;
  }
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnActions actions(channels);
  pid_t child = 0;
  const SpawnAttributes attributes;
  const int error = [&] {
    const MemoryCapLifted for_the_child;
    return posix_spawnp(&child, arguments[0], actions.get(), attributes.get(), arguments.data(), environ);
  }();
  if (error != 0) {
    result.missing = error == ENOENT;
    result.errors = reason(error);
    return result;
  }
  result.started = true;
  const std::optional<int> exit_code = [&] {
    try {
      return wait_for(child, seconds);
    } catch (const Interrupted&) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      throw;
    }
  }();
  if (!exit_code) {
    hung().add(command.front());
    result.timed_out = true;
    return result;
  }
  result.exit_code = *exit_code;
  const std::optional<std::string> output = content(channels.output.get());
  result.output = output.value_or("");
  result.errors = output ? content(channels.errors.get()).value_or("") : "what it drew cannot be read";
  return result;
}

}  // namespace surefoot::report
