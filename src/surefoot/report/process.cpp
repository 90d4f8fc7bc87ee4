#include "surefoot/report/process.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

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

std::string content(std::FILE* file) {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  std::rewind(file);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), count);
  }
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

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, std::string_view input) {
  const Channels channels;
  if (!channels.opened() || !fill(channels.input.get(), input)) {
    return {false, 0, "", "no temporary file: " + reason(errno)};
  }
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnActions actions(channels);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ);
  if (error != 0) return {false, 0, "", reason(error)};
  const int exit_code = wait_for(child);
  return {true, exit_code, content(channels.output.get()), content(channels.errors.get())};
}

}  // namespace surefoot::report
