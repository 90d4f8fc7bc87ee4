#include "surefoot/core/memory_cap.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <new>

namespace surefoot {
namespace {

#ifndef SUREFOOT_SANITIZED  // sanitizers have memory of their own

/// In a process of its own, as a cap stays.
bool holds_in_a_process(const std::function<bool()>& condition) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(condition() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_allocate(std::size_t bytes) {
  try {
    const auto memory = std::make_unique<char[]>(bytes);  // NOLINT: any allocation will do
    return memory[bytes / 2] == 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

constexpr std::uint64_t limit = 300'000'000;

TEST(MemoryCap, RefusesMemoryBeyondItAndKeepsTheProcessBelow) {
  EXPECT_TRUE(holds_in_a_process([] { return can_allocate(400'000'000) && memory_cap() == 0; }));
  EXPECT_TRUE(holds_in_a_process([] {
    cap_memory(limit);
    return memory_cap() == limit && can_allocate(200'000'000) && !can_allocate(limit);
  }));
  EXPECT_TRUE(holds_in_a_process([] {
    cap_memory(limit);
    for (std::size_t bytes = 150'000'000; can_allocate(bytes);) bytes += 10'000'000;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const std::uint64_t peak = 1024U * static_cast<std::uint64_t>(usage.ru_maxrss);
    return peak < limit && peak > limit / 2;
  }));
}

TEST(MemoryCap, IsNoLowerThanTheProgramNeeds) {
  EXPECT_TRUE(holds_in_a_process([] {
    cap_memory(1);
    return can_allocate(40'000'000) && !can_allocate(smallest_memory_cap);
  }));
}

TEST(MemoryCap, IsNotInheritedByProgramsThatAreStarted) {
  EXPECT_TRUE(holds_in_a_process([] {
    rlimit before{};
    rlimit lifted{};
    rlimit after{};
    getrlimit(RLIMIT_DATA, &before);
    cap_memory(limit);
    {
      const MemoryCapLifted now;
      getrlimit(RLIMIT_DATA, &lifted);
    }
    getrlimit(RLIMIT_DATA, &after);
    return lifted.rlim_cur == before.rlim_cur && after.rlim_cur < limit;
  }));
}

#endif

}  // namespace
}  // namespace surefoot
