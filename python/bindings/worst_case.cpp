#include "surefoot/worst_case/proof_file.hpp"

#include "interruptible.hpp"
#include "rooms.hpp"

#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace surefoot::python {

namespace {

using worst_case::Method;
using worst_case::Question;
using worst_case::Vector;

void add_vector(py::module_& module) {
  py::class_<Vector>(module, "Vector")
      .def_property_readonly("start", [](const Vector& vector) { return vector.start; })
      .def_property_readonly("outputs", [](const Vector& vector) { return vector.outputs; })
      .def("__add__", [](const Vector& a, const Vector& b) { return a + b; })
      .def("__sub__", [](const Vector& a, const Vector& b) { return a - b; })
      .def("__neg__", [](const Vector& a) { return -1.0 * a; })
      .def("__mul__", [](const Vector& a, double factor) { return factor * a; })
      .def("__rmul__", [](const Vector& a, double factor) { return factor * a; });
}

void add_method(py::module_& module) {
  py::class_<Method>(module, "WorstCaseMethod")
      .def(py::init<>())
      .def_static("start", &Method::start)
      .def("add",
           [](Method& method, const std::string& kind, double a, double b) {
             return method.add({worst_case::parse_kind(kind), a, b});
           })
      .def("call", &Method::call)
      .def("implicit", [](Method& method, std::size_t oracle, const Vector& v,
                          double step) { return method.implicit(oracle, v, step).point; })
      .def("measure_norm", &Method::measure_norm)
      .def("measure_gap", &Method::measure_gap)
      .def("assume_gap", &Method::assume_gap)
      .def("prove", [](const Method& method, double start) {
        return worst_case::to_json(interruptible([&](const Interrupt& interrupt) {
          worst_case::ProveOptions options;
          options.interrupt = interrupt;
          return worst_case::prove_method(method, start, options);
        }));
      });
}

void add_question(py::module_& module) {
  py::class_<Question>(module, "WorstCaseQuestion")
      .def(py::init<>())
      .def_readwrite("method", &Question::method)
      .def_readwrite("metric", &Question::metric)
      .def("set_initial", [](Question& question,
                             const std::string& text) { question.initial = worst_case::parse_initial(text); })
      .def("set_parameter", [](Question& question, const std::string& name,
                               double value) { worst_case::set_parameter(question, name, value); })
      .def("set_step",
           [](Question& question, const std::vector<double>& step) { question.parameters.step = step; })
      .def("prove", [](const Question& question, const std::vector<Index>& steps, double start) {
        return worst_case::to_json(interruptible([&](const Interrupt& interrupt) {
          worst_case::ProveOptions options;
          options.interrupt = interrupt;
          return worst_case::prove_steps(question, steps, start, options);
        }));
      });
}

}  // namespace

void add_worst_case(py::module_& module) {
  add_vector(module);
  add_method(module);
  add_question(module);
  module.def("replay_proof", [](const std::string& text) {
    return worst_case::replay(worst_case::parse_proof(text)).findings;
  });
  module.def("proof_sentences", [](const std::string& text) {
    return worst_case::sentences(worst_case::parse_proof(text).proof);
  });
  module.def("worst_case_methods", [] {
    std::vector<std::string> names;
    for (const worst_case::NamedMethod& method : worst_case::named_methods()) names.emplace_back(method.name);
    return names;
  });
}

}  // namespace surefoot::python
