#pragma once

#include "surefoot/certify/paired.hpp"

#include <pybind11/pybind11.h>

/// One function per room: adds its names to the module.
namespace surefoot::python {

void add_bounds(pybind11::module_& module);
void add_defaults(pybind11::module_& module);
void add_certify(pybind11::module_& module);
void add_monitoring(pybind11::module_& module);
void add_pac_bayes(pybind11::module_& module);
void add_families(pybind11::module_& module);
void add_closed_loop(pybind11::module_& module);
void add_comparing(pybind11::module_& module);
void add_worst_case(pybind11::module_& module);

/// A comparison as Python holds it: its record, its text, and its summaries as Markdown and JUnit.
pybind11::tuple paired_result(const certify::PairedComparison& comparison);

}  // namespace surefoot::python
