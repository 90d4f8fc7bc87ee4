#include "last_resort.hpp"

#include "surefoot/io/atomic_file.hpp"

#include "exit_codes.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace {

std::atomic<bool> ours{false};

[[noreturn]] void end_without_handlers() {
  surefoot::io::remove_unfinished_files();
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
    say_plainly("internal error");
  } catch (const std::bad_alloc&) {
    say_plainly("out of memory");
    ::_exit(no_resources);
  } catch (const std::exception& error) {
    say_plainly("internal error: ");
    say_plainly(error.what());
  } catch (...) {
    say_plainly("internal error");
  }
  ::_exit(internal_error);
}

void end_by_library(int code, void* /*unused*/) {
  if (!ours && code == EXIT_FAILURE) ::_exit(no_resources);
}

// Before the program's other objects are made, some of which allocate.
[[gnu::constructor(101)]] void set_terminate_early() {
  std::set_terminate(end_without_handlers);
}

}  // namespace

void say_plainly(const char* message) noexcept {
  for (const char* part : {"surefoot: ", message, "\n"}) {
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) return;
  }
}

void catch_ends_by_libraries() noexcept {
#ifdef __GLIBC__
  ::on_exit(end_by_library, nullptr);
#endif
}

void end_is_ours() noexcept {
  ours = true;
}
