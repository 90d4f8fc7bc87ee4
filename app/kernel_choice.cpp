#include "kernel_choice.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/kernel_libraries.hpp"
#include "surefoot/core/kernels.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace kernel_choice {

using surefoot::require;

namespace {

constexpr std::string_view option = "--kernels";
// Whether this process was started anew, and the LD_PRELOAD before.
constexpr const char* mark = "SUREFOOT_KERNELS_PRELOAD";
constexpr const char* preload = "LD_PRELOAD";

bool& started_anew() {
  static bool anew = false;
  return anew;
}

}  // namespace

std::string taken_out_of(std::vector<std::string>& words) {
  std::string level;
  for (std::size_t i = 0; i < words.size() && words[i] != "--";) {
    const auto word = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (words[i] == option) {
      require(i + 1 < words.size(), "--kernels: a level must follow; this program has {}",
              surefoot::startable_kernels());
      level = words[i + 1];
      words.erase(word, word + 2);
    } else if (words[i].starts_with(std::string(option) + "=")) {
      level = words[i].substr(option.size() + 1);
      words.erase(word);
    } else {
      ++i;
      continue;
    }
    require(!level.empty(), "--kernels: a level must follow; this program has {}",
            surefoot::startable_kernels());
  }
  return surefoot::full_kernel_name(level);
}

void insist_on(const std::string& level, char** argv) {
  if (level == surefoot::kernel_level()) return;
  require(surefoot::can_start_with(level), "--kernels {}: this {} {}", level,
          surefoot::kernel_library(level).empty() ? "program does not have them; it has"
                                                  : "machine lacks their instructions; it can use",
          surefoot::startable_kernels());
  const std::string library = surefoot::kernel_library(level);
  require(library.find_first_of(" :") == std::string::npos,
          "--kernels {}: the loader takes no library from a path with blanks or colons: {}", level, library);
  require(!started_anew(), "--kernels {}: {} was not loaded", level, library);
  const char* before = std::getenv(preload);
  const std::string old = before == nullptr ? "" : before;
  ::setenv(mark, old.c_str(), 1);
  ::setenv(preload, (library + (old.empty() ? "" : " " + old)).c_str(), 1);
  ::execv("/proc/self/exe", argv);
  require(false, "--kernels {}: the program cannot be started anew: {}", level, std::strerror(errno));
}

void clean_environment() {
  const char* before = std::getenv(mark);
  if (before == nullptr) return;
  started_anew() = true;
  const std::string old = before;
  if (old.empty()) {
    ::unsetenv(preload);
  } else {
    ::setenv(preload, old.c_str(), 1);
  }
  ::unsetenv(mark);
}

std::string& asked() {
  static std::string level;
  return level;
}

}  // namespace kernel_choice
