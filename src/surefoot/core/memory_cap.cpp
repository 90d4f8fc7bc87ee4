#include "surefoot/core/memory_cap.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <mutex>

namespace surefoot {

namespace {

struct Cap {
  std::mutex mutex;
  std::uint64_t limit = 0;
  rlimit before{};
  rlimit capped{};
  bool set = false;
  int lifted = 0;
};

Cap& the_cap() {
  static Cap cap;
  return cap;
}

std::uint64_t bytes_of(const std::string& word) {
  constexpr std::uint64_t kilobyte = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(word)) return kilobyte * std::stoull(line.substr(word.size()));
  }
  return 0;
}

}  // namespace

void cap_memory(std::uint64_t limit) {
  if (limit == 0) return;
  Cap& cap = the_cap();
  const std::scoped_lock lock(cap.mutex);
  cap.limit = limit;
  if (getrlimit(RLIMIT_DATA, &cap.before) != 0) return;
  constexpr std::size_t stack = std::size_t{2} << 20;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    if (pthread_attr_setstacksize(&attributes, stack) == 0) pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  constexpr std::uint64_t first_stack = 4'000'000;
  const std::uint64_t code = std::max(bytes_of("VmExe:") + bytes_of("VmLib:"), bytes_of("RssFile:"));
  const std::uint64_t all = std::max(limit, smallest_memory_cap);
  const std::uint64_t data = all - std::min(code + first_stack, all / 2);
  if (bytes_of("VmData:") >= data) return;  // a sanitizer has reserved more than any limit
  cap.capped = cap.before;
  cap.capped.rlim_cur = std::min<rlim_t>(cap.before.rlim_cur, data);
  cap.set = setrlimit(RLIMIT_DATA, &cap.capped) == 0;
}

std::uint64_t memory_cap() {
  Cap& cap = the_cap();
  const std::scoped_lock lock(cap.mutex);
  return cap.limit;
}

MemoryCapLifted::MemoryCapLifted() {
  Cap& cap = the_cap();
  const std::scoped_lock lock(cap.mutex);
  if (cap.set && cap.lifted++ == 0) setrlimit(RLIMIT_DATA, &cap.before);
}

MemoryCapLifted::~MemoryCapLifted() {
  Cap& cap = the_cap();
  const std::scoped_lock lock(cap.mutex);
  if (cap.set && --cap.lifted == 0) setrlimit(RLIMIT_DATA, &cap.capped);
}

}  // namespace surefoot
