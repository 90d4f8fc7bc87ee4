#pragma once

#include <string>

namespace surefoot {

/// Which build this code is of: the digest of the linked program or extension module that its linker put into
/// it (build ID), in hexadecimal. The same sources, compiler and settings in the same folder give the same
/// one; where the linker was told to put in none, "unknown". A Surefoot library that is shared is part of it,
/// with the program that uses it; other libraries that are loaded when the program starts are not.
std::string build_id();

}  // namespace surefoot
