#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace surefoot::testing {

/// A program that runs beside the test, with its messages in `.err` of its folder.
class Child {
 public:
  using Clock = std::chrono::steady_clock;

  Child(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    id_ = ::fork();
    if (id_ != 0) return;
    const bool ready = ::chdir(folder.c_str()) == 0;
    const int nothing = ::open("/dev/null", O_RDWR);
    const int errors = ::open(".err", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
    if (ready) ::execvp(argv[0], argv.data());
    ::_exit(99);
  }
  ~Child() {
    if (code_) return;
    send(SIGKILL);
    (void)wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void send(int signal) const { ::kill(id_, signal); }

  /// Whether it has a handler for the signal by now.
  [[nodiscard]] bool catches(int signal) const {
    std::ifstream status("/proc/" + std::to_string(id_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigCgt:"))
        return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1U) != 0;
    }
    return false;
  }

  /// The processes that it has started and that still run.
  [[nodiscard]] std::vector<pid_t> children() const {
    std::ifstream list("/proc/" + std::to_string(id_) + "/task/" + std::to_string(id_) + "/children");
    std::vector<pid_t> ids;
    for (pid_t id = 0; list >> id;) {
      if (runs(id)) ids.push_back(id);
    }
    return ids;
  }

  /// Its exit code (128 + signal if one killed it) if it ends within the time, or before `enough` says so.
  std::optional<int> wait_for(Clock::duration time, const std::function<bool()>& enough = nullptr) {
    const auto end = Clock::now() + time;
    while (!code_ && Clock::now() < end && !(enough && enough())) {
      if (poll(WNOHANG)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return code_;
  }
  int wait() {
    while (!code_) poll(0);
    return *code_;
  }
  /// The most memory that was resident, in bytes, once it has ended.
  [[nodiscard]] double peak() const { return peak_; }

 private:
  // Neither gone nor ended without its parent having asked how.
  static bool runs(pid_t id) {
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t after_name = text.rfind(") ");
    return after_name != std::string::npos && text[after_name + 2] != 'Z' && text[after_name + 2] != 'X';
  }

  bool poll(int flags) {
    int status = 0;
    rusage usage{};
    if (::wait4(id_, &status, flags, &usage) != id_) return false;
    constexpr double kilobyte = 1024;
    peak_ = kilobyte * static_cast<double>(usage.ru_maxrss);
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
  }

  pid_t id_ = 0;
  std::optional<int> code_;
  double peak_ = 0;
};

}  // namespace surefoot::testing
