#include "stopping.hpp"

#include "surefoot/core/interruption.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <utility>

namespace {

std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

struct StopWords {
  std::string how_to_go_on;
  std::string command;
};

StopWords& stop_words() {
  static StopWords words;
  return words;
}

void catch_signal(int signal) {
  caught_signal.store(signal, std::memory_order_relaxed);
}

void handle_stops(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals(std::string how_to_go_on) {
  stop_words().how_to_go_on = std::move(how_to_go_on);
  handle_stops(catch_signal, SA_RESTART | static_cast<int>(SA_RESETHAND));
}

StopSignals::~StopSignals() {
  handle_stops(SIG_DFL, 0);
}

bool StopSignals::stopped() {
  return caught_signal.load(std::memory_order_relaxed) != 0;
}

void StopSignals::check() {
  if (stopped()) throw surefoot::Interrupted();
}

std::string stopped_line() {
  return fmt::format("stopped by {}; {}", caught_signal == SIGTERM ? "SIGTERM" : "SIGINT",
                     stop_words().how_to_go_on);
}

int stopped_exit_code() {
  constexpr int of_signals = 128;
  return of_signals + caught_signal;
}

void set_command_line(int argc, char** argv) {
  std::string& command = stop_words().command;
  for (int i = 0; i < argc; ++i) command += (i > 0 ? " " : "") + surefoot::report::shell_quoted(argv[i]);
}

const std::string& command_line() {
  return stop_words().command;
}
