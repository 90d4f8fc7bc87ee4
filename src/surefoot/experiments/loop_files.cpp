#include "surefoot/experiments/loop_files.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace surefoot::experiments {

using problems::SparseMatrix;
using problems::Table;

namespace {

struct LoopFile {
  const char* name;
  const char* help;
};

constexpr std::array<LoopFile, 26> loop_files{{
    {"P", "P of the problem"},
    {"A", "A of the problem"},
    {"q", "q at state 0, one row"},
    {"l", "l at state 0, one row"},
    {"u", "u at state 0, one row"},
    {"q-state", "matrix n x states: what the state adds to q [nothing]"},
    {"l-state", "matrix m x states: what the state adds to l [nothing]"},
    {"u-state", "matrix m x states: what the state adds to u [nothing]"},
    {"input", "matrix inputs x n: the input that is applied, of the solution"},
    {"input-lower", "one row: what the actuators can do; inputs are clipped [no limit]"},
    {"input-upper", "one row: the same from above [no limit]"},
    {"plant-A", "A of the plant"},
    {"plant-B", "B of the plant"},
    {"plant-c", "one row: affine term of the plant [0]"},
    {"state-lower", "one row: bounds of the plant's states, for the violation [none]"},
    {"state-upper", "one row: the same from above [none]"},
    {"cost-Q", "matrix: cost of a state, for the closed-loop cost [no claims of costs]"},
    {"cost-R", "matrix: cost of an input [no claims of costs]"},
    {"disturbance-std", "one row: deviations of Gaussian disturbances"},
    {"disturbance-bound", "one row: bounds of uniform disturbances"},
    {"disturbances", "table: a row for each tick of each rollout, none used twice"},
    {"initial", "table: a row for each rollout"},
    {"initial-mean", "one row: mean of Gaussian initial states [0]"},
    {"initial-std", "one row: their deviations"},
    {"initial-lower", "one row: uniform initial states"},
    {"initial-upper", "one row: the same from above"},
}};
constexpr std::array<LoopFile, 2> shift_files{{
    {"shift-x", "one row of n entries 0 .. n - 1, for --loop-start shifted: where an entry of x begins"},
    {"shift-y", "one row of m entries 0 .. m - 1: the same of y"},
}};

/// The one of these that is there; empty if none is. InputError if there are two.
std::string only_one(const families::FamilyFiles& files, const std::vector<std::string>& names) {
  std::string found;
  for (const std::string& name : names) {
    if (!files.has(name)) continue;
    require(found.empty(), "{}: is given beside {}; there can be one of them", name, found);
    found = name;
  }
  return found;
}

Table table_if(families::FamilyFiles& files, const std::string& name) {
  return files.has(name) ? files.read_table(name) : Table();
}
SparseMatrix matrix_if(families::FamilyFiles& files, const std::string& name) {
  return files.has(name) ? files.read_matrix(name) : SparseMatrix();
}

void require_state_row(const Table& row, Index states, const char* name) {
  require(row.rows() == 1 && row.cols() == states, "{}: is {} x {}, must be one row of {} (states)", name,
          row.rows(), row.cols(), states);
  problems::require_finite(row, name);
}

std::vector<Index> places_in(families::FamilyFiles& files, const std::string& name, const char* argument) {
  const Table row = files.read_table(name);
  std::vector<Index> places;
  files.with_file_names([&] {
    require(row.rows() == 1, "{}: has {} rows, must have one", argument, row.rows());
    for (Index i = 0; i < row.cols(); ++i) {
      require(std::floor(row(0, i)) == row(0, i) && std::abs(row(0, i)) < 1e9,
              "{}: entry {} is {}, must be a whole number", argument, i, row(0, i));
      places.push_back(static_cast<Index>(row(0, i)));
    }
  });
  return places;
}

template <class Draw>
Table drawn_states(Index rollouts, Index states, std::uint64_t seed, const Draw& draw) {
  Table initial(rollouts, states);
  for (Index i = 0; i < rollouts; ++i) {
    RandomStream random(seed, "closed loop initial state", static_cast<std::uint64_t>(i));
    for (Index s = 0; s < states; ++s) initial(i, s) = draw(random, s);
  }
  return initial;
}

void read_initial(families::FamilyFiles& files, Index rollouts, std::uint64_t seed, LoopSetup& setup) {
  const Index states = setup.plant.A.rows();
  const std::string kind = only_one(files, {"initial", "initial-std", "initial-lower"});
  require(!kind.empty(),
          "initial: there is none of initial (a table), initial-std (Gaussian) and initial-lower (uniform)");
  require(kind == "initial-std" || !files.has("initial-mean"), "initial-mean: it is for initial-std");
  require(kind == "initial-lower" || !files.has("initial-upper"), "initial-upper: it is for initial-lower");
  if (kind == "initial") {
    setup.initial = files.read_table("initial");
    setup.initial_from = "table";
    files.with_file_names([&] {
      require(setup.initial.cols() == states, "initial: has {} columns, must have {} (states)",
              setup.initial.cols(), states);
      require(setup.initial.rows() >= rollouts, "initial: has {} rows for {} rollouts; no row is used twice",
              setup.initial.rows(), rollouts);
      problems::require_finite(setup.initial, "initial");
    });
    setup.initial.conservativeResize(rollouts, Eigen::NoChange);
    return;
  }
  if (kind == "initial-std") {
    const Table deviation = files.read_table("initial-std");
    Table mean = table_if(files, "initial-mean");
    if (mean.size() == 0) mean = Table::Zero(1, states);
    files.with_file_names([&] {
      require_state_row(deviation, states, "initial_std");
      require_state_row(mean, states, "initial_mean");
      for (Index s = 0; s < states; ++s)
        require(deviation(0, s) >= 0, "initial_std: entry {} is {}, must be >= 0", s, deviation(0, s));
    });
    setup.initial_from = "gaussian";
    setup.initial = drawn_states(rollouts, states, seed, [&](RandomStream& random, Index s) {
      return mean(0, s) + deviation(0, s) * random.normal();
    });
    return;
  }
  const Table lower = files.read_table("initial-lower");
  const Table upper = files.read_table("initial-upper");
  files.with_file_names([&] {
    require_state_row(lower, states, "initial_lower");
    require_state_row(upper, states, "initial_upper");
    for (Index s = 0; s < states; ++s)
      require(lower(0, s) <= upper(0, s), "initial_lower: entry {} is {}, greater than initial-upper = {}", s,
              lower(0, s), upper(0, s));
  });
  setup.initial_from = "uniform";
  setup.initial = drawn_states(rollouts, states, seed, [&](RandomStream& random, Index s) {
    return random.uniform(lower(0, s), upper(0, s));
  });
}

void read_disturbance(families::FamilyFiles& files, std::uint64_t seed, LoopSetup& setup) {
  using Kind = runs::Disturbance::Kind;
  const std::string kind = only_one(files, {"disturbance-std", "disturbance-bound", "disturbances"});
  runs::Disturbance& disturbance = setup.plant.disturbance;
  disturbance.seed = seed;
  setup.disturbed_by = "none";
  if (kind.empty()) return;
  disturbance.numbers = files.read_table(kind);
  disturbance.kind = kind == "disturbance-std"     ? Kind::gaussian
                     : kind == "disturbance-bound" ? Kind::bounded
                                                   : Kind::rows;
  setup.disturbed_by = kind == "disturbance-std"     ? "gaussian"
                       : kind == "disturbance-bound" ? "bounded"
                                                     : "rows";
}

}  // namespace

const std::vector<std::string>& loop_file_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const LoopFile& file : loop_files) all.emplace_back(file.name);
    for (const LoopFile& file : shift_files) all.emplace_back(file.name);
    return all;
  }();
  return names;
}

std::string loop_file_help(const std::string& name) {
  for (const LoopFile& file : loop_files)
    if (file.name == name) return file.help;
  for (const LoopFile& file : shift_files)
    if (file.name == name) return file.help;
  return "";
}

LoopSetup read_loop(families::FamilyFiles& files, Index rollouts, Index ticks, std::uint64_t seed,
                    runs::LoopStart start) {
  LoopSetup setup;
  setup.model.problem = files.read_qp();
  setup.model.q_state = matrix_if(files, "q-state");
  setup.model.l_state = matrix_if(files, "l-state");
  setup.model.u_state = matrix_if(files, "u-state");
  setup.model.input = files.read_matrix("input");
  setup.model.input_lower = table_if(files, "input-lower");
  setup.model.input_upper = table_if(files, "input-upper");
  if (start == runs::LoopStart::shifted) {
    setup.model.shift_x = places_in(files, "shift-x", "shift_x");
    setup.model.shift_y = places_in(files, "shift-y", "shift_y");
  }
  setup.plant.A = files.read_matrix("plant-A").toDense();
  setup.plant.B = files.read_matrix("plant-B").toDense();
  setup.plant.c = table_if(files, "plant-c");
  setup.plant.ticks = ticks;
  setup.task.state_lower = table_if(files, "state-lower");
  setup.task.state_upper = table_if(files, "state-upper");
  setup.task.cost_Q = matrix_if(files, "cost-Q").toDense();
  setup.task.cost_R = matrix_if(files, "cost-R").toDense();
  read_disturbance(files, seed, setup);
  files.with_file_names([&] {
    setup.plant.validate(rollouts);
    const Index states = setup.plant.A.rows();
    setup.model.validate(states);
    require(setup.plant.B.cols() == setup.model.inputs(), "plant_B: has {} columns, {} inputs are applied",
            setup.plant.B.cols(), setup.model.inputs());
    setup.task.validate(states, setup.model.inputs());
  });
  read_initial(files, rollouts, seed, setup);
  return setup;
}

}  // namespace surefoot::experiments
