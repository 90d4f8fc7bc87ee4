#pragma once

#include <string>
#include <string_view>

namespace surefoot {

/// Which instructions the kernels of this library are compiled for: "x86-64-v2", "x86-64-v3", "x86-64-v4"
/// (the levels of the x86-64 psABI), "x86-64" or "other", after "native-" where they are those of the
/// building machine. Runs on two levels may differ in their last bits: vectors have other widths, and
/// multiply-adds round once or twice.
std::string_view kernel_level();

/// "x86-64-v3" for "v3"; other names as they are.
std::string full_kernel_name(std::string_view name);

/// Whether this machine has the instructions of a level. False for names that are no levels.
bool machine_has(std::string_view level);

}  // namespace surefoot
