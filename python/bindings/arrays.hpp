#pragma once

#include "surefoot/core/error.hpp"
#include "surefoot/core/types.hpp"

#include <Eigen/Core>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>

/// Arguments that are arrays. A wrong type of number is a TypeError, a wrong shape an InputError (which is a
/// ValueError), both naming the argument; nothing is truncated or rounded on the way.
namespace surefoot::python {

using Reals = pybind11::array_t<double, pybind11::array::c_style>;
using Integers = pybind11::array_t<Index, pybind11::array::c_style>;

/// As NumPy prints it: (3, 4).
std::string shape_text(const pybind11::array& array);

/// Any array-like of real numbers, as float64 in C order; not copied if it is that already.
Reals real_array(pybind11::handle argument, const char* name);
/// Any array-like of whole numbers; 3.0 is refused.
Integers integer_array(pybind11::handle argument, const char* name);

/// One dimension; a view of the array.
Eigen::Map<const Eigen::VectorXd> vector_view(const Reals& array, const char* name);

}  // namespace surefoot::python
