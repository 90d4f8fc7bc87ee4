#include "surefoot/algorithms/adaptive_scs.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/certify/settings_json.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/runs/named_metric.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/solve_cone.hpp"
#include "surefoot/runs/solve_qp.hpp"
#include "surefoot/runs/terminations.hpp"

#include "arrays.hpp"
#include "held_certificate.hpp"
#include "interruptible.hpp"
#include "matrices.hpp"
#include "rooms.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace surefoot::python {

namespace {

using algorithms::Operator;
using algorithms::OsqpOptions;
using algorithms::ScsOptions;
using problems::Table;

runs::Start start_of(const py::object& start) {
  return start.is_none() ? runs::cold_start() : runs::given_start(table_of(start, "start"));
}

/// An operator on a family, and how to solve the family accurately.
class Engine {
 public:
  /// `problems`: what instances differ in, a row for each.
  Engine(std::unique_ptr<Operator> op, std::function<Table(const Interrupt&)> solve, std::string record,
         certify::ProblemData problems)
      : op_(std::move(op)),
        solve_(std::move(solve)),
        record_(std::move(record)),
        problems_(std::move(problems)) {}

  [[nodiscard]] const Operator& op() const { return *op_; }
  [[nodiscard]] const std::string& record() const { return record_; }

  [[nodiscard]] Reals solutions() const { return owned_array(interruptible(solve_)); }

  [[nodiscard]] py::tuple traces(const std::string& metric, Index steps, const py::object& start) const {
    const runs::Start from = start_of(start);
    runs::Trace trace = interruptible([&](const Interrupt& interrupt) {
      const runs::Metric measured = metric_of(metric, interrupt);
      return std::move(runs::run_traces(*op_, {measured}, from, run_options(steps, interrupt)).front());
    });
    const Index first_step = trace.first_step;
    const std::string unit = trace.unit;
    const std::string name = trace.metric;
    return py::make_tuple(owned_array(std::move(trace.values)), first_step, name, unit);
  }

  [[nodiscard]] Reals iterates(Index steps, const py::object& start) const {
    const runs::Start from = start_of(start);
    return owned_array(interruptible([&](const Interrupt& interrupt) {
      return runs::run_iterates(*op_, from, run_options(steps, interrupt));
    }));
  }

  /// Statuses as words, and a row of numbers per instance: iterations to termination, prim_res, dual_res,
  /// duality_gap, obj_val, rho, rho_updates.
  [[nodiscard]] py::tuple terminations(Index steps, const py::object& start) const {
    const runs::Start from = start_of(start);
    const runs::Terminations ended = interruptible([&](const Interrupt& interrupt) {
      runs::Terminations all(op_->instances());
      runs::RunOptions options = run_options(steps, interrupt);
      options.ending_sink = all.sink();
      runs::run(*op_, {}, from, options, nullptr);
      return runs::Terminations(all.numbers());
    });
    py::list statuses;
    Table numbers = ended.numbers().rightCols(ended.numbers().cols() - 1);
    for (Index i = 0; i < ended.instances(); ++i) {
      statuses.append(std::string(algorithms::to_string(ended[i].status)));
      numbers(i, 0) = ended.iterations(i);
    }
    return py::make_tuple(statuses, owned_array(std::move(numbers)));
  }

  [[nodiscard]] HeldCertificate certify(const std::string& metric, const certify::Options& options,
                                        Index steps, const py::object& start, const std::string& name,
                                        const std::string& run, bool allow_dependence) const {
    const runs::Start from = start_of(start);
    certify::Independence independence = look_for_dependence(start);
    independence.require_none("family", allow_dependence);
    certify::Certificate certificate = interruptible([&](const Interrupt& interrupt) {
      return certify::certify_run(*op_, metric_of(metric, interrupt), options, run_options(steps, interrupt),
                                  from);
    });
    if (!name.empty()) certificate.variants.front().name = name;
    certificate.variants.front().independence = std::move(independence);
    return {std::move(certificate), run};
  }

 private:
  [[nodiscard]] runs::Metric metric_of(const std::string& name, const Interrupt& interrupt) const {
    return runs::named_metric(name, *op_, [&] { return solve_(interrupt); });
  }
  [[nodiscard]] certify::Independence look_for_dependence(const py::object& start) const {
    certify::ProblemData data = problems_;
    Table starts;
    if (!start.is_none()) starts = table_of(start, "start");
    data.tables.push_back(certify::view_of(starts));
    return certify::independence_of_problems(data);
  }
  static runs::RunOptions run_options(Index steps, const Interrupt& interrupt) {
    runs::RunOptions options;
    options.steps = steps;
    options.interrupt = interrupt;
    return options;
  }

  std::unique_ptr<Operator> op_;
  std::function<Table(const Interrupt&)> solve_;
  std::string record_;
  certify::ProblemData problems_;
};

Engine osqp_engine(const problems::Qp& problem, const OsqpOptions& options) {
  const auto solve = [&problem](const Interrupt& interrupt) {
    runs::QpSolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_qp(problem, how);
  };
  auto op =
      interruptible([&](const Interrupt&) { return std::make_unique<algorithms::Osqp>(problem, options); });
  std::string record = certify::settings_json(op->settings());
  return {std::move(op), solve, std::move(record), certify::data_of(problem)};
}

Engine scs_engine(const problems::ConeProgram& problem, const ScsOptions& options) {
  auto op = interruptible([&](const Interrupt&) { return algorithms::make_scs(problem, options); });
  const auto solve = [problem, options](const Interrupt& interrupt) {
    runs::SolveOptions how;
    how.interrupt = interrupt;
    return runs::solve_cone(problem, options, how);
  };
  std::string record = certify::settings_json(op->settings());
  return {std::move(op), solve, std::move(record), certify::data_of(problem)};
}

void add_problems(py::module_& module) {
  using problems::ConeProgram;
  using problems::Qp;
  const auto describe = []<class Problem>(py::class_<Problem>& type) {
    type.def_property_readonly("instances", &Problem::instances)
        .def_property_readonly("variables", &Problem::variables)
        .def_property_readonly("constraints", &Problem::constraints);
  };
  py::class_<Qp> qp(module, "Qp");
  qp.def(py::init([](const std::vector<Compressed>& P, const std::vector<Compressed>& A, const py::object& q,
                     const py::object& l, const py::object& u) {
    Qp problem;
    problem.P = matrices_of(P, "P");
    problem.A = matrices_of(A, "A");
    problem.q = table_of(q, "q");
    problem.l = table_of(l, "l");
    problem.u = table_of(u, "u");
    problem.validate();
    return problem;
  }));
  describe(qp);
  py::class_<ConeProgram> cone(module, "ConeProgram");
  cone.def(py::init([](const std::vector<Compressed>& P, const std::vector<Compressed>& A,
                       const py::object& b, const py::object& c, Index zero, Index nonnegative,
                       const std::vector<Index>& second_order, const std::vector<Index>& semidefinite,
                       Index exponential, Index dual_exponential, const std::vector<double>& power) {
    ConeProgram problem;
    problem.P = matrices_of(P, "P");
    problem.A = matrices_of(A, "A");
    problem.b = table_of(b, "b");
    problem.c = table_of(c, "c");
    problem.cones = {zero, nonnegative, second_order, semidefinite, exponential, dual_exponential, power};
    problem.validate();
    return problem;
  }));
  describe(cone);
}

void add_settings(py::module_& module) {
  py::class_<OsqpOptions>(module, "OsqpOptions")
      .def(py::init<>())
      .def_static("defaults", &OsqpOptions::defaults)
      .def_static("fixed", &OsqpOptions::fixed)
      .def_static("paper", &OsqpOptions::paper)
      .def_readwrite("rho", &OsqpOptions::rho)
      .def_readwrite("sigma", &OsqpOptions::sigma)
      .def_readwrite("alpha", &OsqpOptions::alpha)
      .def_readwrite("equality_factor", &OsqpOptions::equality_factor)
      .def_readwrite("scaling", &OsqpOptions::scaling)
      .def_readwrite("adaptive_rho", &OsqpOptions::adaptive_rho)
      .def_readwrite("adaptive_rho_interval", &OsqpOptions::adaptive_rho_interval)
      .def_readwrite("adaptive_rho_tolerance", &OsqpOptions::adaptive_rho_tolerance)
      .def_readwrite("check_termination", &OsqpOptions::check_termination)
      .def_readwrite("eps_abs", &OsqpOptions::eps_abs)
      .def_readwrite("eps_rel", &OsqpOptions::eps_rel)
      .def_readwrite("eps_prim_inf", &OsqpOptions::eps_prim_inf)
      .def_readwrite("eps_dual_inf", &OsqpOptions::eps_dual_inf)
      .def_readwrite("check_dualgap", &OsqpOptions::check_dualgap)
      .def_readwrite("scaled_termination", &OsqpOptions::scaled_termination)
      .def_readwrite("max_iter", &OsqpOptions::max_iter)
      .def_readwrite("stop", &OsqpOptions::stop);
  py::class_<ScsOptions>(module, "ScsOptions")
      .def(py::init<>())
      .def_static("defaults", &ScsOptions::defaults)
      .def_static("fixed", &ScsOptions::fixed)
      .def_static("paper", &ScsOptions::paper)
      .def_readwrite("alpha", &ScsOptions::alpha)
      .def_readwrite("rho_x", &ScsOptions::rho_x)
      .def_readwrite("scale", &ScsOptions::scale)
      .def_readwrite("returned", &ScsOptions::returned)
      .def_readwrite("normalize", &ScsOptions::normalize)
      .def_readwrite("adaptive_scale", &ScsOptions::adaptive_scale)
      .def_readwrite("adaptive_diag_scale", &ScsOptions::adaptive_diag_scale)
      .def_readwrite("acceleration_lookback", &ScsOptions::acceleration_lookback)
      .def_readwrite("acceleration_interval", &ScsOptions::acceleration_interval)
      .def_readwrite("acceleration_type_1", &ScsOptions::acceleration_type_1)
      .def_readwrite("acceleration_regularization", &ScsOptions::acceleration_regularization)
      .def_readwrite("acceleration_relaxation", &ScsOptions::acceleration_relaxation)
      .def_readwrite("check_termination", &ScsOptions::check_termination)
      .def_readwrite("eps_abs", &ScsOptions::eps_abs)
      .def_readwrite("eps_rel", &ScsOptions::eps_rel)
      .def_readwrite("eps_infeas", &ScsOptions::eps_infeas)
      .def_readwrite("max_iters", &ScsOptions::max_iters)
      .def_readwrite("stop", &ScsOptions::stop)
      .def("watches", &ScsOptions::watches);
}

}  // namespace

void add_families(py::module_& module) {
  add_problems(module);
  add_settings(module);
  py::class_<Engine>(module, "Engine")
      .def_property_readonly("iterate_size", [](const Engine& self) { return self.op().iterate_size(); })
      .def_property_readonly("record", &Engine::record)
      .def("solutions", &Engine::solutions)
      .def("traces", &Engine::traces)
      .def("iterates", &Engine::iterates)
      .def("terminations", &Engine::terminations)
      .def("certify", &Engine::certify);
  module.def("osqp_engine", &osqp_engine, py::keep_alive<0, 1>());
  module.def("scs_engine", &scs_engine);
  module.attr("metric_names") = runs::metric_names();
}

}  // namespace surefoot::python
