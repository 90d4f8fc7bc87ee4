#pragma once

#include <functional>

namespace surefoot {

/// What ends work that its user has stopped.
struct Interrupted {};

/// Called from time to time in long work, in any thread; throws Interrupted to end it. Empty: nobody stops
/// it.
using Interrupt = std::function<void()>;

}  // namespace surefoot
