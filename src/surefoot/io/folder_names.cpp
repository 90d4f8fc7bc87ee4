#include "surefoot/io/folder_names.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

namespace surefoot::io {

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
  if (open == nullptr && errno == ENOMEM) throw std::bad_alloc();
  if (open == nullptr && (errno == ENOENT || errno == ENOTDIR)) return {};
  require(open != nullptr, "{}: cannot read this folder: {}", printable(folder.string()), reason(errno));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(open.get())) {
    std::string name(entry->d_name);
    if (name != "." && name != "..") names.push_back(std::move(name));
    errno = 0;
  }
  require(errno == 0, "{}: cannot read this folder: {}", printable(folder.string()), reason(errno));
  std::sort(names.begin(), names.end());
  return names;
}

std::filesystem::path inside(const std::filesystem::path& folder, const std::filesystem::path& below) {
  return below.empty() ? folder : folder / below;
}

}  // namespace surefoot::io
