#pragma once

#include "surefoot/experiments/host.hpp"

#include <chrono>
#include <string>

/// One line of progress on standard error, drawn anew in place. Silent unless standard error is a terminal
/// and the work has lasted over a second. Erased when done.
class TerminalProgress final : public surefoot::experiments::ProgressLine {
 public:
  explicit TerminalProgress(std::string what);
  ~TerminalProgress() override;
  void update(double done, double total, const char* unit) override;

 private:
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};
