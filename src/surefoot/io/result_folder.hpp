#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/io/atomic_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::io {

inline constexpr const char* manifest_name = "manifest.json";

/// What a result folder holds: {"format": "surefoot-manifest", "format_version": 1, "version": "0.1.0",
/// "complete": true, "files": [{"name": "report.html", "bytes": 12, "sha256": "..."}]}.
///
/// While a result is written, "complete" is false and files are the names of the earlier result and of this
/// one, some of which may be there. A file with "earlier": true was made by an earlier run and stays.
struct Manifest {
  struct File {
    std::uint64_t bytes = 0;
    std::string sha256;  ///< empty in a manifest that is not complete
    bool earlier = false;
  };
  bool complete = false;
  std::map<std::string, File> files;  ///< by name inside the folder
};

std::string to_json(const Manifest& manifest);
/// Whether the text claims to be a manifest of ours.
bool is_manifest(std::string_view text);
/// InputError names what is wrong; `source` is the file. Names that leave the folder are refused.
Manifest parse_manifest(const std::string& source, std::string_view text);
/// None if the folder has no manifest of ours.
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);

/// What a folder is against its manifest, and inside it those folders whose manifests are listed.
struct FolderCheck {
  Index files = 0;                    ///< listed and compared
  std::vector<std::string> findings;  ///< changed, missing, not complete
  std::vector<std::string> others;    ///< files beside it that no manifest lists
};
FolderCheck check_result_folder(const std::filesystem::path& folder);

/// The files that the manifest of a folder lists, and inside it those whose manifests are listed; by their
/// names in the folder. None if there is no manifest.
std::vector<std::string> files_of_result(const std::filesystem::path& folder);

/// The nearest folder at or above a file whose manifest lists it.
std::optional<std::filesystem::path> result_folder_of(const std::filesystem::path& file);

/// An output folder as one result: a manifest with the digest of every file is written last.
///
/// A process that is killed leaves either the earlier result whole, or a manifest that says that the folder
/// is not complete. Files that are listed in the manifest of the earlier result are replaced, and those that
/// the new result does not have are removed, but for weights, ledgers, checkpoints and results in folders
/// inside. Other files are never touched.
///
/// The folder is locked while the object lives. Where several processes do one job, only the first writes.
class ResultFolder {
 public:
  /// Whether a name inside the folder is one that the result may have.
  using MayWrite = std::function<bool(const std::filesystem::path&)>;

  /// Creates the folder if needed. InputError if another run writes there, if it has files but no manifest of
  /// ours, or a file that is not listed under a name that the result may have.
  explicit ResultFolder(std::filesystem::path folder, const MayWrite& may_write = {});
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }

  /// From here on the folder is not complete. write() and finish() do it by themselves.
  void begin();
  /// Writes one file now; its folder is created.
  void write(const std::string& name, std::string_view content);
  /// A file that somebody else wrote inside the folder belongs to the result: weights, or the manifest of a
  /// result inside.
  void add(const std::string& name);
  /// Writes the last files, removes what is left of the earlier result, then writes the manifest. If files
  /// were only written here, a full disk changes nothing.
  void finish(const std::vector<FileContent>& files = {});

 private:
  class Lock;
  void require_ours(const std::vector<std::string>& names) const;
  void mark(const std::vector<std::string>& names);
  [[nodiscard]] Manifest with_kept(Manifest manifest) const;
  void remove_stale(const Manifest& now) const;

  std::filesystem::path folder_;
  std::unique_ptr<Lock> lock_;
  Manifest earlier_;
  Manifest now_;
  std::set<std::string> marked_;  ///< names in the manifest on disk, once it says that it is not complete
  bool begun_ = false;
};

}  // namespace surefoot::io
