#pragma once

#include <cstdint>
#include <string>

namespace surefoot {

/// A cap by the system on the memory of this process, so that an allocation beyond it fails.
///
/// Linux bounds the private writable memory (RLIMIT_DATA): heap and stacks of threads, as much as is
/// reserved. What is resident besides is the program's code. The cap is `limit` less the code, so that the
/// resident set stays below `limit`. No cap is lower than smallest_memory_cap: the program itself takes most
/// of that.
inline constexpr std::uint64_t smallest_memory_cap = 128'000'000;

/// Once, before the work; 0: no cap. Threads get stacks of 2 MiB from then on. A cap that the system refuses
/// is none.
void cap_memory(std::uint64_t limit);
/// What was asked for; 0: no cap.
std::uint64_t memory_cap();

/// Without the cap for a moment, so that a program that is started does not inherit it.
class MemoryCapLifted {
 public:
  MemoryCapLifted();
  ~MemoryCapLifted();
  MemoryCapLifted(const MemoryCapLifted&) = delete;
  MemoryCapLifted& operator=(const MemoryCapLifted&) = delete;
};

}  // namespace surefoot
