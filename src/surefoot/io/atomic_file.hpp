#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::io {

// Where several processes do one job (core/ranks.hpp), only the first writes and removes files: for the
// others the functions here do nothing, but for read_file() and write_own_file_atomically().

/// Writes a file beside its destination and renames it: a reader sees the old content or the new one, never a
/// part. A file that is replaced keeps its mode. A symbolic link is followed; a destination that is no
/// regular file is refused. Throws InputError naming the path and the system's reason; then nothing is left
/// behind.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

struct FileContent {
  std::filesystem::path path;
  std::string_view content;
};
/// The same for files that belong together: all are written beside their destinations before the first is
/// renamed, so that a full disk leaves none of them.
void write_files_atomically(const std::vector<FileContent>& files);

/// The same for a file that every process has one of, under a name of its own.
void write_own_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Files in two steps: add() writes one beside its destination, commit() renames all. What is not committed
/// is removed. For whoever must do something between the two; every process has its own.
class StagedFiles {
 public:
  StagedFiles();
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  void add(const std::filesystem::path& path, std::string_view content);
  void commit();

 private:
  struct File;
  std::vector<std::unique_ptr<File>> files_;
};

/// Removes what this process is writing beside its destinations. For a process that ends without its
/// destructors; allocates nothing.
void remove_unfinished_files() noexcept;

/// Makes renames and removals in a folder durable, where the file system can.
void sync_folder(const std::filesystem::path& folder);

/// Whether a path ends in a name that files have before they are renamed.
bool is_temporary_name(const std::filesystem::path& path);

/// Creates the folder and its parents if needed, and makes those that are new durable.
void create_folders(const std::filesystem::path& folder);

/// The same, removes what processes that were killed left half written there, and checks that files can be
/// written.
void prepare_output_folder(const std::filesystem::path& folder);

/// Removes a file, or a folder with all in it, if it is there.
void remove_output(const std::filesystem::path& path);

/// The whole content of a file; throws InputError if it cannot be read or is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace surefoot::io
