#pragma once

/// What the program ends with where no exception can be caught: one thrown before main, by a destructor or by
/// what must not throw, and a library that ends the process by itself, as OpenMP does when it finds no memory
/// or thread. A line on standard error and an exit code of the table, never an abort, and never the code of a
/// certificate that does not hold. Nothing here allocates.

/// A line on standard error.
void say_plainly(const char* message) noexcept;

/// From now on a library that ends the process with code 1 ends it with `no_resources`.
void catch_ends_by_libraries() noexcept;

/// To be called when main is over.
void end_is_ours() noexcept;
