#include "surefoot/core/error.hpp"
#include "surefoot/core/kernel_libraries.hpp"
#include "surefoot/core/kernels.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/version.hpp"

#include "rooms.hpp"

#include <pybind11/pybind11.h>

#include <exception>
#include <system_error>

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ library; users import surefoot.";
  module.attr("version") = surefoot::version;
  py::register_exception<surefoot::InputError>(module, "InputError", PyExc_ValueError);
  py::register_exception_translator([](std::exception_ptr failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::system_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
  module.attr("kernels") = surefoot::kernel_level();
  module.attr("startable_kernels") = surefoot::startable_kernels();
  module.def("threads", &surefoot::threads);
  module.def("set_threads", &surefoot::set_threads, py::arg("count"));
  surefoot::python::add_bounds(module);
  surefoot::python::add_defaults(module);
  surefoot::python::add_certify(module);
  surefoot::python::add_monitoring(module);
  surefoot::python::add_pac_bayes(module);
  surefoot::python::add_families(module);
  surefoot::python::add_closed_loop(module);
  surefoot::python::add_comparing(module);
  surefoot::python::add_worst_case(module);
}
