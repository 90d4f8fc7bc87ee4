#include "surefoot/families/folder_family.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/problems/rows_of.hpp"

#include <filesystem>
#include <numeric>
#include <utility>

namespace surefoot::families {

namespace {

constexpr EnumNames<FolderKind, 3> folder_kind_names{
    {{FolderKind::qp, "qp"}, {FolderKind::quadratic, "quadratic"}, {FolderKind::lasso, "lasso"}}};

FolderProblems read_kind(FolderKind kind, FamilyFiles& files) {
  switch (kind) {
    case FolderKind::qp:
      return files.read_qp();
    case FolderKind::quadratic:
      return files.read_quadratic();
    case FolderKind::lasso:
      return files.read_lasso();
  }
  return {};
}

}  // namespace

std::string_view to_string(FolderKind kind) {
  return name_in(folder_kind_names, kind);
}

FolderKind parse_folder_kind(std::string_view name) {
  return value_in(folder_kind_names, "kind", name);
}

std::map<std::string, std::string> FolderOptions::no_digests() {
  return {{"A", ""}, {"D", ""}, {"P", ""}, {"b", ""},     {"c", ""},
          {"l", ""}, {"q", ""}, {"u", ""}, {"weight", ""}};
}

void FolderOptions::validate() const {
  (void)parse_folder_kind(kind);
}

FolderProblems read_folder(FolderOptions& options, std::vector<FamilyFiles::Read>* read) {
  const FolderKind kind = parse_folder_kind(options.kind);
  require(!options.folder.empty(), "folder: there is none; say where the problems are");
  FamilyFiles files(options.folder, {});
  FolderProblems problems = read_kind(kind, files);
  for (const FamilyFiles::Read& file : files.files()) {
    std::string& known = options.digests[file.name];
    require(known.empty() || known == file.sha256,
            "{}: is not the file that the weights were trained on: its SHA-256 is {}, not {}", file.file,
            file.sha256, known);
    known = file.sha256;
  }
  if (read != nullptr) *read = files.files();
  return problems;
}

FolderProblems rows_of_folder(const FolderOptions& options, const FolderProblems& all, Index first,
                              Index count) {
  const auto choose = [&](const auto& family) -> FolderProblems {
    const Index there = family.instances();
    require(count >= 1 && first >= 0 && is_within(first, count, there),
            "{}: has problems 0 .. {}; samples {} .. {} are not all there", options.folder, there - 1, first,
            first + count - 1);
    std::vector<Index> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    return problems::rows_of(family, rows);
  };
  return std::visit(choose, all);
}

double bytes_of_folder(const FolderOptions& options) {
  double bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder, error)) {
    const auto size = entry.is_regular_file(error) ? entry.file_size(error) : 0;
    if (!error) bytes += static_cast<double>(size);
  }
  return bytes;
}

}  // namespace surefoot::families
