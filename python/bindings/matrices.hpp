#pragma once

#include "surefoot/problems/matrix.hpp"

#include "arrays.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <tuple>
#include <vector>

/// Matrices and tables that cross between NumPy and the library.
namespace surefoot::python {

/// Compressed columns: values, row of each, begin of each column, rows, columns.
using Places = pybind11::array_t<int, pybind11::array::c_style>;
using Compressed = std::tuple<Reals, Places, Places, Index, Index>;

/// InputError unless nothing points outside the arrays.
std::vector<problems::SparseMatrix> matrices_of(const std::vector<Compressed>& given, const char* name);
/// A vector is one row.
problems::Table table_of(const pybind11::object& argument, const char* name);
/// The table as an array that owns it, without a copy.
Reals owned_array(problems::Table&& table);

}  // namespace surefoot::python
