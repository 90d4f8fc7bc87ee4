#include "surefoot/experiments/files_by_digest.hpp"

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/folder_names.hpp"
#include "surefoot/io/sha256.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

/// The files of a folder and of the folders in it; what may not be read is left out.
void add_files_below(const fs::path& folder, int deepest, std::vector<fs::path>& found) {
  if (::access(folder.c_str(), R_OK | X_OK) != 0 && errno == EACCES) return;
  for (const std::string& name : io::names_in(folder)) {
    const fs::path path = folder / name;
    std::error_code unknown;
    const fs::file_status status = fs::status(path, unknown);
    if (fs::is_regular_file(status)) found.push_back(path);
    if (fs::is_directory(status) && deepest > 0) add_files_below(path, deepest - 1, found);
  }
}

}  // namespace

std::optional<fs::path> file_by_digest(const std::vector<fs::path>& folders, const std::string& name,
                                       const std::string& sha256) {
  std::vector<fs::path> candidates;
  for (const fs::path& folder : folders) add_files_below(folder, 1, candidates);
  // Those of the same name first: large folders are then not read as a whole.
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](const fs::path& path) { return path.filename() == name; });
  const auto found = std::ranges::find_if(
      candidates, [&](const fs::path& path) { return io::sha256_of_file(path.string()) == sha256; });
  if (found == candidates.end()) return std::nullopt;
  return *found;
}

}  // namespace surefoot::experiments
