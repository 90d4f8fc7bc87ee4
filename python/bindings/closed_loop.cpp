#include "surefoot/runs/closed_loop.hpp"

#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/rollouts.hpp"
#include "surefoot/certify/settings_json.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/runs/rollout_values.hpp"

#include "arrays.hpp"
#include "held_certificate.hpp"
#include "interruptible.hpp"
#include "matrices.hpp"
#include "rooms.hpp"

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace surefoot::python {

namespace {

using problems::Table;

Reals copy_of(const Table& table) {
  return Reals(std::vector<py::ssize_t>{table.rows(), table.cols()}, table.data());
}

Table optional_table(const py::object& given, const char* name) {
  return given.is_none() ? Table() : table_of(given, name);
}

problems::SparseMatrix optional_matrix(const std::optional<Compressed>& given, const char* name) {
  return given ? matrices_of({*given}, name).front() : problems::SparseMatrix();
}

problems::Matrix optional_square(const py::object& given, const char* name) {
  return given.is_none() ? problems::Matrix() : problems::Matrix(table_of(given, name));
}

/// A closed loop: everything but the limit.
struct Loop {
  runs::LoopModel model;
  runs::PlantTask task;
  Table initial;
  runs::Disturbance disturbance;
  Index ticks = 0;
  bool may_diverge = true;  ///< a NaN is a failure, as everywhere; else an error
  /// Holds Python objects: it is called with the interpreter lock.
  std::function<py::object(Reals states, Reals inputs, Index tick)> plant;
  std::function<py::object(Reals states, Index tick)> vectors;

  [[nodiscard]] runs::Plant plant_of_callback() const {
    runs::Plant moved;
    moved.may_diverge = may_diverge;
    moved.move = [this](Index tick, const Table& states, const Table& inputs, Table& next) {
      const py::gil_scoped_acquire lock;
      next = table_of(plant(copy_of(states), copy_of(inputs), tick), "plant");
    };
    return runs::disturbed(moved, disturbance, ticks);
  }

  void set_vectors() {
    if (!vectors) return;
    model.vectors = [this](Index tick, const Table& states, Table& q, Table& l, Table& u) {
      const py::gil_scoped_acquire lock;
      const py::object given = vectors(copy_of(states), tick);
      require(py::isinstance<py::tuple>(given) && py::len(given) == 3,
              "vectors: must give a tuple (q, l, u) at tick {}", tick);
      const auto put = [&](int place, Table& to, const char* name) {
        const Table from = table_of(py::object(py::reinterpret_borrow<py::tuple>(given)[place]), name);
        require((from.rows() == to.rows() || from.rows() == 1) && from.cols() == to.cols(),
                "vectors: {} is {} x {}, must be {} x {} or one row", name, from.rows(), from.cols(),
                to.rows(), to.cols());
        if (from.rows() == to.rows())
          to = from;
        else
          to = from.replicate(to.rows(), 1);
      };
      put(0, q, "q");
      put(1, l, "l");
      put(2, u, "u");
    };
  }

  /// The numbers of all rollouts, a column each (violation, cost, share of failed ticks, longest series,
  /// whether every tick was solved), iterations of a tick on average, the solver's settings, and states and
  /// inputs by tick where they are kept.
  [[nodiscard]] py::tuple run(const algorithms::OsqpOptions& osqp, Index limit, bool stop,
                              const std::string& start, bool keep) {
    runs::ClosedLoopOptions options;
    options.osqp = osqp;
    options.limit = limit;
    options.stop = stop;
    options.start = runs::parse_loop_start(start);
    options.ticks = ticks;
    const Index rollouts = initial.rows();
    Table numbers = Table::Zero(rollouts, 5);
    numbers.col(4).setOnes();
    std::vector<Table> states;
    std::vector<Table> inputs;
    std::string record;
    double iterations = 0;
    interruptible([&](const Interrupt& interrupt) {
      options.interrupt = interrupt;
      runs::ClosedLoop loop(model, rollouts, initial.cols(), options);
      record = certify::settings_json(loop.op().settings());
      runs::RolloutValues values(task, rollouts);
      if (keep) states.push_back(initial);
      loop.run(initial, plant_of_callback(), [&](const runs::LoopTick& tick) {
        values.add(tick);
        for (Index i = 0; i < rollouts; ++i)
          if (tick.solved[static_cast<std::size_t>(i)] == 0) numbers(i, 4) = 0;
        if (!keep) return;
        // Of a rollout that was lost the loop has zeros, which nobody may take for states.
        const auto keep_what_is = [&](std::vector<Table>& kept, const Table& numbers) {
          Table& table = kept.emplace_back(numbers);
          for (Index i = 0; i < rollouts; ++i)
            if (tick.lost[static_cast<std::size_t>(i)] != 0)
              table.row(i).setConstant(std::numeric_limits<double>::quiet_NaN());
        };
        keep_what_is(states, tick.next);
        keep_what_is(inputs, tick.inputs);
      });
      iterations = values.iterations() / static_cast<double>(ticks) / static_cast<double>(rollouts);
      const auto put = [&](Index column, const std::vector<double>& from) {
        numbers.col(column) = Eigen::Map<const Eigen::VectorXd>(from.data(), rollouts);
      };
      put(0, values.violation());
      put(1, values.cost());
      put(2, values.failed_share());
      put(3, values.longest_series());
    });
    const auto list_of = [](std::vector<Table>& tables) {
      py::list arrays;
      for (Table& table : tables) arrays.append(owned_array(std::move(table)));
      return arrays;
    };
    return py::make_tuple(owned_array(std::move(numbers)), iterations, record, list_of(states),
                          list_of(inputs));
  }
};

runs::Disturbance disturbance_of(const std::string& kind, const py::object& numbers, std::uint64_t seed) {
  runs::Disturbance disturbance;
  disturbance.seed = seed;
  if (kind == "none") return disturbance;
  require(kind == "gaussian" || kind == "bounded" || kind == "rows",
          "disturbance: '{}' is not one of gaussian, bounded, rows", io::printable(kind));
  disturbance.kind = kind == "gaussian"  ? runs::Disturbance::Kind::gaussian
                     : kind == "bounded" ? runs::Disturbance::Kind::bounded
                                         : runs::Disturbance::Kind::rows;
  disturbance.numbers = table_of(numbers, "disturbance");
  return disturbance;
}

/// A variant of rollouts, whose independence shows in rows of tables: `drawn`, each with a row or several for
/// each rollout.
certify::Variant variant_of_rollouts(const std::string& name, const py::sequence& drawn, Index rollouts,
                                     bool allow_dependence) {
  certify::Variant variant;
  variant.name = name;
  variant.source = "surefoot run loop";
  for (const py::handle table : drawn) {
    const certify::Independence found = certify::independence_of_rollouts(
        table_of(py::reinterpret_borrow<py::object>(table), "drawn"), rollouts);
    variant.independence = variant.independence ? certify::together(*variant.independence, found) : found;
  }
  if (variant.independence) variant.independence->require_none("rollouts", allow_dependence);
  return variant;
}

HeldCertificate certify_rollouts(const py::object& values, const std::vector<Index>& limits, Index ticks,
                                 const certify::Options& options, const py::sequence& drawn,
                                 const std::string& name, const std::string& run, bool allow_dependence) {
  const Table table = table_of(values, "values");
  const certify::Variant variant = variant_of_rollouts(name, drawn, table.rows(), allow_dependence);
  return {certify::certify_rollouts(table, limits, ticks, options, variant), run};
}

HeldCertificate certify_tube(const py::object& states, Index states_of_plant, Index limit,
                             const std::optional<double>& share, double delta, const py::sequence& drawn,
                             const std::string& run, bool allow_dependence) {
  const Table table = table_of(states, "states");
  const certify::Variant variant = variant_of_rollouts("", drawn, table.rows(), allow_dependence);
  const Index ticks = states_of_plant > 0 ? table.cols() / states_of_plant - 1 : 0;
  const double wanted = share ? *share : certify::share_of_tube(table.rows(), states_of_plant, ticks, delta);
  return {certify::certify_tube(table, states_of_plant, limit, wanted, delta, variant), run};
}

}  // namespace

void add_closed_loop(py::module_& module) {
  py::class_<Loop>(module, "ClosedLoop")
      .def(py::init([](const problems::Qp& problem, const std::optional<Compressed>& q_state,
                       const std::optional<Compressed>& l_state, const std::optional<Compressed>& u_state,
                       const Compressed& input, const py::object& input_lower, const py::object& input_upper,
                       const std::vector<Index>& shift_x, const std::vector<Index>& shift_y,
                       const py::object& initial, Index ticks) {
        auto loop = std::make_unique<Loop>();
        loop->model.problem = problem;
        loop->model.q_state = optional_matrix(q_state, "q_state");
        loop->model.l_state = optional_matrix(l_state, "l_state");
        loop->model.u_state = optional_matrix(u_state, "u_state");
        loop->model.input = matrices_of({input}, "input").front();
        loop->model.input_lower = optional_table(input_lower, "input_lower");
        loop->model.input_upper = optional_table(input_upper, "input_upper");
        loop->model.shift_x = shift_x;
        loop->model.shift_y = shift_y;
        loop->initial = table_of(initial, "initial");
        loop->ticks = ticks;
        return loop;
      }))
      .def("set_plant",
           [](Loop& loop, const std::function<py::object(Reals, Reals, Index)>& plant,
              const std::function<py::object(Reals, Index)>& vectors, const std::string& disturbance,
              const py::object& numbers, std::uint64_t seed, bool may_diverge) {
             loop.plant = plant;
             loop.may_diverge = may_diverge;
             loop.vectors = vectors;
             loop.disturbance = disturbance_of(disturbance, numbers, seed);
             loop.set_vectors();
           })
      .def("set_task",
           [](Loop& loop, const py::object& lower, const py::object& upper, const py::object& cost_Q,
              const py::object& cost_R) {
             loop.task.state_lower = optional_table(lower, "state_lower");
             loop.task.state_upper = optional_table(upper, "state_upper");
             loop.task.cost_Q = optional_square(cost_Q, "cost_Q");
             loop.task.cost_R = optional_square(cost_R, "cost_R");
             loop.task.validate(loop.initial.cols(), loop.model.inputs());
           })
      .def("run", &Loop::run);
  module.def("certify_rollouts", &certify_rollouts);
  module.def("certify_tube", &certify_tube);
}

}  // namespace surefoot::python
