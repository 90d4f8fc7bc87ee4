#pragma once

#include <string>

/// While it lives, SIGINT, SIGTERM and SIGHUP do not end the program at once: check() then throws
/// surefoot::Interrupted, at the next block of work or while input is awaited. A second signal ends it at
/// once. A SIGHUP that is ignored, as under nohup, stays so.
class StopSignals {
 public:
  /// What to tell the user who has stopped the work: what is kept, and how to go on.
  explicit StopSignals(std::string how_to_go_on);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool stopped();
  static void check();
};

/// After Interrupted has reached main: one line for the user, and the exit code, 129, 130 or 143.
std::string stopped_line();
int stopped_exit_code();

/// The command line as it was given, quoted for a shell.
void set_command_line(int argc, char** argv);
const std::string& command_line();
