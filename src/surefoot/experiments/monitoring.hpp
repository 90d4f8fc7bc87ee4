#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/io/live_lines.hpp"
#include "surefoot/monitoring/watched.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What `monitor` and `export` do.
namespace surefoot::experiments {

struct WatchChoice {
  std::filesystem::path certificate;
  std::vector<std::string> claims;  ///< none: the success rates of the last step
  std::string variant;
  monitoring::AlarmRule rule;
  std::uint64_t memory_limit = 0;

  /// What can be said before a file is opened.
  void validate() const;
};

struct MonitorOptions {
  WatchChoice watch;
  bool outcomes = false;
  bool keep_going = false;
  bool refuse_unreadable = false;  ///< instead of counting such lines as failed
  bool json = false;
  Index every = 0;  ///< solves between two lines of status; 0: none
  std::filesystem::path state;
  bool replay = false;  ///< the stream begins again with the lines that the state has seen
  double seconds = 1;   ///< between two saved states, and two files of metrics
  std::filesystem::path metrics;
  std::filesystem::path page;
  std::filesystem::path reference;
  std::optional<Index> reference_step;
  std::uint64_t seed = 0;

  void validate() const;
};

/// Watches the lines of a stream until it ends, or the first alarm unless it keeps going. What is said goes
/// to `print`, whole lines, at once. State and metrics are written at an alarm, at the end, when somebody
/// stops the work and, while lines come, from time to time. Whether there was an alarm in these lines; a test
/// that had one before has it still.
bool monitor_stream(const MonitorOptions& options, io::LiveLines& lines,
                    const std::function<void(const std::string&)>& print);

struct ExportOptions {
  WatchChoice watch;
  std::filesystem::path c_file;
  std::string name = "surefoot_exported";  ///< of the variable

  void validate() const;
};

/// Writes the constants of a monitor for surefoot/monitor.h; what was exported, in words.
std::string export_monitor(const ExportOptions& options);

}  // namespace surefoot::experiments
