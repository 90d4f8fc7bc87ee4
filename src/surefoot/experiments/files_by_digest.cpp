#include "surefoot/experiments/files_by_digest.hpp"

#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"

#include <algorithm>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

void add_files_below(const fs::path& folder, std::vector<fs::path>& found) {
  constexpr int deepest = 1;
  constexpr auto options = fs::directory_options::skip_permission_denied;
  const std::size_t before = found.size();
  for (auto entry = fs::recursive_directory_iterator(folder, options);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry.depth() >= deepest) entry.disable_recursion_pending();
    if (entry->is_regular_file()) found.push_back(entry->path());
  }
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
}

}  // namespace

std::optional<fs::path> file_by_digest(const std::vector<fs::path>& folders, const std::string& name,
                                       const std::string& sha256) {
  std::vector<fs::path> candidates;
  for (const fs::path& folder : folders) add_files_below(folder, candidates);
  // Those of the same name first: large folders are then not read as a whole.
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](const fs::path& path) { return path.filename() == name; });
  const auto found = std::ranges::find_if(
      candidates, [&](const fs::path& path) { return io::sha256_of_file(path.string()) == sha256; });
  if (found == candidates.end()) return std::nullopt;
  return *found;
}

}  // namespace surefoot::experiments
