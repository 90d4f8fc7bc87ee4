#include "surefoot/runs/closed_loop.hpp"

#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/runs/run.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace surefoot::runs {
namespace {

using problems::Matrix;
using problems::Table;

constexpr Index horizon = 6;

/// A cart (position, speed) pushed by a limited force, predicted over `horizon` stages: variables (s_0 ..
/// s_T, v_0 .. v_{T-1}), rows (s_0 = state, dynamics, force limits).
LoopModel cart_model() {
  const Index n = 2 * (horizon + 1) + horizon;
  const Index m = 2 * (horizon + 1) + horizon;
  Matrix A = Matrix::Identity(m, n);
  Matrix P = Matrix::Zero(n, n);
  for (Index t = 0; t <= horizon; ++t) {
    P(2 * t, 2 * t) = t == horizon ? 8 : 1;
    P(2 * t + 1, 2 * t + 1) = t == horizon ? 4 : 0.1;
    if (t == horizon) break;
    const Index force = 2 * (horizon + 1) + t;
    P(force, force) = 0.1;
    A(2 * t + 2, 2 * t) = -1;
    A(2 * t + 2, 2 * t + 1) = -0.2;
    A(2 * t + 2, force) = -0.02;
    A(2 * t + 3, 2 * t + 1) = -1;
    A(2 * t + 3, force) = -0.2;
  }
  LoopModel model;
  model.problem.P = {P.sparseView()};
  model.problem.A = {A.sparseView()};
  model.problem.q = Table::Zero(1, n);
  model.problem.l = Table::Zero(1, m);
  model.problem.u = Table::Zero(1, m);
  model.problem.l.rightCols(horizon).setConstant(-1);
  model.problem.u.rightCols(horizon).setConstant(1);
  Matrix first = Matrix::Zero(m, 2);
  first.topRows(2).setIdentity();
  model.l_state = model.u_state = first.sparseView();
  Matrix input = Matrix::Zero(1, n);
  input(0, 2 * (horizon + 1)) = 1;
  model.input = input.sparseView();
  model.input_lower = Table::Constant(1, 1, -1);
  model.input_upper = Table::Constant(1, 1, 1);
  for (Index i = 0; i < n; ++i) {
    const bool force = i >= 2 * (horizon + 1);
    const Index last = force ? n - 1 : 2 * (horizon + 1) - 1;
    const Index width = force ? 1 : 2;
    model.shift_x.push_back(i + width > last ? i : i + width);
    model.shift_y.push_back(model.shift_x.back());
  }
  return model;
}

LinearPlant cart_plant(Index ticks, double noise = 0.01) {
  LinearPlant plant;
  plant.A.resize(2, 2);
  plant.A << 1, 0.2, 0, 1;
  plant.B.resize(2, 1);
  plant.B << 0.02, 0.2;
  plant.ticks = ticks;
  if (noise > 0) plant.disturbance = {Disturbance::Kind::gaussian, Table::Constant(1, 2, noise), 5};
  return plant;
}

Table starts(Index rollouts) {
  Table states(rollouts, 2);
  for (Index i = 0; i < rollouts; ++i) {
    RandomStream random(3, "test starts", static_cast<std::uint64_t>(i));
    states(i, 0) = random.uniform(-1.5, 1.5);
    states(i, 1) = random.uniform(-0.75, 0.75);
  }
  return states;
}

struct Recorded {
  std::vector<Table> states;
  std::vector<Table> inputs;
  std::vector<std::vector<char>> solved;
  std::vector<std::vector<Index>> iterations;
};

Recorded record(const LoopModel& model, Index rollouts, const ClosedLoopOptions& options,
                const Plant& plant) {
  ClosedLoop loop(model, rollouts, 2, options);
  Recorded result;
  result.states.push_back(starts(rollouts));
  loop.run(starts(rollouts), plant, [&](const LoopTick& tick) {
    result.states.push_back(tick.next);
    result.inputs.push_back(tick.inputs);
    result.solved.push_back(tick.solved);
    result.iterations.push_back(tick.iterations);
  });
  return result;
}

ClosedLoopOptions loop_options(LoopStart start, Index limit, bool stop = false, Index ticks = 12) {
  ClosedLoopOptions options;
  options.start = start;
  options.limit = limit;
  options.stop = stop;
  options.ticks = ticks;
  options.osqp.check_termination = 5;
  return options;
}

/// The same by a loop over rollouts and ticks, each problem an operator of its own with one instance, set up
/// as the first one was.
Recorded one_by_one(const LoopModel& model, Index rollouts, const ClosedLoopOptions& options,
                    const LinearPlant& plant) {
  const Index n = model.problem.variables();
  const Index m = model.problem.constraints();
  const Table first = starts(rollouts);
  Recorded result;
  result.states.assign(static_cast<std::size_t>(options.ticks) + 1, Table::Zero(rollouts, 2));
  result.inputs.assign(static_cast<std::size_t>(options.ticks), Table::Zero(rollouts, 1));
  for (Index rollout = 0; rollout < rollouts; ++rollout) {
    Eigen::Vector2d state = first.row(rollout);
    result.states[0].row(rollout) = state;
    Table iterate = Table::Zero(1, n + 2 * m);
    for (Index tick = 0; tick < options.ticks; ++tick) {
      problems::Qp problem = model.problem;
      problem.l.leftCols(2) = state.transpose();
      problem.u.leftCols(2) = state.transpose();
      algorithms::OsqpOptions osqp = options.osqp;
      osqp.scale_each = false;
      osqp.max_iter = options.limit;
      osqp.stop = options.stop;
      if (!options.stop) osqp.check_termination = 0;
      const algorithms::Osqp op(problem, osqp);
      RunOptions run_options;
      run_options.steps = options.limit;
      const Start start = options.start == LoopStart::cold ? cold_start() : given_start(iterate);
      iterate = run_iterates(op, start, run_options);
      const double force = std::clamp(iterate(0, 2 * (horizon + 1)), -1.0, 1.0);
      result.inputs[static_cast<std::size_t>(tick)](rollout, 0) = force;
      RandomStream noise(
          plant.disturbance.seed, "closed loop disturbance",
          static_cast<std::uint64_t>(rollout) * 100'000'000U + static_cast<std::uint64_t>(tick));
      Eigen::Vector2d drawn;
      for (double& number : drawn) number = noise.normal();
      state = (plant.A * state + plant.B * force + 0.01 * drawn).eval();
      result.states[static_cast<std::size_t>(tick) + 1].row(rollout) = state;
      if (options.start == LoopStart::shifted) {
        const Table before = iterate;
        for (Index i = 0; i < n; ++i) iterate(0, i) = before(0, model.shift_x[static_cast<std::size_t>(i)]);
        for (Index i = 0; i < m; ++i)
          iterate(0, n + i) = before(0, n + model.shift_y[static_cast<std::size_t>(i)]);
        const problems::Vector x = iterate.row(0).head(n);
        iterate.row(0).tail(m) = (model.problem.A[0] * x).transpose();
      }
    }
  }
  return result;
}

double largest_difference(const std::vector<Table>& a, const std::vector<Table>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    largest = std::max(largest, (a[i] - b[i]).cwiseAbs().maxCoeff());
  return largest;
}

TEST(ClosedLoop, IsALoopOverTicksOfProblemsSolvedOneByOne) {
  constexpr Index rollouts = 19;
  for (const LoopStart start : {LoopStart::cold, LoopStart::kept, LoopStart::shifted}) {
    for (const bool stop : {false, true}) {
      const ClosedLoopOptions options = loop_options(start, stop ? 200 : 9, stop);
      const LinearPlant plant = cart_plant(options.ticks);
      const Recorded batch = record(cart_model(), rollouts, options, linear_plant(plant, rollouts));
      const Recorded slow = one_by_one(cart_model(), rollouts, options, plant);
      EXPECT_LT(largest_difference(batch.inputs, slow.inputs), 1e-9) << name(start) << stop;
      EXPECT_LT(largest_difference(batch.states, slow.states), 1e-9) << name(start) << stop;
    }
  }
}

TEST(ClosedLoop, StartsMatter) {
  const Plant plant = linear_plant(cart_plant(12), 19);
  const Recorded cold = record(cart_model(), 19, loop_options(LoopStart::cold, 5), plant);
  const Recorded kept = record(cart_model(), 19, loop_options(LoopStart::kept, 5), plant);
  const Recorded shifted = record(cart_model(), 19, loop_options(LoopStart::shifted, 5), plant);
  EXPECT_GT(largest_difference(cold.inputs, kept.inputs), 1e-3);
  EXPECT_GT(largest_difference(kept.inputs, shifted.inputs), 1e-3);
  EXPECT_EQ(cold.inputs[0], kept.inputs[0]) << "there is nothing to keep at the first tick";
}

TEST(ClosedLoop, IsTheSameForAnyNumberOfThreadsAndRollouts) {
  const ClosedLoopOptions options = loop_options(LoopStart::shifted, 60, true);
  set_threads(1);
  const Recorded one = record(cart_model(), 150, options, linear_plant(cart_plant(12), 150));
  set_threads(3);
  const Recorded three = record(cart_model(), 150, options, linear_plant(cart_plant(12), 150));
  const Recorded fewer = record(cart_model(), 37, options, linear_plant(cart_plant(12), 37));
  set_threads(0);
  for (std::size_t t = 0; t < one.states.size(); ++t) {
    EXPECT_EQ(one.states[t], three.states[t]);
    EXPECT_EQ(Table(one.states[t].topRows(37)), fewer.states[t]);
  }
  EXPECT_EQ(one.iterations, three.iterations);
}

TEST(ClosedLoop, TellsWhichTicksPassedTheStoppingTestWithinTheLimit) {
  const Plant plant = linear_plant(cart_plant(12), 40);
  const Recorded few = record(cart_model(), 40, loop_options(LoopStart::cold, 2), plant);
  const Recorded many = record(cart_model(), 40, loop_options(LoopStart::cold, 500, true), plant);
  for (std::size_t tick = 0; tick < few.solved.size(); ++tick) {
    EXPECT_EQ(std::ranges::count(many.solved[tick], 1), 40);
    EXPECT_LT(std::ranges::max(many.iterations[tick]), 500);
    EXPECT_EQ(std::ranges::max(few.iterations[tick]), 2);
  }
  EXPECT_LT(std::ranges::count(few.solved[0], 1), 20);
}

TEST(ClosedLoop, TakesAnyPlantAndVectorsOfAFunction) {
  const LinearPlant linear = cart_plant(12);
  const ClosedLoopOptions options = loop_options(LoopStart::kept, 8);
  const Recorded usual = record(cart_model(), 21, options, linear_plant(linear, 21));
  Plant own;
  own.move = [&](Index, const Table& states, const Table& inputs, Table& next) {
    next = states * linear.A.transpose() + inputs * linear.B.transpose();
  };
  LoopModel model = cart_model();
  model.l_state.resize(0, 0);
  model.u_state.resize(0, 0);
  model.vectors = [](Index, const Table& states, Table&, Table& l, Table& u) {
    l.leftCols(2) = states;
    u.leftCols(2) = states;
  };
  const Recorded other = record(model, 21, options, disturbed(own, linear.disturbance, 12));
  EXPECT_LT(largest_difference(usual.states, other.states), 1e-12);
}

TEST(ClosedLoop, ADivergingRolloutHasFailedFromThereOn) {
  LinearPlant plant = cart_plant(12, 0);
  plant.A(0, 0) = 1e200;
  LoopModel model = cart_model();
  std::vector<std::vector<char>> lost;
  std::vector<std::vector<char>> solved;
  ClosedLoop loop(model, 9, 2, loop_options(LoopStart::kept, 5));
  loop.run(starts(9), linear_plant(plant, 9), [&](const LoopTick& tick) {
    lost.push_back(tick.lost);
    solved.push_back(tick.solved);
    EXPECT_TRUE(tick.next.allFinite());
  });
  EXPECT_EQ(std::ranges::count(lost.front(), 1), 0);
  EXPECT_EQ(std::ranges::count(lost.back(), 1), 9);
  EXPECT_EQ(std::ranges::count(solved.back(), 1), 0);
}

TEST(ClosedLoop, RefusesAPlantThatGivesNoNumbersOrAnotherShape) {
  ClosedLoop loop(cart_model(), 9, 2, loop_options(LoopStart::kept, 5));
  Plant plant;
  plant.move = [](Index tick, const Table& states, const Table&, Table& next) {
    next = states;
    if (tick == 3) next(7, 1) = std::numeric_limits<double>::quiet_NaN();
  };
  const auto ignore = [](const LoopTick&) {};
  EXPECT_TRUE(test_support::refuses([&] { loop.run(starts(9), plant, ignore); },
                                    "plant: state 1 of rollout 7 is nan after tick 3, must be finite"));
  plant.move = [](Index, const Table& states, const Table&, Table& next) { next = states.topRows(8); };
  EXPECT_TRUE(test_support::refuses([&] { loop.run(starts(9), plant, ignore); },
                                    "plant: gave 8 x 2 at tick 0, must be 9 x 2 (rollouts x states)"));
  Table bad = starts(9);
  bad(4, 0) = infinity;
  EXPECT_TRUE(test_support::refuses([&] { loop.run(bad, plant, ignore); }, "initial"));
  EXPECT_TRUE(test_support::refuses([&] { loop.run(starts(8), plant, ignore); }, "initial: is 8 x 2"));
}

TEST(ClosedLoop, RefusesVectorsThatAreNoProblem) {
  LoopModel model = cart_model();
  model.l_state.resize(0, 0);
  model.u_state.resize(0, 0);
  Plant plant;
  plant.move = [](Index, const Table& states, const Table&, Table& next) { next = states; };
  const auto run_with = [&](double value, bool of_q) {
    model.vectors = [value, of_q](Index tick, const Table&, Table& q, Table& l, Table&) {
      if (tick == 2) (of_q ? q : l)(5, 3) = value;
    };
    ClosedLoop(model, 9, 2, loop_options(LoopStart::kept, 5)).run(starts(9), plant, [](const LoopTick&) {});
  };
  EXPECT_TRUE(
      test_support::refuses([&] { run_with(std::nan(""), true); },
                            "tick 2, where an instance is a rollout: q: entry 3 of instance 5 is nan"));
  EXPECT_TRUE(
      test_support::refuses([&] { run_with(std::nan(""), false); }, "l, u: entries 3 of instance 5 are nan"));
  EXPECT_TRUE(test_support::refuses([&] { run_with(7, false); }, "which no number is between"));
  EXPECT_TRUE(test_support::refuses([&] { run_with(-7, false); },
                                    "an equality in some instances and none in others"));
}

TEST(ClosedLoop, RefusesModelsThatDoNotFit) {
  const auto refused = [](const auto& change, const char* message, LoopStart start = LoopStart::kept) {
    LoopModel model = cart_model();
    change(model);
    EXPECT_TRUE(test_support::refuses([&] { ClosedLoop(model, 9, 2, loop_options(start, 5)); }, message));
  };
  refused(
      [](LoopModel& m) {
        m.l_state.resize(3, 2);
        m.l_state.insert(0, 0) = 1;
      },
      "l_state");
  refused(
      [](LoopModel& m) {
        m.l_state.resize(0, 0);
        m.u_state.resize(0, 0);
      },
      "the state enters none");
  refused([](LoopModel& m) { m.input.resize(0, 0); }, "input: is 0 x 0");
  refused([](LoopModel& m) { m.input_lower(0, 0) = 2; }, "input_lower: entry 0 is 2");
  refused([](LoopModel& m) { m.problem.q = Table::Zero(2, m.problem.q.cols()); }, "q: is 2 x");
  refused([](LoopModel& m) { m.shift_x.pop_back(); }, "shift_x", LoopStart::shifted);
  refused([](LoopModel& m) { m.shift_y[0] = 99; }, "shift_y: entry 0 is 99", LoopStart::shifted);
  ClosedLoopOptions options = loop_options(LoopStart::kept, 0);
  EXPECT_TRUE(test_support::refuses([&] { ClosedLoop(cart_model(), 9, 2, options); }, "limit: is 0"));
  options = loop_options(LoopStart::kept, 5);
  options.osqp.adaptive_rho = true;
  EXPECT_TRUE(test_support::refuses([&] { ClosedLoop(cart_model(), 9, 2, options); }, "adaptive_rho"));
  LinearPlant plant = cart_plant(12);
  plant.disturbance = {Disturbance::Kind::rows, Table::Zero(100, 2), 0};
  EXPECT_TRUE(test_support::refuses([&] { (void)linear_plant(plant, 9); },
                                    "disturbances: has 100 rows, 9 rollouts of 12 ticks need 108"));
  plant.disturbance = {Disturbance::Kind::bounded, Table::Constant(1, 2, -1), 0};
  EXPECT_TRUE(test_support::refuses([&] { (void)linear_plant(plant, 9); }, "disturbance: entry 0 is -1"));
}

}  // namespace
}  // namespace surefoot::runs
