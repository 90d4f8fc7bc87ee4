#pragma once

#include "surefoot/core/interruption.hpp"

#include <functional>
#include <memory>
#include <string>

/// Where long work runs: who hears its messages, sees its progress and may stop it. The program sets it; a
/// library or a test that does not is silent and never stops.
namespace surefoot::experiments {

/// A line of progress; it ends with its object.
class ProgressLine {
 public:
  ProgressLine() = default;
  virtual ~ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// `done` of `total` (0: unknown), in units of `unit` ("MB", "runs").
  virtual void update(double done, double total, const char* unit) = 0;
};

struct Host {
  /// A message for the user.
  std::function<void(const std::string&)> say = [](const std::string&) {};
  /// Null: progress is not shown.
  std::function<std::unique_ptr<ProgressLine>(const std::string& what)> progress = [](const std::string&) {
    return nullptr;
  };
  /// Throws Interrupted once the user has stopped the work.
  Interrupt check = [] {};
  std::function<bool()> stopped = [] { return false; };
};
Host& host();

/// A line of progress of the host's.
class Progress {
 public:
  explicit Progress(const std::string& what) : line_(host().progress(what)) {}
  void update(double done, double total, const char* unit) {
    if (line_) line_->update(done, total, unit);
  }

 private:
  std::unique_ptr<ProgressLine> line_;
};

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

}  // namespace surefoot::experiments
