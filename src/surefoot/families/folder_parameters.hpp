#pragma once

#include "surefoot/families/folder_family.hpp"

#include <string>
#include <vector>

namespace surefoot::families {

/// What tells one problem of a folder from another, as a network sees it: entries of its vectors and matrices
/// (or of the user's table `parameters`), each less its center and over its scale.
struct ParameterMap {
  /// "l[0..3];u[4];q[1,7]": entries of tables, and of the numbers of matrices that each problem has its own
  /// of, in the order in which they are stored. Empty: not found yet.
  std::string entries;
  std::vector<double> center;
  std::vector<double> scale;

  [[nodiscard]] Index size() const { return static_cast<Index>(center.size()); }
  /// "l[0..1];u[4] 0.5;1;-2 1;3;0.25": entries, centers and scales.
  [[nodiscard]] std::string text() const;
  /// The inverse; empty for an empty text. InputError unless entries can be read and there is a center and a
  /// scale > 0 for each.
  static ParameterMap parse(const std::string& text);
};

/// The entries that vary between these problems, with mean and standard deviation; entries that are infinite
/// somewhere are left out, and of entries that are equal everywhere one is taken. With `given`, a row for
/// each of these problems, these are all there is. InputError if nothing varies: there is nothing to learn.
ParameterMap find_parameters(const FolderProblems& problems, const problems::Table* given);

/// The entries of these problems as they are, a row each. InputError names an entry that they do not have.
problems::Table parameters_of(const ParameterMap& map, const FolderProblems& problems,
                              const problems::Table* given);

/// Whether the map is of the user's table.
bool is_of_given(const ParameterMap& map);

}  // namespace surefoot::families
