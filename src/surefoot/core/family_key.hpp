#pragma once

#include <map>
#include <string>
#include <string_view>

namespace surefoot {

/// A family by its name and all constants that its distribution depends on, but for the seed. Numbers are
/// written with as many digits as tell them apart. Two families draw from the same distribution if their keys
/// are the same; metadata of weights (family, family.CONSTANT) and certificates have the same names and
/// texts.
struct FamilyKey {
  std::string name;
  std::map<std::string, std::string> constants;

  /// "sparse-coding(density=0.1, measurements=256, noise=0.01, variables=512)": constants in the order of
  /// their names.
  [[nodiscard]] std::string text() const;
};

}  // namespace surefoot
