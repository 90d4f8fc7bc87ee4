#include "arrays.hpp"

#include <fmt/format.h>

namespace py = pybind11;

namespace surefoot::python {

namespace {

py::array array_of(py::handle argument, const char* name, const char* kinds, const char* wanted) {
  const py::array array = py::array::ensure(argument);
  if (!array) {
    PyErr_Clear();
    throw py::type_error(fmt::format("{}: is not {}", name, wanted));
  }
  const bool known = std::string_view(kinds).find(array.dtype().kind()) != std::string_view::npos;
  // long double has more digits than float64: what it holds would be rounded.
  if (!known || (array.dtype().kind() == 'f' && array.itemsize() > 8)) {
    throw py::type_error(
        fmt::format("{}: dtype {} is not {}", name, std::string(py::str(array.dtype())), wanted));
  }
  return array;
}

}  // namespace

std::string shape_text(const py::array& array) {
  std::string text = "(";
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", array.shape(i));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

Reals real_array(py::handle argument, const char* name) {
  return Reals::ensure(array_of(argument, name, "fiu", "real numbers"));
}

Integers integer_array(py::handle argument, const char* name) {
  const py::array array = array_of(argument, name, "iu", "whole numbers");
  if (array.dtype().kind() == 'u' && array.itemsize() == 8) {
    const auto values = py::array_t<std::uint64_t>::ensure(array);
    for (py::ssize_t i = 0; i < values.size(); ++i) {
      require(values.data()[i] <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max()),
              "{}: {} is too large", name, values.data()[i]);
    }
  }
  return Integers::ensure(array);
}

Eigen::Map<const Eigen::VectorXd> vector_view(const Reals& array, const char* name) {
  require(array.ndim() == 1, "{}: has shape {}, must be one-dimensional", name, shape_text(array));
  return {array.data(), array.shape(0)};
}

}  // namespace surefoot::python
