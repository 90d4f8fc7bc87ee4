#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surefoot {
class ByteWriter;
}  // namespace surefoot

namespace surefoot::io {

/// Everything that a result depends on, by name. Work resumes from a checkpoint only if all of it is the
/// same.
using Configuration = std::vector<std::pair<std::string, std::string>>;

/// Writes a state where it is to lie: a large one needs no second copy.
using WriteState = std::function<void(ByteWriter&)>;

/// A checkpoint as it lies on disk: heading with the version of the format, the configuration, the state, and
/// the SHA-256 of all before it.
std::string checkpoint_bytes(const Configuration& configuration, std::string_view state);
std::string checkpoint_bytes(const Configuration& configuration, const WriteState& write_state);
/// The state. InputError if the bytes are no checkpoint, of another version, damaged, or of another
/// configuration: then it names the first value that differs.
std::string checkpoint_state(std::string_view bytes, const std::string& name,
                             const Configuration& configuration);

/// Checkpoints of this process that could not be written, a full disk say.
struct CheckpointLosses {
  long count = 0;
  std::string last;  ///< why the last one could not
  /// Told at the first of a series.
  std::function<void(const std::string& why)> warn;
};
CheckpointLosses& checkpoint_losses();

/// The file that keeps the state of long work while it goes on. It is written beside its destination, synced
/// and renamed: whenever the process dies, a whole one is there. The build of the program (core/build.hpp) is
/// part of its configuration.
class CheckpointFile {
 public:
  using Seconds = std::function<double()>;
  /// Where several processes do one job (core/ranks.hpp): whether the first writes for all, or each a file of
  /// its own.
  enum class Writer { first, each };

  /// None: never due, nothing is kept.
  CheckpointFile() = default;
  /// Due `seconds` after the last one, or later: writing takes at most a twentieth of the time. Time is that
  /// of a clock that nobody can set; `clock` replaces it in tests.
  CheckpointFile(std::filesystem::path path, Configuration configuration, double seconds,
                 Writer writer = Writer::first, Seconds clock = nullptr);

  [[nodiscard]] bool kept() const { return !path_.empty(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The state that an earlier process left, if there is a file.
  [[nodiscard]] std::optional<std::string> read() const;
  [[nodiscard]] bool due() const;
  /// False: it could not be written; the one before is still there, and checkpoint_losses() knows. Work does
  /// not end for it.
  bool write(std::string_view state);
  bool write(const WriteState& write_state);
  /// When the work is done.
  void remove() const;

 private:
  std::filesystem::path path_;
  Configuration configuration_;
  double seconds_ = 0;
  Writer writer_ = Writer::first;
  double wait_ = 0;
  double last_ = 0;
  bool lost_ = false;  // the last one that was to be written
  Seconds clock_;
};

}  // namespace surefoot::io
