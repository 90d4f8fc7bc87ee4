#include "surefoot/core/kernel_libraries.hpp"

#include "surefoot/core/kernels.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace surefoot {

namespace fs = std::filesystem;

namespace {

// In the order of the psABI; the library of the first one lies where libraries are, the others where the
// loader of glibc looks first.
constexpr std::array<std::string_view, 3> package_levels{"x86-64-v2", "x86-64-v3", "x86-64-v4"};
constexpr std::string_view preferred_folder = "glibc-hwcaps";
const char here = 0;  // in the library that is loaded

fs::path loaded_object() {
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  fs::path path = fs::weakly_canonical(info.dli_fname, error);
  return error ? fs::path() : path;
}

}  // namespace

std::string kernel_library(std::string_view level) {
  const fs::path loaded = loaded_object();
  if (!kernels_of_package(level) || loaded.filename().string().find("surefoot.so") == std::string::npos)
    return "";
  fs::path folder = loaded.parent_path();
  if (folder.parent_path().filename() == preferred_folder) folder = folder.parent_path().parent_path();
  if (level != package_levels.front()) folder = folder / preferred_folder / level;
  const fs::path library = folder / loaded.filename();
  std::error_code error;
  return fs::exists(library, error) ? library.string() : "";
}

bool can_start_with(std::string_view level) {
  return level == kernel_level() || (machine_has(level) && !kernel_library(level).empty());
}

bool kernels_of_package(std::string_view level) {
  return std::ranges::find(package_levels, level) != package_levels.end();
}

std::string startable_kernels() {
  std::string names;
  for (const std::string_view level : package_levels) {
    if (level != kernel_level() && can_start_with(level)) names += std::string(level) + ", ";
  }
  return names + std::string(kernel_level());
}

}  // namespace surefoot
