#pragma once

#include "surefoot/core/work_interrupt.hpp"

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <type_traits>

namespace surefoot::python {

/// Runs work(interrupt) on a thread of its own, without the interpreter lock, and returns its result. The
/// calling thread looks for signals meanwhile: after Ctrl-C, `interrupt` throws in the work, and
/// KeyboardInterrupt goes to the caller once all threads of the work have ended.
template <class Work>
auto interruptible(Work&& work) {
  using namespace std::chrono_literals;
  std::atomic<bool> stop{false};
  const Interrupt interrupt = [&stop] {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
  };
  auto done = std::async(std::launch::async, [&] {
    const WorkInterrupt here(interrupt);
    return work(interrupt);
  });
  for (bool ready = false; !ready;) {
    PyThreadState* state = PyEval_SaveThread();
    ready = done.wait_for(50ms) == std::future_status::ready;
    PyEval_RestoreThread(state);
    if (ready || PyErr_CheckSignals() == 0) continue;
    stop.store(true, std::memory_order_relaxed);
    state = PyEval_SaveThread();
    done.wait();
    PyEval_RestoreThread(state);
    throw pybind11::error_already_set();
  }
  return done.get();
}

}  // namespace surefoot::python
