#pragma once

#include <string>
#include <string_view>

namespace surefoot {

/// Where the library with the kernels of a level lies, beside the one that is loaded; empty: there is none,
/// as in every build that has kernels of one level alone.
std::string kernel_library(std::string_view level);

/// Whether a process with the kernels of this level can be started from this program, on this machine.
bool can_start_with(std::string_view level);

/// Whether the packages (wheel, Debian) have such kernels.
bool kernels_of_package(std::string_view level);

/// The levels that a process can be started with, for messages: "x86-64-v2, x86-64-v3".
std::string startable_kernels();

}  // namespace surefoot
