#include "matrices.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <memory>
#include <utility>

namespace py = pybind11;

namespace surefoot::python {

using problems::SparseMatrix;
using problems::Table;

namespace {

// Nothing may point outside the arrays, whoever made them.
void check_places(const Compressed& matrix, const char* name) {
  const auto& [values, rows_of, begins, rows, columns] = matrix;
  require(rows >= 0 && rows <= most_rows && columns >= 0 && columns <= most_rows,
          "{}: is {} x {}, a matrix has at most {} rows and columns", name, rows, columns, most_rows);
  bool sound = values.ndim() == 1 && rows_of.ndim() == 1 && begins.ndim() == 1 &&
               rows_of.size() == values.size() && begins.size() == columns + 1 && begins.data()[0] == 0 &&
               begins.data()[columns] == values.size();
  for (Index j = 0; sound && j < columns; ++j) sound = begins.data()[j] <= begins.data()[j + 1];
  for (Index j = 0; sound && j < columns; ++j) {
    for (Index k = begins.data()[j]; sound && k < begins.data()[j + 1]; ++k) {
      const int row = rows_of.data()[k];
      sound = row >= 0 && row < rows && (k == begins.data()[j] || rows_of.data()[k - 1] < row);
    }
  }
  require(sound, "{}: its compressed columns are damaged or not sorted", name);
}

}  // namespace

std::vector<SparseMatrix> matrices_of(const std::vector<Compressed>& given, const char* name) {
  std::vector<SparseMatrix> matrices;
  for (const Compressed& matrix : given) {
    check_places(matrix, name);
    const auto& [values, rows_of, begins, rows, columns] = matrix;
    matrices.emplace_back(Eigen::Map<const SparseMatrix>(rows, columns, values.size(), begins.data(),
                                                         rows_of.data(), values.data()));
  }
  return matrices;
}

Table table_of(const py::object& argument, const char* name) {
  const Reals array = real_array(argument, name);
  require(array.ndim() == 1 || array.ndim() == 2,
          "{}: has shape {}, must be a vector or one row per instance", name, shape_text(array));
  const bool shared = array.ndim() == 1;
  return Eigen::Map<const Table>(array.data(), shared ? 1 : array.shape(0), array.shape(shared ? 0 : 1));
}

Reals owned_array(Table&& table) {
  auto owner = std::make_unique<Table>(std::move(table));
  const double* data = owner->data();
  const py::ssize_t rows = owner->rows();
  const py::ssize_t columns = owner->cols();
  const py::capsule keep(owner.release(), [](void* kept) { delete static_cast<Table*>(kept); });
  return Reals({rows, columns}, data, keep);
}

}  // namespace surefoot::python
