#include "stopping.hpp"

#include "surefoot/core/interruption.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <string_view>
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

constexpr std::array<int, 3> stop_signals{SIGHUP, SIGINT, SIGTERM};

// The second signal, whichever it is, acts as if nobody caught it.
void catch_signal(int signal) {
  int none = 0;
  if (caught_signal.compare_exchange_strong(none, signal, std::memory_order_relaxed)) return;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
}

void handle_stops(void (*handler)(int), int flags) {
  for (const int signal : stop_signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;  // nohup: the user has said so
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, nullptr);
  }
}

std::string_view signal_name(int signal) {
  if (signal == SIGHUP) return "SIGHUP";
  return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

}  // namespace

StopSignals::StopSignals(std::string how_to_go_on) {
  stop_words().how_to_go_on = std::move(how_to_go_on);
  handle_stops(catch_signal, SA_RESTART);
  surefoot::interrupt_of_waiting() = check;
}

StopSignals::~StopSignals() {
  surefoot::interrupt_of_waiting() = nullptr;
  handle_stops(SIG_DFL, 0);
}

bool StopSignals::stopped() {
  return caught_signal.load(std::memory_order_relaxed) != 0;
}

void StopSignals::check() {
  if (stopped()) throw surefoot::Interrupted();
}

std::string stopped_line() {
  return fmt::format("stopped by {}; {}", signal_name(caught_signal), stop_words().how_to_go_on);
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
