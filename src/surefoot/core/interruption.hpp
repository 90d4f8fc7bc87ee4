#pragma once

#include <functional>

namespace surefoot {

/// What ends work that its user has stopped.
struct Interrupted {};

/// Called from time to time in long work, in any thread; throws Interrupted to end it. Empty: nobody stops
/// it.
using Interrupt = std::function<void()>;

/// Called from time to time while this process waits for input that does not come, a pipe say. The program
/// sets it.
inline Interrupt& interrupt_of_waiting() {
  static Interrupt interrupt;
  return interrupt;
}

}  // namespace surefoot
