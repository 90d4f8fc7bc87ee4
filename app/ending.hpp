#pragma once

#include "surefoot/core/ranks.hpp"

#include <functional>

/// What the work ends with: an exit code of the table (exit_codes.hpp), and a message where it threw. The
/// other processes of the job hear of a failure. Only std::bad_alloc gets through, where there is no memory
/// for the message either.
surefoot::Failure end_of(const std::function<int()>& work);

/// Says how the work ended, and which checkpoints were lost; its exit code.
int last_words(surefoot::Failure end);
