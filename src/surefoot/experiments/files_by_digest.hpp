#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Files that a certificate names by their digests, so that it does not matter where they lie.
namespace surefoot::experiments {

/// A file with that SHA-256 in one of the folders or one level below; files of that name are looked at first.
/// None: there is none.
std::optional<std::filesystem::path> file_by_digest(const std::vector<std::filesystem::path>& folders,
                                                    const std::string& name, const std::string& sha256);

}  // namespace surefoot::experiments
