#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace surefoot::report {

struct ProcessResult {
  bool started = false;  ///< false: `errors` says why not
  int exit_code = 0;     ///< 128 + signal if it was killed
  std::string output;
  std::string errors;
};

/// Runs a program found in PATH with the given standard input, without a shell, and waits for it.
ProcessResult run_process(const std::vector<std::string>& command, std::string_view input);

}  // namespace surefoot::report
