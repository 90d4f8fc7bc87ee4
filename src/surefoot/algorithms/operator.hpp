#pragma once

#include "surefoot/algorithms/settings.hpp"
#include "surefoot/algorithms/stopping.hpp"
#include "surefoot/core/types.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace surefoot::algorithms {

/// rows x width numbers, row-major: the `width` instances of one entry lie side by side, so that work on an
/// entry is work on vector lanes. Column j is instance first + j of the loaded block.
struct ConstBatch {
  const double* data = nullptr;
  Index rows = 0;
  Index width = 0;
  [[nodiscard]] const double* row(Index i) const { return data + i * width; }
};
struct Batch {
  double* data = nullptr;
  Index rows = 0;
  Index width = 0;
  [[nodiscard]] double* row(Index i) const { return data + i * width; }
  // NOLINTNEXTLINE(google-explicit-constructor): reading is always allowed
  operator ConstBatch() const { return {data, rows, width}; }
};

/// What a block of instances needs besides its state: its data and room to compute. One per thread.
class Workspace {
 public:
  Workspace() = default;
  virtual ~Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

/// Numbers about an iterate that depend on the problem, in the problem's own units (never scaled ones).
enum class Quantity {
  objective,
  primal_residual,       ///< ||Ax - w||_2 (QP), ||Ax + s - b||_2 (cone program)
  dual_residual,         ///< ||Px + A'y + q||_2; gradient norm where there is no constraint
  constraint_violation,  ///< largest violation of a constraint by x alone
  optimality_residual,   ///< the larger of primal and dual residual
  largest_error,         ///< largest |error| over the points of a regression
  // What the solver's package reports, by its names: norms are the largest entry.
  prim_res,         ///< ||Ax - w||_inf
  dual_res,         ///< ||Px + A'y + q||_inf
  duality_gap,      ///< |x'Px + q'x + S(y)|, S the support function of the bounds
  prim_res_rel,     ///< prim_res over its tolerance in the stopping test, eps_abs + eps_rel * sizes: below 1
  dual_res_rel,     ///< the same of dual_res
  duality_gap_rel,  ///< the same of duality_gap
  unsolved,         ///< 1 until the stopping test said "solved", then 0
};
std::string_view to_string(Quantity quantity);

class DifferentiableStep;

/// What is known of a step as a map, so that worst cases (worst_case/catalogue.hpp) may be stated of its
/// residual. With s the coordinates of an iterate, a step takes s to T s: the same T at every step,
/// averaged in the Euclidean norm of these coordinates. The residual that step() reports is at most
/// |T s - s|. `expect_averaged_as_declared` of the contract kit tries it on random pairs of points.
class AveragedMap {
 public:
  AveragedMap() = default;
  virtual ~AveragedMap() = default;
  AveragedMap(const AveragedMap&) = delete;
  AveragedMap& operator=(const AveragedMap&) = delete;

  /// alpha in (0, 1): T = (1 - alpha) I + alpha N with N nonexpansive.
  [[nodiscard]] virtual double averagedness() const = 0;
  /// Variables and norm in words, for sentences: "the Euclidean norm of (x, w + y)".
  [[nodiscard]] virtual std::string variables() const = 0;
  /// Numbers of the coordinates.
  [[nodiscard]] virtual Index size() const = 0;
  virtual void coordinates(Index instance, const double* iterate, double* s) const = 0;
  /// Whether the coordinates of this iterate determine the run from it; so it is after every step.
  [[nodiscard]] virtual bool fits(Index instance, const double* iterate) const;
};

/// The map of an operator, which must outlive it, or why there is none.
struct DeclaredMap {
  std::shared_ptr<const AveragedMap> map;
  std::string why_not = {};
};

/// The contract of an optimizer on a batch: z^{k+1} = T_k(z^k, x) for the instances x of a family.
///
/// Life of a block, in one thread: workspace = make_workspace(); load(first, count, workspace); start(z) or
/// write(given); step(0), step(1), ...; in between read() and measure(), and reload() where lanes have ended
/// before others. Then the next block.
///
/// - Virtual calls happen at batch granularity. A batch has width() columns, whatever the number of
///   instances left: unused lanes repeat the last instance or are zero; nobody reads them.
/// - step() allocates nothing. Lanes never mix: a column's numbers are the same bits whatever its neighbours.
/// - The operator is constant: everything that a block changes is in its state or workspace.
/// - A diverging instance turns into infinities or NaN; step() never throws.
///
/// The state is the operator's own (scaled, lifted); the iterate is what a user reads: iterate_size()
/// numbers.
class Operator {
 public:
  Operator() = default;
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// Short name, as in configuration and reports.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// All that its steps depend on besides the problem, for the record: {"solver", NAME}, then {"settings",
  /// {...}} and what else it has. A new option of an operator belongs there.
  [[nodiscard]] virtual Settings settings() const;
  /// What is drawn at random for every run: empty if nothing is.
  [[nodiscard]] virtual std::string_view sampling() const { return ""; }
  /// Number of instances of the family.
  [[nodiscard]] virtual Index instances() const = 0;
  /// Rows of the state.
  [[nodiscard]] virtual Index state_size() const = 0;
  /// Numbers of an iterate; the primal variables come first.
  [[nodiscard]] virtual Index iterate_size() const { return state_size(); }
  [[nodiscard]] virtual Index primal_size() const = 0;
  /// Columns of a batch: a multiple of 4 that suits the kernels, or 1 where lanes are inside an instance.
  [[nodiscard]] virtual Index width() const { return 8; }

  [[nodiscard]] virtual std::unique_ptr<Workspace> make_workspace() const = 0;
  /// Takes instances first .. first+count-1, 1 <= count <= width(), into the lanes of the workspace.
  virtual void load(Index first, Index count, Workspace& workspace) const = 0;
  /// Whether lanes of a block that is under way can be given to other instances. Then the state says how many
  /// steps a lane has made, and step() does not look at its k.
  [[nodiscard]] virtual bool can_reload() const { return false; }
  /// Lane j takes instances[j] (width() numbers), or stays as it is where that is below 0; the state of a
  /// lane that takes another has to be started. Allocates nothing.
  virtual void reload(const Index* instances, Workspace& workspace) const;
  /// Lanes that must have ended before a reload pays, 1 .. width().
  [[nodiscard]] virtual Index reload_lanes() const { return 1; }
  /// While lanes run, others are loaded only after a multiple of this number of their steps.
  [[nodiscard]] virtual Index reload_interval() const { return 1; }

  /// The cold start z^0.
  virtual void start(Batch z, Workspace& workspace) const = 0;
  /// z^{k+1} from z^k, in place; k = 0, 1, ... If `residual` is not null, it receives the fixed-point
  /// residual of each lane: ||z^{k+1} - z^k||_2 of what the operator defines as its fixed-point vector.
  virtual void step(Index k, Batch z, Workspace& workspace, double* residual) const = 0;

  /// Entries first .. first+count-1 of the iterate, into `out` (count x width).
  virtual void read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const;
  /// Sets the state so that read() gives `iterate` (iterate_size() x width): a given start.
  virtual void write(ConstBatch iterate, Workspace& workspace, Batch z) const;

  /// Whether measure() knows the quantity.
  [[nodiscard]] virtual bool knows(Quantity quantity) const;
  /// Told once after load() if measure() will be called: step() then leaves behind what it needs.
  virtual void prepare_measures(Workspace& workspace) const;
  /// The quantity at the iterate after k steps, one number per lane. Throws InputError if unknown.
  virtual void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const;

  /// Whether the operator runs the stopping test of its package and keeps its result in the state.
  [[nodiscard]] virtual bool has_stopping_test() const { return false; }
  /// What the stopping test has said of a lane so far. Only with a stopping test.
  [[nodiscard]] virtual Ending ending(ConstBatch z, Index lane) const;
  /// Whether the operator obeys its stopping test and lanes 0 .. count - 1 have ended: more steps repeat
  /// their last points and residuals.
  [[nodiscard]] virtual bool finished(ConstBatch z, Index count) const;

  /// The class that the step is of, if one is known.
  [[nodiscard]] virtual DeclaredMap declared_map() const;

  /// The derivative of the step; null: not differentiable here.
  [[nodiscard]] virtual const DifferentiableStep* differentiable() const { return nullptr; }
};

/// Reverse mode of one step, for operators that are unrolled in training.
class DifferentiableStep {
 public:
  virtual ~DifferentiableStep() = default;
  /// z is the state before step k; `cotangent` comes in as the derivative of a scalar by z^{k+1} and goes
  /// out as its derivative by z^k.
  virtual void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const = 0;
  /// Adds d_value (one per lane) times the derivative of measure(quantity, k, z) by z to `cotangent`;
  /// training for an objective needs it. Throws InputError if unknown.
  virtual void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                           Workspace& workspace) const;

  /// Numbers that a start is learned in where the state holds more than a start can choose; 0: the rows of
  /// the state themselves.
  [[nodiscard]] virtual Index start_size() const { return 0; }
  /// z from these numbers (start_size() x width), in units of the state. Only if start_size() > 0.
  virtual void start_from(ConstBatch numbers, Batch z, Workspace& workspace) const;
  /// The derivative by these numbers from the one by z.
  virtual void start_from_vjp(ConstBatch numbers, ConstBatch cotangent, Batch derivative,
                              Workspace& workspace) const;

 protected:
  DifferentiableStep() = default;
  DifferentiableStep(const DifferentiableStep&) = default;
  DifferentiableStep& operator=(const DifferentiableStep&) = default;
};

/// measure(quantity, value) for quantities of its own and the larger of its primal and dual residual for the
/// optimality residual; NaN comes through.
template <int W, class Measure>
void measure_optimality(Quantity quantity, const Measure& measure, double* value) {
  if (quantity != Quantity::optimality_residual) {
    measure(quantity, value);
    return;
  }
  double primal[W];
  double dual[W];
  measure(Quantity::primal_residual, primal);
  measure(Quantity::dual_residual, dual);
  for (int lane = 0; lane < W; ++lane) {
    value[lane] = primal[lane] > dual[lane] ? primal[lane] : dual[lane];
    value[lane] += 0 * primal[lane];
  }
}

}  // namespace surefoot::algorithms
