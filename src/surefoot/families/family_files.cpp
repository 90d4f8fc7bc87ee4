#include "surefoot/families/family_files.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/matrix_market.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/table_reader.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace surefoot::families {

using problems::SparseMatrix;
using problems::Table;

namespace {

const std::vector<std::string> matrix_endings{".mtx", ".mtx.gz", ".npy"};
const std::vector<std::string> table_endings{".csv", ".csv.gz", ".npy"};

SparseMatrix sparse_from(const double* values, Index rows, Index columns) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values, rows, columns).sparseView();
}

// A two-dimensional array is one matrix for all instances, a three-dimensional one a matrix per instance.
std::vector<SparseMatrix> matrices_from_npy(const std::string& path) {
  const io::NpyArray array = io::read_npy(path);
  require(array.shape.size() == 2 || array.shape.size() == 3,
          "{}: has {} dimensions; a matrix has 2, a matrix per instance 3", path, array.shape.size());
  const bool own = array.shape.size() == 3;
  const Index count = own ? array.shape[0] : 1;
  const Index rows = array.shape[own ? 1 : 0];
  const Index columns = array.shape[own ? 2 : 1];
  require(count >= 1 && rows >= 1 && columns >= 1 && rows <= most_rows && columns <= most_rows,
          "{}: {} matrices of {} x {}, a matrix has 1 .. {} rows and columns", path, count, rows, columns,
          most_rows);
  std::vector<SparseMatrix> matrices;
  for (Index i = 0; i < count; ++i)
    matrices.push_back(sparse_from(array.values.data() + i * rows * columns, rows, columns));
  return matrices;
}

Table read_rows(const std::string& path) {
  const auto reader = io::TableReader::open(path);
  std::vector<double> values;
  io::RowBlock block;
  Index rows = 0;
  while (reader->next(block)) {
    values.insert(values.end(), block.values.begin(), block.values.end());
    rows += block.rows;
  }
  Table table = Eigen::Map<const Table>(values.data(), rows, reader->columns());
  FamilyFiles::require_no_column_numbers(path, reader->can_have_header() && reader->header().empty(),
                                         table.data(), table.cols(), rows);
  return table;
}

}  // namespace

FamilyFiles::FamilyFiles(std::filesystem::path folder, std::map<std::string, std::string> given)
    : folder_(std::move(folder)), given_(std::move(given)) {
  if (folder_.empty()) return;
  require(std::filesystem::is_directory(folder_), "{}: is not a folder", folder_.string());
}

std::string FamilyFiles::look_for(const std::string& name, const std::vector<std::string>& endings) const {
  const auto found = given_.find(name);
  if (found != given_.end() && !found->second.empty()) return found->second;
  for (const std::string& ending : endings) {
    const std::filesystem::path path = folder_ / (name + ending);
    if (!folder_.empty() && std::filesystem::exists(path)) return path.string();
  }
  return "";
}

bool FamilyFiles::has(const std::string& name) const {
  return !look_for(name, matrix_endings).empty() || !look_for(name, table_endings).empty();
}

std::string FamilyFiles::find(const std::string& name, const std::vector<std::string>& endings) const {
  std::string path = look_for(name, endings);
  if (!path.empty()) return path;
  throw InputError(folder_.empty() ? fmt::format("--{}: no file is given, and no folder", name)
                                   : fmt::format("{}: has no {}{{{}}}, and --{} is not given",
                                                 folder_.string(), name, fmt::join(endings, ","), name));
}

std::string FamilyFiles::table_file(const std::string& name) const {
  return find(name, table_endings);
}

void FamilyFiles::require_no_column_numbers(const std::string& path, bool can_be_header, const double* row,
                                            Index columns, Index rows) {
  bool numbers = can_be_header && rows >= 2 && columns >= 2;
  for (Index i = 0; numbers && i < columns; ++i) numbers = row[i] == static_cast<double>(i);
  require(!numbers,
          "{}: the first row is 0, 1, 2, ..., the header that pandas writes, and would be counted as a "
          "problem; write the table without a header (header=False, index=False), or as .npy if it "
          "is a problem",
          path);
}

void FamilyFiles::remember(const std::string& name, const std::string& path) {
  files_.push_back({name, path, io::sha256_of_file(path)});
}

std::vector<SparseMatrix> FamilyFiles::read_matrices(const std::string& name) {
  const std::string path = find(name, matrix_endings);
  std::vector<SparseMatrix> matrices;
  if (path.ends_with(".npy")) {
    matrices = matrices_from_npy(path);
  } else {
    matrices.emplace_back(io::read_matrix_market(path));
  }
  remember(name, path);
  return matrices;
}

Table FamilyFiles::read_table(const std::string& name) {
  const std::string path = find(name, table_endings);
  Table table = read_rows(path);
  remember(name, path);
  return table;
}

SparseMatrix FamilyFiles::read_matrix(const std::string& name) {
  std::vector<SparseMatrix> matrices = read_matrices(name);
  require(matrices.size() == 1, "{}: {} has {} matrices, must have one", files_.back().file, name,
          matrices.size());
  return matrices.front();
}

void FamilyFiles::with_file_names(const std::function<void()>& check) const {
  try {
    check();
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (const Read& read : files_) {
      std::string argument = read.name;
      std::ranges::replace(argument, '-', '_');
      if (message.starts_with(argument + ":") || message.starts_with(argument + " ")) {
        throw InputError(read.file + ": " + message);
      }
    }
    throw;
  }
}

problems::Qp FamilyFiles::read_qp() {
  problems::Qp problem;
  problem.P = read_matrices("P");
  problem.A = read_matrices("A");
  problem.q = read_table("q");
  problem.l = read_table("l");
  problem.u = read_table("u");
  with_file_names([&] { problem.validate(); });
  return problem;
}

problems::Quadratic FamilyFiles::read_quadratic() {
  problems::Quadratic problem;
  problem.P = read_matrix("P");
  problem.c = read_table("c");
  with_file_names([&] { problem.validate(); });
  return problem;
}

problems::Lasso FamilyFiles::read_lasso() {
  problems::Lasso problem;
  problem.D = read_matrix("D");
  problem.b = read_table("b");
  const Table weight = read_table("weight");
  require(weight.size() == 1, "{}: has {} numbers, the weight of |z| is one", files_.back().file,
          weight.size());
  problem.weight = weight(0, 0);
  with_file_names([&] { problem.validate(); });
  return problem;
}

problems::ConeProgram FamilyFiles::read_cone_program(problems::Cones cones) {
  problems::ConeProgram problem;
  problem.P = read_matrices("P");
  problem.A = read_matrices("A");
  problem.b = read_table("b");
  problem.c = read_table("c");
  problem.cones = std::move(cones);
  with_file_names([&] { problem.validate(); });
  return problem;
}

}  // namespace surefoot::families
