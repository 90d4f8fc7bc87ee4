#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace surefoot::io {

/// The names of what is in a folder, sorted, without "." and ".."; none if it is not there. Throws where it
/// cannot be read. Not std::filesystem::directory_iterator, which crashes where memory is short (GCC 12).
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// A folder or file in a folder, or the folder itself where `below` is empty: folder / "" crashes where
/// memory is short (GCC 12).
std::filesystem::path inside(const std::filesystem::path& folder, const std::filesystem::path& below);

}  // namespace surefoot::io
