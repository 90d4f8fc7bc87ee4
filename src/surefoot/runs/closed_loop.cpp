#include "surefoot/runs/closed_loop.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/runs/run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace surefoot::runs {

using problems::SparseMatrix;
using problems::Table;

namespace {

constexpr EnumNames<LoopStart, 3> loop_start_names{
    {{LoopStart::cold, "cold"}, {LoopStart::kept, "kept"}, {LoopStart::shifted, "shifted"}}};

constexpr Index rollouts_at_once = 64;

/// Every rollout by itself: what it gets depends neither on threads nor on the others.
template <class Body>
void each_rollout(Index rollouts, const Body& body) {
  parallel_blocks((rollouts + rollouts_at_once - 1) / rollouts_at_once, [&](Index block) {
    const Index end = std::min(rollouts, (block + 1) * rollouts_at_once);
    for (Index rollout = block * rollouts_at_once; rollout < end; ++rollout) body(rollout);
  });
}

double* row_of(Table& table, Index row) {
  return table.data() + row * table.cols();
}
const double* row_of(const Table& table, Index row) {
  return table.data() + row * table.cols();
}

void require_row(const Table& row, Index columns, const char* name, bool bounds) {
  require(row.rows() == 1 && row.cols() == columns, "{}: is {} x {}, must be one row of {}", name, row.rows(),
          row.cols(), columns);
  problems::require_finite(row, name, bounds);
}

void require_places(const std::vector<Index>& places, Index count, const char* name) {
  require(static_cast<Index>(places.size()) == count, "{}: has {} entries, must have {}", name, places.size(),
          count);
  for (std::size_t i = 0; i < places.size(); ++i)
    require(places[i] >= 0 && places[i] < count, "{}: entry {} is {}, must lie in 0 .. {}", name, i,
            places[i], count - 1);
}

void check_disturbance(const Disturbance& disturbance, Index rollouts, Index states, Index ticks) {
  using Kind = Disturbance::Kind;
  const Table& numbers = disturbance.numbers;
  if (disturbance.kind == Kind::none) return;
  if (disturbance.kind == Kind::rows) {
    require(numbers.cols() == states, "disturbances: has {} columns, must have {}", numbers.cols(), states);
    require(numbers.rows() >= checked_product("disturbances", rollouts, ticks),
            "disturbances: has {} rows, {} rollouts of {} ticks need {}: no row is used twice",
            numbers.rows(), rollouts, ticks, rollouts * ticks);
    problems::require_finite(numbers, "disturbances");
    return;
  }
  require_row(numbers, states, "disturbance", false);
  for (Index i = 0; i < states; ++i)
    require(numbers(0, i) >= 0, "disturbance: entry {} is {}, must be >= 0", i, numbers(0, i));
}

void add_disturbance(const Disturbance& disturbance, Index ticks, Index rollout, Index tick, double* state,
                     Index states) {
  using Kind = Disturbance::Kind;
  if (disturbance.kind == Kind::none) return;
  if (disturbance.kind == Kind::rows) {
    const double* row = row_of(disturbance.numbers, rollout * ticks + tick);
    for (Index i = 0; i < states; ++i) state[i] += row[i];
    return;
  }
  RandomStream random(disturbance.seed, "closed loop disturbance",
                      static_cast<std::uint64_t>(rollout) * static_cast<std::uint64_t>(most_steps) +
                          static_cast<std::uint64_t>(tick));
  for (Index i = 0; i < states; ++i) {
    const double size = disturbance.numbers(0, i);
    state[i] += disturbance.kind == Kind::gaussian ? size * random.normal() : random.uniform(-size, size);
  }
}

bool is_finite(const double* values, Index count) {
  return std::all_of(values, values + count, [](double value) { return std::isfinite(value); });
}

}  // namespace

std::string_view name(LoopStart start) {
  return name_in(loop_start_names, start);
}

LoopStart parse_loop_start(std::string_view text) {
  return value_in(loop_start_names, "start", text);
}

void LoopModel::validate(Index states) const {
  problem.validate();
  require(problem.P.size() == 1 && problem.A.size() == 1,
          "P, A: a closed loop has one of each, not {} and {}", problem.P.size(), problem.A.size());
  const Index n = problem.variables();
  const Index m = problem.constraints();
  require_row(problem.q, n, "q", false);
  require_row(problem.l, m, "l", true);
  require_row(problem.u, m, "u", true);
  const auto check_map = [&](const SparseMatrix& map, Index rows, const char* name) {
    if (map.size() == 0) return;
    require(!vectors, "{}: is not used beside vectors that a function gives", name);
    problems::require_shape(map, rows, states, name);
    problems::require_finite(map, name);
  };
  check_map(q_state, n, "q_state");
  check_map(l_state, m, "l_state");
  check_map(u_state, m, "u_state");
  require(vectors || q_state.nonZeros() + l_state.nonZeros() + u_state.nonZeros() > 0,
          "q_state, l_state, u_state: the state enters none of q, l and u: every tick would be the same");
  require(input.rows() >= 1, "input: is {} x {}, must have a row per input", input.rows(), input.cols());
  problems::require_shape(input, input.rows(), n, "input");
  problems::require_finite(input, "input");
  if (input_lower.size() > 0) require_row(input_lower, inputs(), "input_lower", true);
  if (input_upper.size() > 0) require_row(input_upper, inputs(), "input_upper", true);
  for (Index i = 0; input_lower.size() > 0 && input_upper.size() > 0 && i < inputs(); ++i)
    require(input_lower(0, i) <= input_upper(0, i),
            "input_lower: entry {} is {}, greater than input_upper = {}", i, input_lower(0, i),
            input_upper(0, i));
}

void LinearPlant::validate(Index rollouts) const {
  const Index states = A.rows();
  require(states >= 1 && A.cols() == states, "plant_A: is {} x {}, must be square", A.rows(), A.cols());
  require(B.rows() == states && B.cols() >= 1, "plant_B: is {} x {}, must have {} rows", B.rows(), B.cols(),
          states);
  require(A.allFinite(), "plant_A: has an entry that is infinite or not a number");
  require(B.allFinite(), "plant_B: has an entry that is infinite or not a number");
  if (c.size() > 0) require_row(c, states, "plant_c", false);
  check_disturbance(disturbance, rollouts, states, ticks);
}

Plant linear_plant(LinearPlant plant, Index rollouts) {
  plant.validate(rollouts);
  const auto shared = std::make_shared<const LinearPlant>(std::move(plant));
  const auto move = [shared](Index tick, const Table& states, const Table& inputs, Table& next) {
    const LinearPlant& own = *shared;
    const Index count = own.A.rows();
    each_rollout(states.rows(), [&](Index rollout) {
      const double* state = row_of(states, rollout);
      const double* input = row_of(inputs, rollout);
      double* to = row_of(next, rollout);
      for (Index i = 0; i < count; ++i) {
        double sum = own.c.size() > 0 ? own.c(0, i) : 0.0;
        for (Index j = 0; j < count; ++j) sum += own.A(i, j) * state[j];
        for (Index j = 0; j < own.B.cols(); ++j) sum += own.B(i, j) * input[j];
        to[i] = sum;
      }
      add_disturbance(own.disturbance, own.ticks, rollout, tick, to, count);
    });
  };
  return {move, true};
}

Plant disturbed(Plant plant, Disturbance disturbance, Index ticks) {
  if (disturbance.kind == Disturbance::Kind::none) return plant;
  const auto shared = std::make_shared<const Disturbance>(std::move(disturbance));
  const auto move = [shared, ticks, before = std::move(plant.move)](Index tick, const Table& states,
                                                                    const Table& inputs, Table& next) {
    if (tick == 0) check_disturbance(*shared, states.rows(), states.cols(), ticks);
    before(tick, states, inputs, next);
    if (next.rows() != states.rows() || next.cols() != states.cols()) return;  // refused by the loop
    each_rollout(next.rows(), [&](Index rollout) {
      add_disturbance(*shared, ticks, rollout, tick, row_of(next, rollout), next.cols());
    });
  };
  return {move, plant.may_diverge};
}

void ClosedLoopOptions::validate() const {
  osqp.validate();
  require(!osqp.adaptive_rho,
          "adaptive_rho: a closed loop keeps one rho; what a change at one tick does to the next is not run");
  require(limit >= 1 && limit <= most_steps, "limit: is {}, must be in 1 .. {}", limit, most_steps);
  require(ticks >= 1 && ticks < most_steps, "ticks: is {}, must be in 1 .. {}", ticks, most_steps - 1);
  require(!stop || osqp.check_termination > 0,
          "check_termination: is 0, must be > 0 where the stopping test ends ticks");
}

ClosedLoop::Entries ClosedLoop::entries_of(const SparseMatrix& matrix) {
  Entries entries;
  for (Index column = 0; column < matrix.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry)
      entries.push_back({entry.row(), column, entry.value()});
  std::ranges::stable_sort(entries, {}, &Entry::row);
  return entries;
}

ClosedLoop::ClosedLoop(LoopModel model, Index rollouts, Index states, ClosedLoopOptions options)
    : model_(std::move(model)), options_(std::move(options)), rollouts_(rollouts), states_(states) {
  options_.validate();
  require(rollouts >= 1, "rollouts: is {}, must be >= 1", rollouts);
  require(states >= 1, "states: is {}, must be >= 1", states);
  model_.validate(states);
  if (options_.start == LoopStart::shifted) {
    require_places(model_.shift_x, model_.problem.variables(), "shift_x");
    require_places(model_.shift_y, model_.problem.constraints(), "shift_y");
  }
  q_map_ = entries_of(model_.q_state);
  l_map_ = entries_of(model_.l_state);
  u_map_ = entries_of(model_.u_state);
  input_map_ = entries_of(model_.input);
  algorithms::OsqpOptions osqp = options_.osqp;
  osqp.stop = true;
  osqp.max_iter = options_.limit;
  if (!options_.stop) osqp.check_termination = 0;
  // As a controller that is set up once, before it knows a state, and then gets other vectors.
  osqp.scale_each = false;
  osqp.reference_q = Eigen::Map<const problems::Vector>(model_.problem.q.data(), model_.problem.q.cols());
  problems::Qp all = model_.problem;
  const auto repeat = [&](Table& table, bool follows) {
    if (follows) table = Table(table.replicate(rollouts_, 1));
  };
  const bool given = static_cast<bool>(model_.vectors);
  repeat(all.q, given || !q_map_.empty());
  repeat(all.l, given || !l_map_.empty());
  repeat(all.u, given || !u_map_.empty());
  op_ = std::make_unique<algorithms::Osqp>(std::move(all), osqp);
}

ClosedLoop::~ClosedLoop() = default;

void ClosedLoop::follow(const Entries& map, const Table& base, const Table& states, Table& vectors) {
  if (map.empty()) return;
  each_rollout(states.rows(), [&](Index rollout) {
    const double* state = row_of(states, rollout);
    double* to = row_of(vectors, rollout);
    for (const Entry& entry : map) to[entry.row] = base(0, entry.row);
    for (const Entry& entry : map) to[entry.row] += entry.value * state[entry.column];
  });
}

void ClosedLoop::set_vectors(Index tick, const Table& states) {
  op_->change_vectors([&](Table& q, Table& l, Table& u) {
    if (model_.vectors) {
      model_.vectors(tick, states, q, l, u);
      return;
    }
    follow(q_map_, model_.problem.q, states, q);
    follow(l_map_, model_.problem.l, states, l);
    follow(u_map_, model_.problem.u, states, u);
  });
}

// A rollout reads its row when its lane begins and writes it when it ends: nobody else does.
void ClosedLoop::solve_all() {
  RunOptions options;
  options.steps = options_.limit;
  options.iterate_steps = {options_.limit};
  options.interrupt = options_.interrupt;
  options.ending_sink = [&](Index rollout, const algorithms::Ending& ending) {
    const auto place = static_cast<std::size_t>(rollout);
    solved_[place] = ending.status == algorithms::SolverStatus::solved ? 1 : 0;
    iterations_[place] = ending.iterations > 0 ? ending.iterations : options_.limit;
  };
  Table& iterates = *iterates_;
  const Start start = options_.start == LoopStart::cold ? cold_start() : Start{iterates_};
  runs::run(*op_, {}, start, options, nullptr, [&](std::size_t, Index rollout, const double* iterate) {
    std::copy_n(iterate, iterates.cols(), row_of(iterates, rollout));
  });
}

void ClosedLoop::read_inputs() {
  inputs_.setZero(rollouts_, model_.inputs());
  each_rollout(rollouts_, [&](Index rollout) {
    const auto place = static_cast<std::size_t>(rollout);
    double* iterate = row_of(*iterates_, rollout);
    double* input = row_of(inputs_, rollout);
    for (const Entry& entry : input_map_) input[entry.row] += entry.value * iterate[entry.column];
    if (lost_[place] == 0 && is_finite(iterate, iterates_->cols()) && is_finite(input, inputs_.cols())) {
      for (Index i = 0; i < inputs_.cols(); ++i) {
        if (model_.input_lower.size() > 0) input[i] = std::max(input[i], model_.input_lower(0, i));
        if (model_.input_upper.size() > 0) input[i] = std::min(input[i], model_.input_upper(0, i));
      }
      return;
    }
    lost_[place] = 1;
    std::fill_n(iterate, iterates_->cols(), 0.0);
    std::fill_n(input, inputs_.cols(), 0.0);
  });
}

void ClosedLoop::shift() {
  if (options_.start != LoopStart::shifted) return;
  const Index n = model_.problem.variables();
  const Index m = model_.problem.constraints();
  const SparseMatrix& A = model_.problem.A.front();
  each_rollout(rollouts_, [&](Index rollout) {
    double* iterate = row_of(*iterates_, rollout);
    const std::vector<double> before(iterate, iterate + n + m);
    double* w = iterate + n + m;
    for (Index i = 0; i < n; ++i) iterate[i] = before[static_cast<std::size_t>(model_.shift_x[i])];
    for (Index i = 0; i < m; ++i) iterate[n + i] = before[static_cast<std::size_t>(n + model_.shift_y[i])];
    std::fill_n(w, m, 0.0);
    for (Index column = 0; column < n; ++column)
      for (SparseMatrix::InnerIterator entry(A, column); entry; ++entry)
        w[entry.row()] += entry.value() * iterate[column];
  });
}

void ClosedLoop::run(Table states, const Plant& plant,
                     const std::function<void(const LoopTick&)>& each_tick) {
  require(states.rows() == rollouts_ && states.cols() == states_,
          "initial: is {} x {}, must be {} x {} (rollouts x states)", states.rows(), states.cols(), rollouts_,
          states_);
  problems::require_finite(states, "initial");
  const auto count = static_cast<std::size_t>(rollouts_);
  solved_.assign(count, 0);
  lost_.assign(count, 0);
  iterations_.assign(count, 0);
  iterates_ = std::make_shared<Table>(Table::Zero(rollouts_, op_->iterate_size()));
  Table next = Table::Zero(rollouts_, states_);
  for (Index tick = 0; tick < options_.ticks; ++tick) {
    if (options_.interrupt) options_.interrupt();
    try {
      set_vectors(tick, states);
    } catch (const InputError& error) {
      throw InputError(fmt::format("tick {}, where an instance is a rollout: {}", tick, error.what()));
    }
    solve_all();
    read_inputs();
    plant.move(tick, states, inputs_, next);
    require(next.rows() == rollouts_ && next.cols() == states_,
            "plant: gave {} x {} at tick {}, must be {} x {} (rollouts x states)", next.rows(), next.cols(),
            tick, rollouts_, states_);
    for (Index rollout = 0; rollout < rollouts_; ++rollout) {
      const auto place = static_cast<std::size_t>(rollout);
      double* state = row_of(next, rollout);
      if (lost_[place] == 0 && !is_finite(state, states_)) {
        const double* bad =
            std::find_if_not(state, state + states_, [](double s) { return std::isfinite(s); });
        require(plant.may_diverge, "plant: state {} of rollout {} is {} after tick {}, must be finite",
                bad - state, rollout, *bad, tick);
        lost_[place] = 1;
      }
      if (lost_[place] != 0) {
        solved_[place] = 0;
        std::fill_n(state, states_, 0.0);
      }
    }
    each_tick({tick, states, inputs_, next, solved_, iterations_, lost_});
    states.swap(next);
    shift();
  }
}

}  // namespace surefoot::runs
