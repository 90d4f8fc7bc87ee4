#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include "command_line.hpp"
#include "ending.hpp"
#include "exit_codes.hpp"
#include "job.hpp"
#include "kernel_choice.hpp"
#include "last_resort.hpp"
#include "progress.hpp"
#include "say.hpp"
#include "stopping.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

// A stream that the caller has closed stays unusable: a file of ours must not get its number, or messages
// would go into it.
void hold_standard_streams() {
  constexpr std::array<std::pair<int, int>, 3> streams{
      {{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}};
  for (const auto& [stream, wrong_way] : streams) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", wrong_way);
  }
}

// These are done in no time, or read what only the first process has.
bool is_for_one_process(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words.front();
  return verb == "verify" || verb == "compare" || verb == "bound" || verb == "worst-case" ||
         verb == "monitor" || verb == "completion" || verb == "manual" || verb == "export" || verb.empty() ||
         verb.front() == '-';
}

int run_program(int argc, char** argv) {
  std::optional<Job> job;
  return last_words(end_of([&] {
    set_command_line(argc, argv);
    std::vector<std::string> words(argv + std::min(1, argc), argv + argc);
    kernel_choice::asked() = kernel_choice::taken_out_of(words);
    if (!kernel_choice::asked().empty()) kernel_choice::insist_on(kernel_choice::asked(), argv);
    surefoot::io::checkpoint_losses().warn = [](const std::string& why) {
      say(why + "; the work continues, and the last checkpoint is older");
    };
    surefoot::experiments::host() = {
        .say = [](const std::string& message) { say(message); },
        .progress = [](const std::string& what) { return std::make_unique<TerminalProgress>(what); },
        .check = StopSignals::check,
        .stopped = StopSignals::stopped};
    job.emplace(argc, argv, is_for_one_process(words));
    if (!job->works()) return int{holds};
    const int exit_code = run_command_line(words);
    surefoot::ranks().barrier();
    return exit_code;
  }));
}

}  // namespace

int main(int argc, char** argv) {
  kernel_choice::clean_environment();
  hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file too large is an error of writing, which names the file
  std::signal(SIGPIPE, SIG_IGN);  // so is a reader of messages that has gone: hours of work do not end for it
  catch_ends_by_libraries();
  int exit_code = no_resources;
  try {
    exit_code = run_program(argc, argv);
  } catch (const std::bad_alloc&) {  // also for the message
    say_plainly("out of memory");
  }
  end_is_ours();
  return exit_code;
}
