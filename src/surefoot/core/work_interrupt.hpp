#pragma once

#include "surefoot/core/interruption.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace surefoot {

/// For long steps deep inside work that have no Interrupt at hand: the one of the work that this thread does.
class WorkInterrupt {
 public:
  explicit WorkInterrupt(const Interrupt& interrupt) : before_(current()) { current() = &interrupt; }
  ~WorkInterrupt() { current() = before_; }
  WorkInterrupt(const WorkInterrupt&) = delete;
  WorkInterrupt& operator=(const WorkInterrupt&) = delete;

  /// Throws Interrupted if the work of this thread has been stopped.
  static void check() {
    if (current() != nullptr && *current()) (*current())();
  }
  /// Whether anybody could stop it.
  static bool possible() { return current() != nullptr; }

 private:
  static const Interrupt*& current() {
    thread_local const Interrupt* interrupt = nullptr;
    return interrupt;
  }
  const Interrupt* before_;
};

/// std::sort, in steps of a fraction of a second between which the work can be stopped. What is stopped
/// leaves the values in another order.
template <class T>
void sort_interruptibly(std::vector<T>& values, std::size_t at_once = std::size_t{1} << 18) {
  if (!WorkInterrupt::possible() || values.size() <= at_once) {
    std::sort(values.begin(), values.end());
    return;
  }
  const auto place = [&](std::size_t i) {
    return values.begin() + static_cast<std::ptrdiff_t>(std::min(i, values.size()));
  };
  for (std::size_t i = 0; i < values.size(); i += at_once) {
    WorkInterrupt::check();
    std::sort(place(i), place(i + at_once));
  }
  for (std::size_t width = at_once; width < values.size(); width *= 2) {
    for (std::size_t i = 0; i + width < values.size(); i += 2 * width) {
      WorkInterrupt::check();
      std::inplace_merge(place(i), place(i + width), place(i + 2 * width));
    }
  }
}

}  // namespace surefoot
