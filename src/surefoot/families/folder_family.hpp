#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/families/family_files.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/problems/lasso.hpp"
#include "surefoot/problems/qp.hpp"
#include "surefoot/problems/quadratic.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace surefoot::families {

/// What the problems of a folder are.
enum class FolderKind { qp, quadratic, lasso, cone };
std::string_view to_string(FolderKind kind);
FolderKind parse_folder_kind(std::string_view name);

/// A family that is a user's folder of files (FamilyFiles). Nothing is drawn: sample i of every set is row i,
/// so that sets must be kept apart by their rows. The files are known by their digests, wherever they lie.
struct FolderOptions {
  std::string kind{to_string(FolderKind::qp)};
  std::string folder;
  /// Of the kind cone, as cones_text() writes them; empty: not read yet (the folder's settings.toml says
  /// them).
  std::string cones;
  /// SHA-256 of the files by their names; empty: not read yet, or of no file of this kind.
  std::map<std::string, std::string> digests = no_digests();

  static std::map<std::string, std::string> no_digests();
  void validate() const;
};

/// "zero=1;nonnegative=20;second_order=5,5;semidefinite=3"
std::string cones_text(const problems::Cones& cones);
/// InputError for what is no such text, and for cones of three rows, whose projections have no derivative.
problems::Cones parse_cones(std::string_view text);

using FolderProblems =
    std::variant<problems::Qp, problems::Quadratic, problems::Lasso, problems::ConeProgram>;

/// All problems of the folder; digests that are empty are filled in. `read`, if not null, gets the files.
/// InputError names the file that is not there, is damaged, or is not the one that has the digest.
FolderProblems read_folder(FolderOptions& options, std::vector<FamilyFiles::Read>* read = nullptr);
/// Problems first .. first+count-1. InputError if they are not all there.
FolderProblems rows_of_folder(const FolderOptions& options, const FolderProblems& all, Index first,
                              Index count);
/// Tables with a row per problem that are no part of it: `parameters`, what a user says that varies, and
/// `start`, where a solver may begin.
inline constexpr const char* parameters_table = "parameters";
inline constexpr const char* start_table = "start";
bool is_beside_problems(std::string_view name);
/// Such a table; none if the folder has none. Digests and `read` as above.
std::optional<problems::Table> read_beside(const char* name, FolderOptions& options, Index instances,
                                           std::vector<FamilyFiles::Read>* read = nullptr);
/// Bytes of the numbers in the folder's files, as they are held, by the sizes of the files.
double bytes_of_folder(const FolderOptions& options);

}  // namespace surefoot::families
