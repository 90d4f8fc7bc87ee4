#pragma once

/// What every verb ends with, the same everywhere (docs/reference_verbs.md has this table). Stopped by a
/// signal: 128 and its number.
enum ExitCode : int {
  holds = 0,         ///< done; what was asked holds
  refuted = 1,       ///< a certificate does not hold, what was asked is not certified, or a monitor alarms
  bad_input = 2,     ///< a file or an option cannot be used
  undecided = 3,     ///< nothing is shown either way
  no_resources = 4,  ///< memory or disk
  internal_error = 5,
};
