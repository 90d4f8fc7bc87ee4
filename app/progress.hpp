#pragma once

#include "surefoot/core/types.hpp"

#include <chrono>
#include <functional>
#include <string>

/// While it lives, every line of progress ends in these words: where a run of several parts stands.
class WholeProgress {
 public:
  explicit WholeProgress(std::function<std::string()> words);
  ~WholeProgress();
  WholeProgress(const WholeProgress&) = delete;
  WholeProgress& operator=(const WholeProgress&) = delete;
};

/// " (words)" of the whole; empty if there is none.
std::string whole_progress();

/// One line of progress on standard error, drawn anew in place. Silent unless standard error is a terminal
/// and the work has lasted over a second. Erased when done.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` (0: unknown), in units of `unit` ("MB", "runs").
  void update(double done, double total, const char* unit);

 private:
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};
