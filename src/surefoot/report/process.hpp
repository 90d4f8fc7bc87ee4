#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace surefoot::report {

struct ProcessResult {
  bool started = false;    ///< false: `errors` says why not
  bool missing = false;    ///< there is no such program
  bool timed_out = false;  ///< it did not end in time, now or earlier, and was ended
  int exit_code = 0;       ///< 128 + signal if it was killed
  std::string output;
  std::string errors;
};

/// Runs a program found in PATH with the given standard input, without a shell, and waits for it. One that
/// has not ended after so many seconds is ended, and is not begun a second time.
ProcessResult run_process(const std::vector<std::string>& command, std::string_view input,
                          double seconds = 60);

}  // namespace surefoot::report
