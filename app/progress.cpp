#include "progress.hpp"

#include "say.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

TerminalProgress::TerminalProgress(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_(std::chrono::steady_clock::now()),
      last_(begin_) {}

TerminalProgress::~TerminalProgress() {
  if (drawn_) say_as_is("\r\033[K");
}

void TerminalProgress::update(double done, double total, const char* unit) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - begin_ < 1s || now - last_ < 200ms) return;
  last_ = now;
  drawn_ = true;
  if (total > 0) {
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double left = done > 0 ? seconds * (total - done) / done : 0;
    say_as_is(fmt::format("\r\033[K{}: {:.0f} of {:.0f} {}, {:.0f} s left{}", what_, done, total, unit, left,
                          surefoot::experiments::whole_progress()));
  } else {
    say_as_is(
        fmt::format("\r\033[K{}: {:.0f} {}{}", what_, done, unit, surefoot::experiments::whole_progress()));
  }
}
