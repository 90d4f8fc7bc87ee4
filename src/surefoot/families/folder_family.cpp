#include "surefoot/families/folder_family.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/problems/rows_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

namespace surefoot::families {

namespace {

constexpr EnumNames<FolderKind, 4> folder_kind_names{{{FolderKind::qp, "qp"},
                                                      {FolderKind::quadratic, "quadratic"},
                                                      {FolderKind::lasso, "lasso"},
                                                      {FolderKind::cone, "cone"}}};

FolderProblems read_kind(const FolderOptions& options, FamilyFiles& files) {
  switch (parse_folder_kind(options.kind)) {
    case FolderKind::qp:
      return files.read_qp();
    case FolderKind::quadratic:
      return files.read_quadratic();
    case FolderKind::lasso:
      return files.read_lasso();
    case FolderKind::cone:
      return files.read_cone_program(parse_cones(options.cones));
  }
  return {};
}

/// Fills in the digests of these files, or compares them.
void identify(FolderOptions& options, const std::vector<FamilyFiles::Read>& files,
              std::vector<FamilyFiles::Read>* read) {
  for (const FamilyFiles::Read& file : files) {
    std::string& known = options.digests[file.name];
    require(known.empty() || known == file.sha256,
            "{}: is not the file that the weights were trained on: its SHA-256 is {}, not {}", file.file,
            file.sha256, known);
    known = file.sha256;
    if (read != nullptr) read->push_back(file);
  }
}

}  // namespace

std::string_view to_string(FolderKind kind) {
  return name_in(folder_kind_names, kind);
}

FolderKind parse_folder_kind(std::string_view name) {
  return value_in(folder_kind_names, "kind", name);
}

std::map<std::string, std::string> FolderOptions::no_digests() {
  return {{"A", ""},        {"D", ""}, {"P", ""}, {"b", ""},      {"c", ""},
          {"l", ""},        {"q", ""}, {"u", ""}, {"weight", ""}, {parameters_table, ""},
          {start_table, ""}};
}

void FolderOptions::validate() const {
  (void)parse_folder_kind(kind);
  (void)parse_cones(cones);
}

std::string cones_text(const problems::Cones& cones) {
  require(cones.triples() == 0, "cones: exponential and power cones have no derivative to learn by");
  return fmt::format("zero={};nonnegative={};second_order={};semidefinite={}", cones.zero, cones.nonnegative,
                     fmt::join(cones.second_order, ","), fmt::join(cones.semidefinite, ","));
}

problems::Cones parse_cones(std::string_view text) {
  problems::Cones cones;
  if (text.empty()) return cones;
  const auto fail = [&] {
    throw InputError(fmt::format("cones: '{}' names none", io::excerpt(std::string(text))));
  };
  std::string_view rest = text;
  for (const std::string_view name : {"zero=", "nonnegative=", "second_order=", "semidefinite="}) {
    if (!rest.starts_with(name)) fail();
    rest.remove_prefix(name.size());
    const std::size_t end = std::min(rest.find(';'), rest.size());
    std::vector<Index> sizes;
    for (std::string_view list = rest.substr(0, end); !list.empty();) {
      const std::size_t comma = std::min(list.find(','), list.size());
      long long size = 0;
      if (!io::parse_integer(std::string(list.substr(0, comma)), size)) fail();
      sizes.push_back(static_cast<Index>(size));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool many = name.starts_with("se");
    if (!many && sizes.size() != 1) fail();
    if (name == "zero=") cones.zero = sizes.front();
    if (name == "nonnegative=") cones.nonnegative = sizes.front();
    if (name == "second_order=") cones.second_order = sizes;
    if (name == "semidefinite=") cones.semidefinite = sizes;
  }
  if (!rest.empty()) fail();
  cones.validate();
  return cones;
}

FolderProblems read_folder(FolderOptions& options, std::vector<FamilyFiles::Read>* read) {
  options.validate();
  require(!options.folder.empty(), "folder: there is none; say where the problems are");
  FamilyFiles files(options.folder, {});
  FolderProblems problems = read_kind(options, files);
  if (read != nullptr) read->clear();
  identify(options, files.files(), read);
  return problems;
}

bool is_beside_problems(std::string_view name) {
  return name == parameters_table || name == start_table;
}

std::optional<problems::Table> read_beside(const char* name, FolderOptions& options, Index instances,
                                           std::vector<FamilyFiles::Read>* read) {
  FamilyFiles files(options.folder, {});
  if (!files.has(name)) return std::nullopt;
  problems::Table table = files.read_table(name);
  require(table.rows() == instances, "{}: has {} rows for {} problems", files.files().back().file,
          table.rows(), instances);
  files.with_file_names([&] { problems::require_finite(table, name); });
  identify(options, files.files(), read);
  return table;
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

namespace {

/// Bytes of what is in a gzip file, by its last four (RFC 1952), which say it modulo 2^32; text is seldom
/// compressed less than this.
double unpacked_bytes(const std::filesystem::path& file, double packed) {
  constexpr double least_ratio = 4;
  std::array<unsigned char, 4> last{};
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  stream.read(reinterpret_cast<char*>(last.data()), static_cast<std::streamsize>(last.size()));
  double said = 0;
  if (stream)
    for (std::size_t i = last.size(); i-- > 0;) said = 256 * said + last[i];
  return std::max(said, least_ratio * packed);
}

/// How many bytes of text a number takes, by the beginning of the file; 2 at least: a digit and what ends it.
double bytes_by_number(const std::filesystem::path& file) {
  constexpr std::size_t beginning = std::size_t{1} << 16U;
  try {
    const auto source = io::open_bytes(file.string());
    const std::string_view text = source->peek(beginning);
    const auto ends =
        std::ranges::count_if(text, [](char c) { return c == ',' || c == '\n' || c == ';' || c == '\t'; });
    return std::max(2.0, static_cast<double>(text.size()) / static_cast<double>(ends + 1));
  } catch (const InputError&) {  // whoever reads it says what is wrong
    return 2;
  }
}

}  // namespace

double bytes_of_folder(const FolderOptions& options) {
  double bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder, error)) {
    const auto size = static_cast<double>(entry.is_regular_file(error) ? entry.file_size(error) : 0);
    if (error) continue;
    const std::string name = entry.path().filename().string();
    const bool packed = name.ends_with(".gz");
    const double unpacked = packed ? unpacked_bytes(entry.path(), size) : size;
    const bool text = !name.ends_with(".npy");
    // A number is 8 bytes, that of a sparse matrix with its place 16.
    bytes +=
        text ? unpacked / bytes_by_number(entry.path()) * (name.find(".mtx") == std::string::npos ? 8 : 16)
             : unpacked;
  }
  return bytes;
}

}  // namespace surefoot::families
